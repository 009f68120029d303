"""Time as a queue of events: it moves only when all that is under way waits for it.

Two tools of 10 and 30 seconds that run side by side end at 10 and at 30; one after the other they
end at 10 and at 40. What the model has proposed in one message is announced, so that the first of
two siblings does not move the clock before the second has begun.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pytest_tripwire.timeline.loops import trio_module
from pytest_tripwire.world.loops import Bell, TaskBell, ThreadBell, soon

#: Real seconds after which an announced sibling is no longer waited for: the agent may well run
#: its calls one after the other.
GRACE = 0.2


@dataclass(order=True, slots=True)
class _Entry:
    when: float
    order: int
    wake: Callable[[], None] = field(compare=False)
    sleeper: bool = field(compare=False)
    gone: bool = field(compare=False, default=False)


class VirtualClock:
    """Owner of a run's time, in seconds since it began.

    Args:
        grace: real seconds to wait for a call that was announced.
    """

    def __init__(self, grace: float = GRACE) -> None:
        self._lock = threading.Lock()
        self._queue: list[_Entry] = []
        self._order = itertools.count()
        self._grace = grace
        self._now = 0.0
        self._live = 0
        self._parked = 0
        self._busy = 0
        self._announced = 0

    def now(self) -> float:
        """Seconds since the run began."""
        return self._now

    def announce(self, calls: int) -> None:
        """Say how many calls are to be expected side by side; replaces what was said before."""
        with self._lock:
            self._announced = calls

    def enter(self) -> None:
        """A call has begun; time does not pass while it does anything but wait."""
        with self._lock:
            self._live += 1
            self._announced = max(0, self._announced - 1)

    def leave(self) -> None:
        """It has ended."""
        self._left()
        self._advance()

    def leave_soon(self) -> None:
        """The same for a task: time stands still until what called it has had its say."""
        self._left()
        soon(self._advance)

    @contextmanager
    def live(self) -> Iterator[None]:
        """A call that is under way for the length of a block."""
        self.enter()
        try:
            yield
        finally:
            self.leave()

    def at(self, when: float, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back when the clock passes `when`; returns what takes that back."""
        entry = self._push(when, callback, sleeper=False)
        return lambda: self._drop(entry)

    # -- waiting

    def sleep(self, seconds: float) -> None:
        """Wait, outside of any call. Raises ValueError for a negative number."""
        with self.live():
            self.wait(seconds)

    async def asleep(self, seconds: float) -> None:
        """The same, for async code."""
        self.enter()
        try:
            await self.park(seconds)
        finally:
            self.leave_soon()

    def wait(self, seconds: float) -> None:
        """Wait within a call that is under way."""
        if _positive(seconds):
            bell = ThreadBell()
            self._push(self._now + seconds, bell.ring, sleeper=True)
            self._advance()
            while not bell.wait(self._grace):
                self._advance(late=True)

    async def park(self, seconds: float) -> None:
        """The same, for async code; a cancelled wait gives up its place."""
        if _positive(seconds):
            bell = TaskBell()
            entry = self._push(self._now + seconds, bell.ring, sleeper=True)
            try:
                self._advance()
                while not await bell.wait(self._grace):
                    self._advance(late=True)
            finally:
                self._drop(entry)

    async def within(self, seconds: float, work: Awaitable[Any]) -> Any:
        """Await `work`, and cancel it when `seconds` have passed. Raises TimeoutError then."""
        fired: list[bool] = []

        def expire(cancel: Callable[[], None]) -> None:
            with self._lock:
                self._busy += 1
            fired.append(True)
            cancel()

        try:
            return await _cancellable(lambda cancel: self._timer(seconds, expire, cancel), work)
        finally:
            if fired:
                with self._lock:
                    self._busy -= 1
                soon(self._advance)

    def _timer(
        self,
        seconds: float,
        expire: Callable[[Callable[[], None]], None],
        cancel: Callable[[], None],
    ) -> Callable[[], None]:
        return self.at(self._now + max(0.0, seconds), lambda: expire(cancel))

    # -- the queue

    def _left(self) -> None:
        with self._lock:
            self._live -= 1

    def _push(self, when: float, wake: Callable[[], None], *, sleeper: bool) -> _Entry:
        with self._lock:
            entry = _Entry(when, next(self._order), wake, sleeper)
            heapq.heappush(self._queue, entry)
            self._parked += sleeper
            return entry

    def _drop(self, entry: _Entry) -> None:
        with self._lock:
            if not entry.gone:
                entry.gone = True
                self._parked -= entry.sleeper

    def _advance(self, *, late: bool = False) -> None:
        """Move to the earliest event, and on, until somebody has something to do."""
        while (entry := self._next(late=late)) is not None:
            entry.wake()

    def _next(self, *, late: bool) -> _Entry | None:
        with self._lock:
            waits = self._parked and self._parked >= self._live and not self._busy
            if not waits or (self._announced and not late):
                return None
            while self._queue:
                entry = heapq.heappop(self._queue)
                if not entry.gone:
                    entry.gone = True
                    self._parked -= entry.sleeper
                    self._now = max(self._now, entry.when)
                    return entry
            return None


def _positive(seconds: float) -> bool:
    if seconds < 0:
        raise ValueError(f"sleep({seconds}): seconds are 0 or more")
    return seconds > 0


async def _cancellable(
    arm: Callable[[Callable[[], None]], Callable[[], None]], work: Awaitable[Any]
) -> Any:
    """Await `work` under a scope that `arm` is given the trigger of."""
    trio = trio_module()
    if trio is not None:
        token = trio.lowlevel.current_trio_token()
        with trio.CancelScope() as scope:
            disarm = arm(lambda: token.run_sync_soon(scope.cancel))
            try:
                return await work
            finally:
                disarm()
        raise TimeoutError
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(None) as timeout:
        ended: list[bool] = []

        def cancel() -> None:
            if not ended:  # or it is the timeout that has ended, which asyncio calls an error
                timeout.reschedule(loop.time())

        disarm = arm(lambda: _call_in(loop, cancel))
        try:
            return await work
        finally:
            ended.append(True)
            disarm()


def _call_in(loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> None:
    loop.call_soon_threadsafe(callback)


__all__ = ["GRACE", "Bell", "VirtualClock"]
