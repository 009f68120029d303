"""What a recorded outcome is taken for. A trace has texts where a running tool has exceptions."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from pytest_tripwire.breaker.failures import is_doubtful, names, proves_nothing_happened, same_error
from pytest_tripwire.breaker.words import is_reference
from pytest_tripwire.guard.calling import returned
from pytest_tripwire.replay.trace import Recorded, TraceStep
from pytest_tripwire.timeline import Effect, Outcome, Status, ToolSpec

_PENDING = re.compile(
    r"\bapproval (is |was )?(still )?(pending|required|needed|requested)"
    r"|\b(pending|awaiting|waiting for|needs?|requires?) (an? |human |manual |your )?approval"
)
#: Words of a denial's text that make its class.
_WORDS = 12


def is_pending(step: TraceStep) -> bool:
    """Whether a call was neither run nor denied but put up for a person's yes."""
    text = _text(step.outcome.error).casefold()
    return step.outcome.status == "denied" and _PENDING.search(text) is not None


def outcome_of(step: TraceStep, spec: ToolSpec) -> Outcome:
    """What a breaker would have been told."""
    recorded = step.outcome
    version = "" if recorded.resource_version is None else str(recorded.resource_version)
    if recorded.status == "ok":
        outcome = returned(recorded.result, spec)
        return msgspec.structs.replace(outcome, version=version, cost_usd=step.cost_usd)
    status, error = _failure(recorded, spec, pending=is_pending(step))
    return Outcome(
        status=status,
        error=error,
        rule=_rule(recorded, spec) if status is Status.DENIED else None,
        cost_usd=step.cost_usd,
    )


def _failure(recorded: Recorded, spec: ToolSpec, *, pending: bool) -> tuple[Status, str]:
    text = _text(recorded.error)
    for pattern in spec.result_volatile_patterns:
        text = re.sub(pattern, "", text)
    error = same_error(text)
    if recorded.status == "denied":
        return (Status.DEFINITE if pending else Status.DENIED), error
    if _declared(text, spec.definite_failures):
        return Status.DEFINITE, error
    if spec.effect is Effect.WRITE:
        proof = recorded.status == "error" and not spec.composite and proves_nothing_happened(text)
        return (Status.DEFINITE if proof else Status.UNKNOWN), error
    down = recorded.status == "timeout" or is_doubtful(text)
    down = down or _declared(text, spec.transient_errors)
    return (Status.TRANSIENT if down else Status.DEFINITE), error


def _declared(text: str, failures: tuple[Any, ...]) -> bool:
    return any(isinstance(each, str) and names(text, each) for each in failures)


def _rule(recorded: Recorded, spec: ToolSpec) -> str:
    if spec.denial_class is not None:
        return spec.denial_class
    words = same_error(_text(recorded.error)).split()
    name = spec.kind.casefold()
    kept = [each for each in words if name in each or not is_reference(each)]
    return " ".join(kept[:_WORDS]) or "denied"


def _text(error: Any) -> str:
    return error if isinstance(error, str) else "" if error is None else repr(error)
