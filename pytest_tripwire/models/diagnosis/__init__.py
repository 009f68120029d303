"""Tells what is wrong with how an agent uses its model: findings, one file each, of one shape."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_tripwire.models.counters import Noted
from pytest_tripwire.models.diagnosis.auxiliary_only import auxiliary_only
from pytest_tripwire.models.diagnosis.diagnosis import Diagnosis, Finding, Kind, once
from pytest_tripwire.models.diagnosis.forced_tool_choice import forced_tool_choice
from pytest_tripwire.models.diagnosis.hidden_retry import hidden_retry
from pytest_tripwire.models.diagnosis.missing_tool_call import missing_tool_call
from pytest_tripwire.models.diagnosis.missing_tool_result import missing_tool_result
from pytest_tripwire.models.diagnosis.missing_usage import missing_usage
from pytest_tripwire.models.diagnosis.redelivered import redelivered
from pytest_tripwire.models.diagnosis.refused_request import refused_request
from pytest_tripwire.models.diagnosis.tool_choice_none import tool_choice_none
from pytest_tripwire.models.diagnosis.tools_changed import tools_changed
from pytest_tripwire.models.diagnosis.tools_dropped import tools_dropped
from pytest_tripwire.models.diagnosis.withheld_tool import withheld_tool

#: Weightiest first.
ORDER: tuple[Finding, ...] = (
    auxiliary_only,
    tools_dropped,
    forced_tool_choice,
    tool_choice_none,
    missing_tool_result,
    missing_tool_call,
    withheld_tool,
    tools_changed,
    hidden_retry,
    missing_usage,
)


def diagnose(noted: Sequence[Noted]) -> tuple[Diagnosis, ...]:
    """What is wrong in the model requests of a run, weightiest first, each thing once: where it was
    seen first, and how often.
    """
    return once(each for finding in ORDER for each in finding(noted))


__all__ = [
    "ORDER",
    "Diagnosis",
    "Finding",
    "Kind",
    "diagnose",
    "redelivered",
    "refused_request",
]
