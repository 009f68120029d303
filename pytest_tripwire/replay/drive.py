"""Feeds one recorded run to a breaker, step by step, and says what it would have done."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import msgspec

from pytest_tripwire.breaker.budget import Usage
from pytest_tripwire.breaker.controller import Controller
from pytest_tripwire.breaker.port import allow_everything
from pytest_tripwire.breaker.reconcile import Reconcile
from pytest_tripwire.breaker.state import RunContext
from pytest_tripwire.ledger import MemoryLedger
from pytest_tripwire.replay.declared import Declared
from pytest_tripwire.replay.happenings import Happenings
from pytest_tripwire.replay.measured import Measured, is_measured
from pytest_tripwire.replay.settings import Settings, budget_of
from pytest_tripwire.replay.told import is_pending, outcome_of
from pytest_tripwire.replay.trace import MODEL_REQUEST, Trace, TraceStep, TraceVerdict
from pytest_tripwire.timeline import (
    BreakerEvent,
    Decision,
    Effect,
    Event,
    Reason,
    ToolCall,
    Verdict,
    Writer,
)

#: Events whose step is remembered, for evidence.
_EVENTS = 4096
#: Turns without a known cost, under a cost budget, after which the cost counts as unknown.
_UNPRICED = 3
#: The same where the cost was known before.
_UNPRICED_SINCE = 2
#: Times are floats, and add up to a hair more or less.
_HAIR = 1e-9

Numbered = tuple[int, TraceStep]


def replay_trace(trace: Trace, settings: Settings) -> TraceVerdict:
    """What a breaker with these settings would have done with `trace`."""
    replay = Replay(trace, settings)
    for turn in _turns(trace):
        replay.play(turn)
    return replay.verdict()


class Moments:
    """The clock of a replay: as late as the trace says."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> float:
        """Seconds since the run began."""
        return self.seconds

    def sleep(self, seconds: float) -> None:
        """No recorded step waits for the breaker."""

    async def asleep(self, seconds: float) -> None:
        """The same."""

    async def within(self, seconds: float, work: Any) -> Any:
        """Nothing is run."""
        raise NotImplementedError(f"{work!r} within {seconds} s: a replay runs nothing")


class Replay:
    """Owner of one replay.

    Args:
        trace: the recorded run.
        settings: what holds besides.
    """

    def __init__(self, trace: Trace, settings: Settings) -> None:
        self._trace = trace
        self._declared = Declared(trace, settings)
        self._budget = budget_of(trace.budgets, settings.budget)
        self._clock = Moments()
        self._step = self._steps = self._writes = 0
        self._seqs = itertools.count(1)
        self._events: deque[tuple[int, int]] = deque(maxlen=_EVENTS)
        self._first: TraceVerdict | None = None
        self._unpriced = 0
        self._ever_priced = False
        self._controller = self._begun()
        self._happenings = Happenings(self._controller.outside)
        self._measured = Measured()

    def play(self, turn: list[Numbered]) -> None:
        """Play what was proposed together."""
        self._steps = turn[-1][0]
        if self._first is not None:
            return  # the recorded agent never saw the refusal: what follows is evidence of nothing
        first = turn[0][1]
        if first.at_s is not None:
            self._clock.seconds = max(self._clock.seconds, first.at_s)
        if first.tool == MODEL_REQUEST:
            self._ask_model(turn)
            self._clock.seconds += first.elapsed_s or 0.0
            return
        if first.is_event:
            self._clock.seconds += first.elapsed_s or 0.0
            self._happenings.take(first)
            return
        self._ask_model(turn)
        let_in = [each for each in turn if self._propose(*each)]
        began = self._clock.seconds
        for number, step in sorted(let_in, key=lambda each: each[1].elapsed_s or 0.0):
            self._settle(number, step, began)

    def verdict(self) -> TraceVerdict:
        """What came of it."""
        first = self._first or TraceVerdict(id=self._trace.id, steps=0, interrupted=False)
        return msgspec.structs.replace(first, steps=self._steps, executed_writes=self._writes)

    def _begun(self) -> Controller:
        keys = itertools.count(1)
        return Controller(
            context=RunContext(run_id="replay", request_id="replay"),
            specs={},
            budget=self._budget,
            policy=allow_everything,
            ledger=MemoryLedger(),
            clock=self._clock,
            events=Writer(BreakerEvent, self._stamped),
            new_key=lambda: f"write-{next(keys)}",
            judged=any(is_measured(step.postcondition) for step in self._trace.steps),
        )

    def _stamped(self, event: Event) -> Event:
        seq = next(self._seqs)
        self._events.append((seq, self._step))
        return msgspec.structs.replace(event, seq=seq, at=self._clock.seconds)

    def _ask_model(self, turn: list[Numbered]) -> None:
        """Open a turn. If the model must not be asked, what it proposed is told why."""
        self._step = turn[0][0]
        self._controller.before_model()
        self._controller.after_model(
            _usage([step for _, step in turn], unpriced=self._is_unpriced(turn)),
            next((step.text for _, step in turn if step.text), "") or "",
        )

    def _is_unpriced(self, turn: list[Numbered]) -> bool:
        """Whether the cost is unknown for so long that it cannot be an oversight."""
        priced = any(_is_priced(step) for _, step in turn)
        self._ever_priced = self._ever_priced or priced
        self._unpriced = 0 if priced else self._unpriced + 1
        limited = self._budget.max_model_cost_usd is not None
        return limited and self._unpriced >= (_UNPRICED_SINCE if self._ever_priced else _UNPRICED)

    def _propose(self, number: int, step: TraceStep) -> bool:
        self._step = number
        spec = self._declared.of(step)
        self._controller.declare(spec)
        call = _call(number, step, spec.name)
        verdict = self._controller.propose(call)
        if isinstance(verdict, Reconcile):
            verdict = self._controller.propose(call, asked=True)
        if isinstance(verdict, Reconcile) or verdict.allowed:
            self._writes += step.effect is Effect.WRITE and step.outcome.applied is True
            return True
        self._note(number, step, verdict)
        return False

    def _settle(self, number: int, step: TraceStep, began: float) -> None:
        spec = self._declared.of(step)
        took = step.elapsed_s or 0.0
        left = self._controller.time_left
        if left is not None and took - (self._clock.seconds - began) > left + _HAIR:
            # It is still running when the time is over, so it is the one that is interrupted.
            self._clock.seconds += left
            self._controller.expire()
            self._note(number, step, self._controller.refusal() or _LATE)
        self._step = number
        self._clock.seconds = max(self._clock.seconds, began + took)
        call = _call(number, step, spec.name)
        if is_pending(step) and spec.effect is not Effect.READ:
            self._controller.outside.park(call)
        self._controller.settle(
            call, outcome_of(step, spec), advanced=self._measured.advanced(step.postcondition)
        )
        self._happenings.settled(call, step)

    def _note(self, number: int, step: TraceStep, verdict: Verdict) -> None:
        if self._first is None or number < (self._first.step or 0):
            self._first = TraceVerdict(
                id=self._trace.id,
                steps=0,
                interrupted=True,
                step=number,
                decision=verdict.decision,
                reason=verdict.reason,
                evidence=self._evidence(verdict),
                message=verdict.message,
                tool=step.tool,
            )

    def _evidence(self, verdict: Verdict) -> tuple[int, ...]:
        named = set(verdict.evidence)
        return tuple(sorted({step for seq, step in self._events if seq in named}))


_LATE = Verdict(decision=Decision.INTERRUPT, reason=Reason.DEADLINE)


def _turns(trace: Trace) -> Iterator[list[Numbered]]:
    """Steps that were proposed together, in order; an event stands alone."""
    together: list[Numbered] = []
    for number, step in trace.expanded():
        if together and not _belongs(step, together[-1][1]):
            yield together
            together = []
        together.append((number, step))
    if together:
        yield together


def _belongs(step: TraceStep, before: TraceStep) -> bool:
    if step.is_event or before.is_event or step.turn is None:
        return False
    return step.turn == before.turn


def _call(number: int, step: TraceStep, tool: str) -> ToolCall:
    return ToolCall(call_id=str(number), tool=tool, arguments=step.args, agent=step.agent)


def _is_priced(step: TraceStep) -> bool:
    result = step.outcome.result
    return step.cost_usd is not None or (isinstance(result, dict) and "cost_usd" in result)


def _usage(steps: list[TraceStep], *, unpriced: bool) -> Usage:
    """What the request has used. The cost of a step is the call's, and paid when that settles."""
    prompt = next((each.prompt_tokens for each in steps if each.prompt_tokens is not None), 0)
    answer = next(
        (each.completion_tokens for each in steps if each.completion_tokens is not None), 0
    )
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=answer,
        cost_usd=None if unpriced else Decimal(0),
    )


__all__ = ["Moments", "Replay", "replay_trace"]
