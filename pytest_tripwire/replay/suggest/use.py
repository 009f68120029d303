"""What one run has used, in the terms of budgets: the least that each limit has to give it."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

import msgspec

from pytest_tripwire.breaker.fingerprint import intent_of
from pytest_tripwire.replay.suggest.money import SpecOf, needed_usd
from pytest_tripwire.replay.suggest.turn import Turn, turns_of
from pytest_tripwire.replay.trace import MODEL_REQUEST, Trace, TraceStep
from pytest_tripwire.timeline import Effect, ToolCall


class Use(msgspec.Struct, frozen=True, kw_only=True):
    """What one run has used. None is what the recording does not tell.

    Args:
        turns: model requests, the one that gave the answer included.
        tool_calls: calls.
        side_effects: writes.
        same_intent: how often the call that was made most often was made.
        cost_usd: US dollars that have to be left for the model's requests to be sent.
        tokens: of prompts and completions.
        elapsed_s: seconds.
    """

    turns: int
    tool_calls: int
    side_effects: int
    same_intent: int | None
    cost_usd: Decimal | None
    tokens: int | None
    elapsed_s: float | None


def use_of(trace: Trace, spec_of: SpecOf) -> Use:
    """What `trace` has used, as if nothing of it had been refused.

    Args:
        trace: with an effect for each call.
        spec_of: what is declared about its tools.
    """
    calls = [step for step in trace.steps if not step.is_event]
    turns = tuple(turns_of(trace.steps))
    answered = bool(trace.steps) and trace.steps[-1].tool == MODEL_REQUEST
    return Use(
        turns=sum(turn.times for turn in turns) + (not answered),
        tool_calls=sum(step.repeat for step in calls),
        side_effects=sum(step.repeat for step in calls if step.effect is Effect.WRITE),
        same_intent=_same_intent(calls, spec_of),
        cost_usd=needed_usd(turns, spec_of),
        tokens=_tokens(turns),
        elapsed_s=_elapsed(trace.steps),
    )


def _same_intent(calls: list[TraceStep], spec_of: SpecOf) -> int | None:
    """None if arguments were not recorded: nobody can tell then which calls were the same."""
    if not all(step.args_known for step in calls):
        return None
    times: Counter[str] = Counter()
    for step in calls:
        call = ToolCall(call_id="", tool=step.tool, arguments=step.args, agent=step.agent)
        times[intent_of(call, spec_of(step), "").digest] += step.repeat
    return max(times.values(), default=0)


def _tokens(turns: tuple[Turn, ...]) -> int | None:
    total = 0
    for turn in turns:
        if turn.tokens is None:
            return None
        total += turn.tokens * turn.times
    return total if turns else None


def _elapsed(steps: tuple[TraceStep, ...]) -> float | None:
    """The end of the last step, or all that the steps took, whichever is later."""
    took = [(step.elapsed_s or 0.0) * step.repeat for step in steps]
    ends = [(step.at_s or 0.0) + own for step, own in zip(steps, took, strict=True)]
    known = any(step.elapsed_s is not None or step.at_s is not None for step in steps)
    return max(sum(took), *ends) if known else None
