"""What has to be true of writes, approvals and interruptions, said as plainly as possible.

Written from the design page. It knows what every process has been told and nothing of how the
breaker keeps it; whatever the two say differently is a mistake in one of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

LATE_S, LEASE_S = 30.0, 300.0
UNKNOWN, DUPLICATE, STALE = "unknown_side_effect", "duplicate_write", "stale_resume"
ASKED, WAITS = "ask a person", "repeated_denial"


@dataclass(eq=False)
class Write:
    """One write as the store should know it. `back`: its call has ended."""

    thing: tuple[str, str, str]
    amount: int
    run: str
    epoch: tuple[str, int]
    owner: str
    sent: float
    key: str = ""
    status: str = "in flight"
    id: str | None = None
    back: bool = False
    read: bool = False

    def lapsed(self, now: float) -> bool:
        return not self.back and self.sent + LEASE_S <= now

    def last_sent(self, now: float) -> float:
        return self.sent + LEASE_S if self.lapsed(now) else self.sent


@dataclass(eq=False)
class Yes:
    """A call that waits for a yes, or has got it."""

    call_id: str
    thing: tuple[str, str, str]
    amount: int
    version: str = ""
    granted: bool = False
    left: int = 1
    expires: float = float("inf")
    policy: str = ""
    stale: bool = False


@dataclass(eq=False)
class Piece:
    """One process with its part of a run."""

    run: str
    tenant: str
    work: str
    owner: str
    policy: str
    token: int = 1
    said: int = 0
    mode: str = "open"
    any_read: bool = False
    held: set[tuple[str, str, str]] = field(default_factory=set)
    watched: set[tuple[str, str, str]] = field(default_factory=set)
    learned: set[Write] = field(default_factory=set)
    versions: dict[str, str] = field(default_factory=dict)
    looked: set[str] = field(default_factory=set)
    stale: set[str] = field(default_factory=set)
    knows: set[str] = field(default_factory=set)

    @property
    def epoch(self) -> tuple[str, int]:
        return self.work, self.said


class Reference:
    """All that should be known."""

    def __init__(self) -> None:
        self.writes: list[Write] = []
        self.yeses: dict[str, list[Yes]] = {}
        self.now = 0.0

    # -- certainty

    def status(self, write: Write, owner: str) -> str:
        lost = write.status == "in flight" and write.lapsed(self.now) and write.owner != owner
        return "unknown" if lost else write.status

    def of(self, thing: tuple[str, str, str]) -> list[Write]:
        return [each for each in self.writes if each.thing == thing]

    def in_the_way(
        self, piece: Piece, thing: tuple[str, str, str], amount: int
    ) -> tuple[str, Write] | None:
        """An unknown write holds its thing; one that is under way or done is not done again, unless
        the user has spoken, it is another piece of work, or something else was done to it since.
        """
        known = self.of(thing)
        for write in known:
            if self.status(write, piece.owner) == "unknown":
                return UNKNOWN, write
        for write in known:
            if write.status == "in flight" and write.amount == amount:
                return DUPLICATE, write
        something_else = False
        for write in reversed([each for each in known if each.status == "confirmed"]):
            mine = write.run == piece.run
            if write.amount != amount:
                something_else = something_else or mine or write.epoch != piece.epoch
                continue
            same_work = write.epoch == piece.epoch if mine else write.epoch[0] == piece.work
            if (same_work or write in piece.learned) and not (mine and something_else):
                return DUPLICATE, write
        return None

    def believe(self, piece: Piece, write: Write, shown: str | None) -> None:
        """What a read that is made now proves: an id that is nobody else's that it was done;
        nothing, late enough, that it was not, if nobody may still be at it.
        """
        over = write.back or write.lapsed(self.now)
        late = self.now - write.last_sent(self.now) >= LATE_S
        others = [each.id for each in self.of(write.thing) if each is not write]
        others += [each.id for each in self.writes if each.run == piece.run and each is not write]
        if shown is not None and shown not in others:
            write.status, write.id = "confirmed", shown
            piece.learned.add(write)
        elif shown is None and late and (write.back if write.owner == piece.owner else over):
            write.status = "rejected"
        elif write.status == "in flight":
            write.status = "unknown"
        write.read = write.read or over
        self.release(piece, write.thing)

    def release(self, piece: Piece, thing: tuple[str, str, str]) -> None:
        """What is settled holds nothing; a run that only that held goes on."""
        if any(self.status(each, piece.owner) == "unknown" for each in self.of(thing)):
            return
        piece.held.discard(thing)
        piece.watched.discard(thing)
        if piece.mode == "read_only" and not piece.any_read and not piece.held:
            piece.mode = "open"

    # -- approvals

    def standing(
        self, piece: Piece, thing: tuple[str, str, str], amount: int
    ) -> tuple[str, Yes | None]:
        """How a call stands with what was put up in its run."""
        notes = self.yeses.setdefault(piece.run, [])
        piece.knows |= {each.call_id for each in notes}
        self.compare(piece)
        for each in reversed([n for n in notes if (n.thing, n.amount) == (thing, amount)]):
            other_policy = each.policy and piece.policy and each.policy != piece.policy
            if not each.granted:
                return WAITS, each
            if each.left <= 0:
                continue
            if each.stale or other_policy or each.expires <= self.now:
                return ASKED, each
            return "", each
        return ASKED, None

    def compare(self, piece: Piece) -> None:
        """A yes to a version that is no longer the one that the run has read is none."""
        for each in self.yeses.get(piece.run, []):
            now = piece.versions.get(each.thing[2])
            if each.call_id in piece.knows and now and each.version not in {"", now}:
                each.stale = True

    def outdated(self, piece: Piece, order: str) -> None:
        for each in self.yeses.get(piece.run, []):
            each.stale = each.stale or each.thing[2] == order
