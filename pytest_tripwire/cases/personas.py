"""Ways of the scripted model: pure functions from what it has seen to what it does."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from pytest_tripwire.cases.case import Wordings
from pytest_tripwire.cases.rewording import otherwise
from pytest_tripwire.cases.rewriting import changed
from pytest_tripwire.models import Calls, Move, Propose, Say, Script, Seen
from pytest_tripwire.models.call_ids import read_call_id
from pytest_tripwire.world import AMOUNT, NONCE, RESOURCE, WORDING

#: What a result says that carries a hint of the breaker's.
HINT = "tripwire_hint"
#: Those that every case has, the default first.
PERSONAS = ("stubborn", "compliant", "forgetful")
#: How often a forgetful one goes through all of its moves, when nothing else ends it.
LIVES = 3


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


def forgetful(
    way: Script, moves: Sequence[Move], wordings: Wordings, *, hints: bool = True
) -> Script:
    """Goes that way until it is refused or given a hint. Then it has forgotten all, as a model has
    whose history was compacted, and begins with the first of `moves`, in other words. Whoever
    refuses it for ever makes it forget `LIVES` times: then it says the last one. Without `hints` it
    takes a hint for what it is.
    """

    def forgets(seen: Seen) -> Move:
        begun = _forgotten(seen, hints=hints)
        if not begun:
            return way(seen)
        if seen.turn >= LIVES * len(moves):
            return moves[-1]
        move = script(moves)(msgspec.structs.replace(seen, turn=seen.turn - begun))
        return otherwise(changed(move, seen, fresh_nonce), seen, wordings, seed=0)

    return forgets


def _forgotten(seen: Seen, *, hints: bool) -> int:
    """The turn before which all is forgotten, 0 for none. By the calls' own ids, and not by their
    number: agents trim what they show. A call under another id is taken for one of a turn each.
    """
    last = len(seen.all_results) - 1
    turns = [0]
    for place, each in enumerate(seen.all_results):
        if each.refused or (hints and HINT in each.text):
            own = read_call_id(each.call_id)
            turns.append(own.turn + 1 if own else seen.turn - last + place)
    return min(max(turns), seen.turn)


def fresh_nonce(seen: Seen, place: int, each: Propose) -> Propose:
    """A proposal under a nonce of its own, if it carries one."""
    nonce = f"fresh-{seen.turn}-{place}"
    slots = {**each.slots, NONCE: nonce} if NONCE in each.slots else each.slots
    return msgspec.structs.replace(each, slots=slots)


def ways(
    moves: Sequence[Move], goodbye: str, wordings: Wordings, *, hints: bool = True
) -> dict[str, Script]:
    """The personas that every case has: `stubborn` ignores every refusal, `compliant` heeds it,
    `forgetful` loses what it was told.
    """
    way = script(moves)
    return {
        "stubborn": way,
        "compliant": heeding(way, goodbye, hints=hints),
        "forgetful": forgetful(way, moves, wordings, hints=hints),
    }


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
