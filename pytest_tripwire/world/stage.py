"""Where operations happen: every dispatch, delivery and mutation goes onto the timeline here."""

from __future__ import annotations

import functools
import hashlib
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from pytest_tripwire.timeline import Delivery, Dispatch, Mutation, WorldEvent, Writer
from pytest_tripwire.world.clock import VirtualClock
from pytest_tripwire.world.faults import Fault
from pytest_tripwire.world.operation import Operation, Slots
from pytest_tripwire.world.records import Records


class Stage:
    """The fake business at work.

    Args:
        records: what it knows.
        clock: how long things take.
        faults: what goes wrong.
        events: where it tells what happened.
    """

    def __init__(
        self,
        *,
        records: Records,
        clock: VirtualClock,
        faults: Sequence[Fault],
        events: Writer[WorldEvent],
    ) -> None:
        self._records = records
        self._clock = clock
        self._faults = tuple(faults)
        self._events = events
        self._lock = threading.Lock()
        self._calls: Counter[str] = Counter()

    def enter(self, operation: Operation, tool: str, slots: Slots) -> Callable[[], Any]:
        """Tell of a dispatch, at once; what is returned does the work."""
        with self._lock:
            self._calls[operation.role] += 1
            nth = self._calls[operation.role]
        seq = self._events.append(
            Dispatch(
                tool=tool,
                role=operation.role,
                effect=operation.effect,
                resource=self._known(operation.about(slots)),
            )
        )
        return functools.partial(self._perform, operation, slots, seq, nth)

    def _perform(self, operation: Operation, slots: Slots, seq: int, nth: int) -> Any:
        own: list[Exception] = []
        effect = functools.partial(self._effect, operation, slots, seq, own)
        fault = self._fault(operation.role, nth)
        try:
            result = fault.around(effect, self._clock) if fault else effect()
        except Exception as error:
            told = fault.told if fault and error not in own else "error"
            self._events.append(Delivery(dispatch=seq, told=told, note=type(error).__name__))
            raise
        self._events.append(Delivery(dispatch=seq, told="ok"))
        return result

    def _effect(self, operation: Operation, slots: Slots, seq: int, own: list[Exception]) -> Any:
        """Act and tell of it. An error goes into `own`: it is the tool's and not a fault's."""
        try:
            done = operation.act(self._records, slots)
        except Exception as error:
            own.append(error)
            raise
        if done.changed is not None:
            name, version = done.changed.name, done.changed.version
            self._events.append(
                Mutation(dispatch=seq, resource=name, version=version, note=done.note)
            )
        return done.result

    def _known(self, name: str) -> str:
        """A record's name; what the agent made up is shown as a fingerprint, as it could be
        anything, a secret too."""
        if self._records.get(name) is not None:
            return name
        kind = name.split(" ", 1)[0]
        return f"{kind} #{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:8]}"

    def _fault(self, role: str, nth: int) -> Fault | None:
        hit = (each for each in self._faults if each.role == role and each.hits(nth))
        return next(hit, None)
