"""The project's own format: one JSON object for each run, as the field corpus has it."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from operator import attrgetter
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from pytest_tripwire.replay.problem import Item
from pytest_tripwire.replay.reading.values import Value, decoded
from pytest_tripwire.replay.trace import Expect, Limits, Recorded, Trace, TraceStep
from pytest_tripwire.timeline import Effect

#: Steps of one trace, expanded, and of one `repeat`. More are a slip of the pen.
MOST_STEPS = 10_000_000
#: US dollars. More are a slip of the pen as well, and would overflow sums.
MOST_MONEY = Decimal(10) ** 9

_Count = Annotated[int, Meta(ge=0, le=2**53)]
_Seconds = Annotated[float, Meta(ge=0, le=1e12)]
_Repeat = Annotated[int, Meta(ge=1, le=MOST_STEPS)]
_Name = Annotated[str, Meta(min_length=1)]


def check_money(amount: Decimal | None) -> None:
    """Raise ValueError for what cannot be an amount of money."""
    if amount is not None and not (amount.is_finite() and 0 <= amount <= MOST_MONEY):
        raise ValueError(f"`cost_usd` is no amount of US dollars from 0 to {MOST_MONEY}")


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


class StepFields(msgspec.Struct, frozen=True, kw_only=True):
    """A step, as it is written."""

    tool: _Name
    args: dict[str, Any] | UnsetType = UNSET
    effect: Effect | None = None
    outcome: OutcomeFields | UnsetType = UNSET
    agent: str | None = None
    cost_usd: Decimal | None = None
    elapsed_s: _Seconds | None = None
    at_s: _Seconds | None = None
    turn: int | None = None
    plan: Any = None
    repeat: _Repeat = 1
    event: str | None = None
    postcondition: Any = None
    forced: bool = False
    mtime: Any = None
    reconciles: int | None = None
    authoritative: bool = False
    text: str | None = None
    prompt_tokens: _Count | None = None
    completion_tokens: _Count | None = None

    def __post_init__(self) -> None:
        if self.outcome is UNSET and not self.tool.startswith("@"):
            raise ValueError("Object missing required field `outcome`")
        check_money(self.cost_usd)

    def step(self) -> TraceStep:
        """As replay takes it."""
        outcome = _NOTHING if self.outcome is UNSET else self.outcome
        known = dict(zip(_ALIKE, _alike_of(self), strict=True))
        return TraceStep(
            **known,
            args={} if self.args is UNSET else self.args,
            outcome=outcome.recorded(),
            args_known=self.args is not UNSET or self.tool.startswith("@"),
            result_known=outcome.status != "ok" or outcome.result is not UNSET,
        )


_ALIKE = tuple(name for name in StepFields.__struct_fields__ if name not in {"args", "outcome"})
_alike_of = attrgetter(*_ALIKE)


class _Limits(msgspec.Struct, frozen=True, kw_only=True):
    turns: _Count | None = None
    deadline_s: _Seconds | None = None
    cost_usd: Decimal | None = None
    tool_calls: _Count | None = None
    side_effects: _Count | None = None

    def __post_init__(self) -> None:
        check_money(self.cost_usd)


class RunFields(msgspec.Struct, frozen=True, kw_only=True):
    """A run, as it is written."""

    id: _Name
    trace: list[StepFields]
    hints: dict[str, Any] = {}
    budgets: _Limits = _Limits()
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
            budgets=msgspec.convert(self.budgets, Limits, from_attributes=True),
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
