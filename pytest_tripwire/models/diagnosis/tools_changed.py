"""A list of tools that changes while a conversation goes on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_tripwire.models.answer import Answer
from pytest_tripwire.models.counters import Noted
from pytest_tripwire.models.diagnosis.diagnosis import Diagnosis, Kind
from pytest_tripwire.models.diagnosis.reading import listed
from pytest_tripwire.models.script import Calls
from pytest_tripwire.world.desk.handoffs import HANDOFF


def tools_changed(noted: Sequence[Noted]) -> Iterator[Diagnosis]:
    """Found where a request goes on with a conversation that began with other tools. Another agent
    begins a conversation of its own, or takes over by a hand-off, that of a router too; all of that
    is in order.
    """
    known: set[str] = set()
    latest: dict[str, tuple[Noted, Answer]] = {}
    for each in noted:
        here, answer = each.conversation, each.answer
        if answer is None or answer.auxiliary:
            if answer is not None and answer.road:
                latest.pop(here.thread, None)
            continue
        before = latest.get(here.thread)
        if before and here.turn and here.key not in known and not _hands_over(before[1]):
            changed = _change(before[0], each)
            if changed is not None:
                yield changed
        known.add(here.key)
        latest[here.thread] = (each, answer)


def _hands_over(answer: Answer) -> bool:
    proposals = answer.move.proposals if isinstance(answer.move, Calls) else ()
    return any(each.role == HANDOFF.role for each in proposals)


def _change(before: Noted, after: Noted) -> Diagnosis | None:
    old, new = before.conversation.offered, after.conversation.offered
    gone = f"{listed(sorted(old - new))} may be called no more" if old - new else ""
    come = f"{listed(sorted(new - old))} may be called now" if new - old else ""
    words = " and ".join(filter(None, (gone, come)))
    if not words:
        return None
    return Diagnosis(
        kind=Kind.TOOLS_CHANGED,
        request=after.number,
        message=f"the tools change at turn {after.conversation.turn} of a conversation: {words}",
        remedy=(
            "offer the same tools in every request of a conversation, or take care that those "
            "which play a part stay"
        ),
    )
