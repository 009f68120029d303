"""Two roads to a verdict, with and without a loop of tasks, from one description of the way.

A decision may need a read first. What is to be done is written once, as steps that ask for a read
and are told its outcome; who drives them sleeps and reads in its own way.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Sequence
from functools import partial
from typing import Generic, TypeAlias, TypeVar

import msgspec

from pytest_tripwire.breaker.controller import Controller
from pytest_tripwire.breaker.port import Clock
from pytest_tripwire.breaker.reconcile import Reconcile
from pytest_tripwire.breaker.tasks import Attempt
from pytest_tripwire.guard.away import away
from pytest_tripwire.guard.settling import is_being_settled
from pytest_tripwire.timeline import Outcome, ToolCall, Verdict

V = TypeVar("V")

#: Asks for reads, is told their outcomes, ends with a verdict or several.
Steps: TypeAlias = Generator[Reconcile, Outcome, V]
Narrow: TypeAlias = Callable[[Reconcile], Reconcile]


def deciding(
    controller: Controller,
    call: ToolCall,
    narrow: Narrow,
    *,
    problem: str = "",
    attempt: Attempt | None = None,
    turn: int | None = None,
) -> Steps[Verdict]:
    """Decide about one call. `narrow` leaves a request those arguments that its read takes."""
    verdict = controller.propose(call, problem=problem, attempt=attempt, turn=turn)
    while isinstance(verdict, Reconcile):
        if not is_being_settled(controller.family, verdict.entry.key):
            request = narrow(verdict)
            controller.reconciled(request, (yield request))
        verdict = controller.propose(call, problem=problem, attempt=attempt, turn=turn, asked=True)
    return verdict


def deciding_all(
    controller: Controller, calls: Sequence[ToolCall], narrow: Narrow, attempt: Attempt | None
) -> Steps[list[Verdict]]:
    """Decide about all calls of one message, in order, those let through being under way. Whatever
    ends it early takes back those that were let through, as nobody knows of them.
    """
    turn = controller.together()
    verdicts: list[Verdict] = []
    try:
        for call in calls:
            verdict = yield from deciding(controller, call, narrow, attempt=attempt, turn=turn)
            verdicts.append(verdict)
    except BaseException as error:
        take_back(controller, calls, verdicts, error)
        raise
    return verdicts


def take_back(
    controller: Controller,
    calls: Sequence[ToolCall],
    verdicts: Sequence[Verdict],
    error: BaseException | None = None,
) -> None:
    """Say of those of several calls that were let through that they are not made after all."""
    for call, verdict in zip(calls, verdicts, strict=False):
        if verdict.allowed:
            _take_back(controller, call, error)


def _take_back(controller: Controller, call: ToolCall, error: BaseException | None) -> None:
    try:
        controller.withdraw(call)
    except Exception as second:
        if error is None:
            raise
        error.add_note(f"and {call.tool} ({call.call_id}) could not be taken back: {second!r}")


def drive(steps: Steps[V], read: Callable[[Reconcile], Outcome], clock: Clock) -> V:
    """Go the way without tasks."""
    try:
        request = next(steps)
        while True:
            clock.sleep(request.wait_s)
            request = steps.send(read(request))
    except StopIteration as end:
        verdict: V = end.value
        return verdict
    finally:
        steps.close()


async def adrive(
    steps: Steps[V],
    read: Callable[[Reconcile], Awaitable[Outcome]],
    clock: Clock,
    undo: Callable[[V], object] | None = None,
) -> V:
    """Go the way as a task, which may be cancelled at any moment.

    Args:
        steps: the way.
        read: makes a read that is asked for.
        clock: waits before it.
        undo: takes back what the way has led to, when the task was cancelled by then. Given where
            deciding may wait for a disk or a network: it is done in a thread then.
    """
    outcome: Outcome | None = None
    try:
        while True:
            step = partial(_next, steps, outcome)
            at = step() if undo is None else await away(step, partial(_undone, undo=undo))
            if isinstance(at, Arrived):
                return at.value
            await clock.asleep(at.wait_s)
            outcome = await read(at)
    finally:
        steps.close()


class Arrived(msgspec.Struct, Generic[V], frozen=True, kw_only=True):
    """The end of the way."""

    value: V


def _next(steps: Steps[V], outcome: Outcome | None) -> Reconcile | Arrived[V]:
    """The next step. No StopIteration can leave a coroutine or come out of a thread."""
    try:
        return next(steps) if outcome is None else steps.send(outcome)
    except StopIteration as end:
        return Arrived(value=end.value)


def _undone(at: Reconcile | Arrived[V], undo: Callable[[V], object]) -> None:
    if isinstance(at, Arrived):
        undo(at.value)
