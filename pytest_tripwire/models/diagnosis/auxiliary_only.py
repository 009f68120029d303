"""No request offers a tool that the script could propose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_tripwire.models.counters import Noted
from pytest_tripwire.models.diagnosis.diagnosis import Diagnosis, Kind
from pytest_tripwire.models.diagnosis.reading import listed


def auxiliary_only(noted: Sequence[Noted]) -> Iterator[Diagnosis]:
    """Found when every request that was answered was none of the script's. A router or a
    summariser beside the agent's own requests is in order, however often it is asked.
    """
    answers = [(each, each.answer) for each in noted if each.answer is not None]
    if not answers or not all(answer.auxiliary for _, answer in answers):
        return
    tools = dict.fromkeys(name for each, _ in answers for name in each.conversation.tools)
    yield Diagnosis(
        kind=Kind.AUXILIARY_ONLY,
        request=answers[0][0].number,
        message=(
            "no model request offers a tool that plays a part in the case; they offer "
            f"{listed(tools) or 'no tools'}"
        ),
        remedy="offer the model task.tools, or say which of the agent's tools play a part",
    )
