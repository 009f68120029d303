"""Fills in what a recording lacks, so that a breaker can be fed with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from pytest_tripwire.replay.settings import Settings
from pytest_tripwire.replay.trace import Trace, TraceStep
from pytest_tripwire.timeline import Effect, ToolSpec

#: Stands in for what was not recorded.
UNKNOWN = "not recorded"


def undeclared(trace: Trace, settings: Settings) -> tuple[str, ...]:
    """The tools of which nobody says what they do. Guessing a write would stop good polling,
    guessing a read would pay twice.
    """
    found = {
        step.tool for step in trace.steps if not step.is_event and _effect(step, settings) is None
    }
    return tuple(sorted(found))


def prepared(trace: Trace, settings: Settings) -> Trace:
    """`trace` with an effect for each call, and with something in place of what was not recorded
    that is never twice the same, so that no rule takes two unknown things for one. A write that
    came back well has had its effect, unless the trace says otherwise.
    """
    steps = tuple(_steps(trace, settings))
    same = all(one is other for one, other in zip(steps, trace.steps, strict=True))
    return trace if same else msgspec.structs.replace(trace, steps=steps)


def _steps(trace: Trace, settings: Settings) -> Iterator[TraceStep]:
    for number, step in enumerate(trace.steps, 1):
        changes = {} if step.is_event else dict(_changes(step, number, settings))
        yield msgspec.structs.replace(step, **changes) if changes else step


def _changes(step: TraceStep, number: int, settings: Settings) -> Iterator[tuple[str, Any]]:
    effect = _effect(step, settings)
    if effect is not step.effect:
        yield "effect", effect
    if not step.args_known:
        yield "args", _arguments(settings.specs.get(step.tool), number)
    said: dict[str, Any] = {} if step.result_known else {"result": {UNKNOWN: number}}
    if _took_effect(step, effect):
        said["applied"] = True
    if said:
        yield "outcome", msgspec.structs.replace(step.outcome, **said)


def _took_effect(step: TraceStep, effect: Effect | None) -> bool:
    """Whether a write that nobody says more of is taken to have done what its caller was told."""
    outcome = step.outcome
    return effect is Effect.WRITE and outcome.status == "ok" and outcome.applied is None


def _effect(step: TraceStep, settings: Settings) -> Effect | None:
    """What the tool does: as the team declares it, as the trace says it, or by default."""
    spec = settings.specs.get(step.tool)
    return spec.effect if spec else step.effect or settings.default_effect


def _arguments(spec: ToolSpec | None, number: int) -> dict[str, Any]:
    identity = (spec.identity or ()) if spec else ()
    return dict.fromkeys((*identity, UNKNOWN), f"{UNKNOWN} {number}")
