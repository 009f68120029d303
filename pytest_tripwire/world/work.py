"""One dispatched call: it waits, acts and answers, in sync code and in async code alike."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Protocol

from pytest_tripwire.timeline import Delivery
from pytest_tripwire.world.clock import VirtualClock
from pytest_tripwire.world.faults import Plan
from pytest_tripwire.world.operation import Done


class Scene(Protocol):
    """Where a call acts and tells what came of it."""

    def effect(self) -> Done:
        """Do it, and tell of the mutation."""

    def earlier(self) -> Any:
        """What an earlier read of the same record said."""

    def deliver(self, delivery: Delivery) -> None:
        """Tell what the caller was told."""


class Work:
    """The rest of a call that has been entered. Call it, or await `arun()`; once."""

    def __init__(self, *, scene: Scene, plan: Plan, clock: VirtualClock, dispatch: int) -> None:
        self._scene = scene
        self._plan = plan
        self._clock = clock
        self._dispatch = dispatch

    def __call__(self) -> Any:
        """Do the work in this thread."""
        steps = self._steps()
        try:
            while True:
                self._clock.wait(next(steps))
        except StopIteration as done:
            return done.value
        finally:
            self._clock.leave()

    async def arun(self) -> Any:
        """Do the work as a task; one that is cancelled tells the timeline so."""
        steps = self._steps()
        try:
            while True:
                await self._park(steps, next(steps))
        except StopIteration as done:
            return done.value
        finally:
            self._clock.leave_soon()

    async def _park(self, steps: Generator[float, None, Any], seconds: float) -> None:
        try:
            await self._clock.park(seconds)
        except BaseException as error:
            steps.throw(error)
            raise

    def _steps(self) -> Generator[float, None, Any]:
        """Yields how long to wait; returns or raises what the caller gets."""
        plan = self._plan
        try:
            yield plan.before_s
            done = self._scene.effect() if plan.happens else None
            yield plan.after_s
            if plan.raises is not None:
                raise plan.raises  # noqa: TRY301 - it is told like any other failure
        except BaseException as error:
            self._failed(error)
            raise
        return self._told(done)

    def _told(self, done: Done | None) -> Any:
        result = done.result if done else None
        if self._plan.stale:
            result = self._scene.earlier()
        if self._plan.shape is not None:
            result = self._plan.shape(result)
        empty = self._plan.empty or (done is not None and done.empty)
        version = done.shown.version if done and done.shown and not self._plan.stale else 0
        told = "empty" if empty else "ok"
        self._scene.deliver(Delivery(dispatch=self._dispatch, told=told, version=version))
        return result

    def _failed(self, error: BaseException) -> None:
        ours = error is self._plan.raises
        told = self._plan.told if ours else "error" if isinstance(error, Exception) else "cancelled"
        self._scene.deliver(Delivery(dispatch=self._dispatch, told=told, note=type(error).__name__))
