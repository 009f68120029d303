"""Two roads to a verdict, with and without a loop of tasks, from one description of the way.

A decision may need a read first. What is to be done is written once, as steps that ask for a read
and are told its outcome; who drives them sleeps and reads in its own way.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Sequence
from typing import TypeAlias, TypeVar

from pytest_tripwire.breaker.controller import Controller
from pytest_tripwire.breaker.port import Clock
from pytest_tripwire.breaker.reconcile import Reconcile
from pytest_tripwire.breaker.tasks import Attempt
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
        for call, verdict in zip(calls, verdicts, strict=False):
            if verdict.allowed:
                _take_back(controller, call, error)
        raise
    return verdicts


def _take_back(controller: Controller, call: ToolCall, error: BaseException) -> None:
    try:
        controller.withdraw(call)
    except Exception as second:  # noqa: BLE001 - whatever the ledger raises
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
    steps: Steps[V], read: Callable[[Reconcile], Awaitable[Outcome]], clock: Clock
) -> V:
    """Go the way as a task, which may be cancelled at any moment."""
    try:
        request = next(steps)
        while True:
            await clock.asleep(request.wait_s)
            request = steps.send(await read(request))
    except StopIteration as end:
        verdict: V = end.value
        return verdict
    finally:
        steps.close()
