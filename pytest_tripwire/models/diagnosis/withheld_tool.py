"""The script's next step is none that the request allows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_tripwire.models.counters import Noted
from pytest_tripwire.models.diagnosis.diagnosis import Diagnosis, Kind
from pytest_tripwire.models.diagnosis.reading import of_script
from pytest_tripwire.models.diagnosis.tool_choice_none import closed


def withheld_tool(noted: Sequence[Noted]) -> Iterator[Diagnosis]:
    """Found where the model could not propose what the case wants of it."""
    told = {each.number for each, _, _ in closed(noted)}
    for each, answer in of_script(noted):
        if answer.withheld and each.number not in told:
            message, _, remedy = answer.withheld.partition(". ")
            yield Diagnosis(
                kind=Kind.WITHHELD_TOOL,
                request=each.number,
                subject=", ".join(answer.wanted),
                message=message,
                remedy=remedy,
            )
