"""A result without its call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_tripwire.models.counters import Noted
from pytest_tripwire.models.diagnosis.diagnosis import Diagnosis, Kind
from pytest_tripwire.models.diagnosis.missing_tool_result import first_of_each, name
from pytest_tripwire.models.diagnosis.reading import called


def missing_tool_call(noted: Sequence[Noted]) -> Iterator[Diagnosis]:
    """Found where a history was cut between a call and its result. Providers refuse that. A call
    that is left out together with its result is in order.
    """
    tools = called(noted)
    for each, call_id in first_of_each(noted, lambda conversation: conversation.unasked):
        yield Diagnosis(
            kind=Kind.MISSING_TOOL_CALL,
            request=each.number,
            subject=tools.get(call_id, ""),
            message=f"the result of the {name(call_id, tools)} is shown without that call",
            remedy=(
                "shorten a history by whole pairs of call and result; a provider answers such a "
                "request with an error (400)"
            ),
        )
