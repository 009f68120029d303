"""The project's own format: one JSON object for each run, as the field corpus has it."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from pytest_tripwire.replay.problem import Item
from pytest_tripwire.replay.reading.values import Value, decoded
from pytest_tripwire.replay.trace import (
    EVENT_MARK,
    MOST_STEPS,
    Expect,
    Limits,
    Name,
    Recorded,
    StepFacts,
    Trace,
    TraceStep,
    check_money,
)


class OutcomeFields(msgspec.Struct, frozen=True, kw_only=True):
    """An outcome, as it is written."""

    status: Literal["ok", "error", "timeout", "denied"]
    result: Any = UNSET
    error: Any = None
    resource_version: Any = None
    applied: bool | None = None

    def recorded(self) -> Recorded:
        """As replay takes it."""
        return Recorded(
            status=self.status,
            result=None if self.result is UNSET else self.result,
            error=self.error,
            resource_version=self.resource_version,
            applied=self.applied,
        )


_NOTHING = OutcomeFields(status="ok", result=None)


class StepFields(StepFacts, frozen=True, kw_only=True):
    """A step, as it is written."""

    args: dict[str, Any] | UnsetType = UNSET
    outcome: OutcomeFields | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.outcome is UNSET and not self.tool.startswith(EVENT_MARK):
            raise ValueError("Object missing required field `outcome`")
        check_money(self.cost_usd)

    def step(self) -> TraceStep:
        """As replay takes it."""
        outcome = _NOTHING if self.outcome is UNSET else self.outcome
        known = dict(zip(StepFacts.__struct_fields__, _facts_of(self), strict=True))
        return TraceStep(
            **known,
            args={} if self.args is UNSET else self.args,
            outcome=outcome.recorded(),
            args_known=self.args is not UNSET or self.tool.startswith(EVENT_MARK),
            result_known=outcome.status != "ok" or outcome.result is not UNSET,
        )


_facts_of = attrgetter(*StepFacts.__struct_fields__)


class RunFields(msgspec.Struct, frozen=True, kw_only=True):
    """A run, as it is written."""

    id: Name
    trace: list[StepFields]
    hints: dict[str, Any] = {}
    budgets: Limits = Limits()
    expect: Expect | None = None
    kind: Literal["hostile", "legit"] | None = None
    hazard: str | None = None
    needs_hints: bool = False
    workflow: str | None = None

    def __post_init__(self) -> None:
        steps = sum(step.repeat for step in self.trace)
        if not 1 <= steps <= MOST_STEPS:
            raise ValueError(
                f"the trace has {steps} steps, expanded; from 1 to {MOST_STEPS} can be replayed"
            )

    def traced(self, value: Value) -> Trace:
        """As replay takes it, with where it stood."""
        return Trace(
            id=self.id,
            steps=tuple(step.step() for step in self.trace),
            hints=self.hints,
            budgets=self.budgets,
            expect=self.expect,
            kind=self.kind,
            hazard=self.hazard,
            needs_hints=self.needs_hints,
            workflow=self.workflow,
            source=value.file,
            line=value.line,
        )


class RecordedRuns:
    """Each value is a whole run, so nothing is held."""

    keys = frozenset({"trace"})

    def add(self, value: Value) -> Iterator[Item]:
        """The one trace that `value` is, or what is wrong with it."""
        run = decoded(value, RunFields)
        yield run.traced(value) if isinstance(run, RunFields) else run

    def finish(self) -> Iterator[Item]:
        """Nothing is left."""
        yield from ()

    def close(self) -> None:
        """Nothing is held."""
