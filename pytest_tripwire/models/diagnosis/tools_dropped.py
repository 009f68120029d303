"""The tools are offered once, and never again when a result is shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_tripwire.models.counters import Noted
from pytest_tripwire.models.diagnosis.diagnosis import Diagnosis, Kind
from pytest_tripwire.models.diagnosis.reading import of_script


def tools_dropped(noted: Sequence[Noted]) -> Iterator[Diagnosis]:
    """Found in a conversation whose tools are gone from the first result on. One that loses them
    later is in order: so agents ask for a last summary. So is one that another agent goes on with.
    """
    began = {each.conversation.thread: each for each, _ in of_script(noted)}
    went_on = {e.conversation.thread for e, _ in of_script(noted) if e.conversation.results}
    for each in noted:
        thread = each.conversation.thread
        if each.answer is None or not each.answer.auxiliary or not each.conversation.results:
            continue
        if each.answer.road:
            continue
        if thread in began and thread not in went_on:
            yield Diagnosis(
                kind=Kind.TOOLS_DROPPED,
                request=each.number,
                message=(
                    f"turn {each.conversation.turn} shows a tool's result and no longer offers "
                    f"the tools of request {began[thread].number}, so the model can only talk"
                ),
                remedy="offer the tools in every request of a conversation",
            )
