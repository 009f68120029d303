"""Writes that reach the business more often than the model proposed them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pytest_tripwire.models.diagnosis.diagnosis import Diagnosis, Kind, once
from pytest_tripwire.timeline import Dispatch, Effect, ModelRequest, WorldEvent

_TIMES = {1: "once", 2: "twice"}


def redelivered(events: Iterable[WorldEvent]) -> tuple[Diagnosis, ...]:
    """What the world saw too often, from its events alone: each tool once, with the first request
    of which it was sent again, and how many there were.

    Each write belongs to the latest request that proposed its tool and still has a call of it to
    come. One for which there is none was sent again by something below the model, if the latest
    request of some conversation proposed that tool, and a write of the same tool on the same
    resource belongs to it. What the agent calls on its own account is neither; and a read may be
    made as often as anybody likes.
    """
    asked: list[_Proposals] = []
    latest: dict[str, _Proposals] = {}
    for event in events:
        if isinstance(event, ModelRequest):
            latest[event.conversation] = _Proposals(event)
            asked.append(latest[event.conversation])
        elif isinstance(event, Dispatch) and event.effect is Effect.WRITE:
            owner = _owner(event, asked) or _repeated(event, latest.values())
            if owner is not None:
                owner.sent.append(event)
    return once(each for proposals in asked for each in proposals.redelivered())


class _Proposals:
    """What one request proposed, and the dispatches that came of it."""

    def __init__(self, event: ModelRequest) -> None:
        self.seq = event.seq
        self.proposed = Counter(event.proposes)
        self.sent: list[Dispatch] = []

    def of(self, tool: str) -> list[Dispatch]:
        return [each for each in self.sent if each.tool == tool]

    def redelivered(self) -> Iterable[Diagnosis]:
        for tool, proposed in self.proposed.items():
            sent = self.of(tool)
            if len(sent) > proposed:
                yield _told(tool, proposed, self.seq, [each.seq for each in sent])


def _owner(event: Dispatch, asked: list[_Proposals]) -> _Proposals | None:
    still = (
        each for each in reversed(asked) if each.proposed[event.tool] > len(each.of(event.tool))
    )
    return next(still, None)


def _repeated(event: Dispatch, latest: Iterable[_Proposals]) -> _Proposals | None:
    same = (
        each
        for each in latest
        if any(sent.resource == event.resource for sent in each.of(event.tool))
    )
    return max(same, key=lambda each: each.seq, default=None)


def _told(tool: str, proposed: int, seq: int, sent: list[int]) -> Diagnosis:
    times = _TIMES.get(proposed, f"{proposed} times")
    return Diagnosis(
        kind=Kind.REDELIVERED,
        seq=sent[proposed],
        subject=tool,
        message=(
            f"{tool} was proposed {times} at {seq} and reached the business {len(sent)} times "
            f"({', '.join(map(str, sent))}): something below the model sent it again"
        ),
        remedy="retry a write in one place only, and only where it provably did nothing",
    )
