"""Ways of the scripted model: pure functions from what it has seen to what it does."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_tripwire.models import Calls, Move, Propose, Say, Script, Seen
from pytest_tripwire.world import AMOUNT, NONCE, RESOURCE, WORDING

#: What a result says that carries a hint of the breaker's.
HINT = "tripwire_hint"
#: The two that every case has, the default first.
PERSONAS = ("stubborn", "compliant")


def script(moves: Sequence[Move]) -> Script:
    """Makes these moves, one a turn, whatever it is told, and repeats the last one."""

    def way(seen: Seen) -> Move:
        return moves[min(seen.turn, len(moves) - 1)]

    return way


def heeding(way: Script, goodbye: str, *, hints: bool = True) -> Script:
    """Goes the same way until it is refused or given a hint; then it finishes properly. Without
    `hints` it takes a hint for what it is, leave for one more try.
    """

    def heeds(seen: Seen) -> Move:
        if any(each.refused or (hints and HINT in each.text) for each in seen.results):
            return Say(text=goodbye)
        return way(seen)

    return heeds


def both(moves: Sequence[Move], goodbye: str, *, hints: bool = True) -> dict[str, Script]:
    """The two personas that every case has: `stubborn` ignores every refusal, `compliant` heeds."""
    way = script(moves)
    return {"stubborn": way, "compliant": heeding(way, goodbye, hints=hints)}


def call(role: str, says: str = "", **slots: object) -> Calls:
    """A turn that wants one tool; slots by name."""
    return Calls(proposals=(Propose(role=role, slots=slots),), says=says)


def refund(
    order: str, words: str, nonce: int, *, role: str = "write", amount: float = 40.0
) -> Calls:
    """A turn that wants to pay an order back, in these words and under this nonce."""
    slots: dict[str, object] = {
        RESOURCE: order,
        AMOUNT: amount,
        WORDING: words,
        NONCE: f"req-{nonce:04d}",
    }
    return Calls(proposals=(Propose(role=role, slots=slots),), says=words)


def search(topic: str, words: str, **more: object) -> Calls:
    """A turn that searches a topic in these words."""
    slots: dict[str, object] = {RESOURCE: topic, WORDING: words, **more}
    return Calls(proposals=(Propose(role="search", slots=slots),), says=words)
