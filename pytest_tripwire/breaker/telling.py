"""Telling what happens: events get their numbers under the run's lock, and go to whoever wants to
be told once it is let go, in order. What goes wrong there is nothing to the run.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import TypeAlias

import msgspec

from pytest_tripwire.timeline import BreakerEvent

#: Is told of events, outside of the run's lock. What it returns does not matter. One that has an
#: attribute `wants`, a tuple of types, is told of no others.
Observer: TypeAlias = Callable[[BreakerEvent], object]
#: Gives an event its number and its time.
Stamp: TypeAlias = Callable[[BreakerEvent], BreakerEvent]

#: Events of a run that its record carries.
MOST_STEPS = 60

log = logging.getLogger("pytest_tripwire.breaker")


class Unkept:
    """Numbers events and keeps none: a run may go on for ever. Used under the run's lock."""

    __slots__ = ("_now", "_seq")

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._seq = 0

    def stamped(self, event: BreakerEvent) -> BreakerEvent:
        """The event with its number and its time."""
        self._seq += 1
        return msgspec.structs.replace(event, seq=self._seq, at=self._now())


class Post:
    """Events on their way to observers. Those of one family of runs arrive in order, one at a time,
    in whichever thread comes by first; an observer may use the run.

    Args:
        observers: who is told.
    """

    def __init__(self, observers: Sequence[Observer] = ()) -> None:
        self._observers = tuple(
            (each, getattr(each, "wants", (BreakerEvent,))) for each in observers
        )
        self._wanted = tuple({kind for _, wants in self._observers for kind in wants})
        self._waiting: deque[BreakerEvent] = deque()
        self._busy = threading.Lock()
        self._failed: set[int] = set()

    def put(self, event: BreakerEvent) -> None:
        """Take an event; called under the run's lock."""
        if isinstance(event, self._wanted):
            self._waiting.append(event)

    def deliver(self) -> None:
        """Hand over what waits, unless another thread, or a caller further up, is at it."""
        while self._waiting and self._busy.acquire(blocking=False):
            try:
                while self._waiting:
                    self._hand_over(self._waiting.popleft())
            finally:
                self._busy.release()

    def _hand_over(self, event: BreakerEvent) -> None:
        for number, (observer, wants) in enumerate(self._observers):
            if not isinstance(event, wants):
                continue
            try:
                observer(event)
            except Exception:
                if number not in self._failed:
                    self._failed.add(number)
                    log.exception(
                        "the observer %r of run %s failed; the run goes on, and this is told once",
                        observer,
                        event.run_id,
                    )


class RunLock:
    """The lock of a run and its children. Whoever lets go of it delivers what has happened."""

    __slots__ = ("_deliver", "_depth", "_lock")

    def __init__(self, deliver: Callable[[], None]) -> None:
        self._lock = threading.RLock()
        self._depth = 0
        self._deliver = deliver

    @property
    def busy(self) -> bool:
        """Whether somebody seems to hold it now; by the time this is told it may be otherwise."""
        return self._depth > 0

    def wait(self) -> None:
        """Return when nobody else holds it."""
        with self._lock:
            pass

    def __enter__(self) -> None:
        self._lock.acquire()
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        outermost = self._depth == 0
        self._lock.release()
        if outermost:
            self._deliver()


class Telling:
    """Where one run tells its events.

    Args:
        stamp: gives each its number.
        post: hands them to observers.
        run_id: the run.
        shadow: whether it is only watched.
    """

    __slots__ = ("_last", "_post", "_shadow", "_stamp", "run_id")

    def __init__(self, stamp: Stamp, post: Post, *, run_id: str, shadow: bool = False) -> None:
        self._stamp = stamp
        self._post = post
        self._shadow = shadow
        self._last: deque[BreakerEvent] = deque(maxlen=MOST_STEPS)
        self.run_id = run_id

    @property
    def last(self) -> tuple[BreakerEvent, ...]:
        """The last things that the run has told, oldest first."""
        return tuple(self._last)

    def append(self, event: BreakerEvent) -> int:
        """Tell an event; returns its number."""
        own = msgspec.structs.replace(event, run_id=self.run_id, shadow=self._shadow)
        stamped = self._stamp(own)
        self._post.put(stamped)
        self._last.append(stamped)
        return stamped.seq

    def of(self, run_id: str) -> Telling:
        """The same for a child."""
        return Telling(self._stamp, self._post, run_id=run_id, shadow=self._shadow)
