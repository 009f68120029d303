"""Where operations happen: every dispatch, delivery and mutation goes onto the timeline here."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from pytest_tripwire.timeline import (
    Delivery,
    Dispatch,
    ExternalChange,
    Mutation,
    WorldEvent,
    Writer,
)
from pytest_tripwire.world.clock import VirtualClock
from pytest_tripwire.world.faults import Fault, Plan
from pytest_tripwire.world.operation import Done, Operation, Slots
from pytest_tripwire.world.records import Records
from pytest_tripwire.world.work import Work


class Stage:
    """The fake business at work.

    Args:
        records: what it knows.
        clock: how long things take.
        faults: what goes wrong.
        events: where it tells what happened.
        heard: told of every operation that was done, and what it was done with.
    """

    def __init__(
        self,
        *,
        records: Records,
        clock: VirtualClock,
        faults: Sequence[Fault],
        events: Writer[WorldEvent],
        heard: Callable[[Operation, Slots], None] = lambda _operation, _slots: None,
    ) -> None:
        self._records = records
        self._clock = clock
        self._faults = tuple(faults)
        self._events = events
        self._heard = heard
        self._lock = threading.Lock()
        self._calls: Counter[str] = Counter()
        self._first: dict[tuple[str, str], Any] = {}
        self._own_names = frozenset(each.name for each in records.named(""))

    def enter(self, operation: Operation, tool: str, slots: Slots) -> Work:
        """Tell of a dispatch, at once; what is returned does the work."""
        name = self._known(operation.about(slots))
        plan = self._plan(operation.role)
        self._clock.enter()
        seq = self._events.append(
            Dispatch(tool=tool, role=operation.role, effect=operation.effect, resource=name)
        )
        scene = _Scene(self, operation, slots, seq)
        return Work(scene=scene, plan=plan, clock=self._clock, dispatch=seq)

    def change(self, name: str, /, *, note: str, **fields: Any) -> None:
        """Somebody else changes a record."""
        record = self._records.put(name, **fields)
        self._events.append(ExternalChange(resource=record.name, version=record.version, note=note))

    def perform(self, operation: Operation, slots: Slots, seq: int) -> Done:
        """Do an operation, and tell of what it changed."""
        done = operation.act(self._records, slots)
        with self._lock:
            self._first.setdefault((operation.role, operation.about(slots)), done.result)
        if done.changed is not None:
            name, version = self._known(done.changed.name), done.changed.version
            self._events.append(
                Mutation(dispatch=seq, resource=name, version=version, note=done.note)
            )
        self._heard(operation, slots)
        return done

    def first(self, operation: Operation, name: str) -> Any:
        """What an operation said of a record at first."""
        with self._lock:
            return self._first.get((operation.role, name))

    def tell(self, delivery: Delivery) -> None:
        """Tell what a caller was told."""
        self._events.append(delivery)

    def _plan(self, role: str) -> Plan:
        with self._lock:
            self._calls[role] += 1
            nth = self._calls[role]
        laid = (each.plan(nth) for each in self._faults if each.role == role)
        return next((plan for plan in laid if plan is not None), Plan())

    def _known(self, name: str) -> str:
        """The name of a record that the business had from the start. What the agent made up is
        shown as a fingerprint, as it could be anything, a secret too.
        """
        if name in self._own_names:
            return name
        kind, _, made_up = name.partition(" ")
        if not made_up:
            return kind
        return f"{kind} #{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:8]}"


class _Scene:
    """One call's place on the stage."""

    def __init__(self, stage: Stage, operation: Operation, slots: Slots, seq: int) -> None:
        self._stage, self._operation = stage, operation
        self._slots, self._seq = slots, seq

    def effect(self) -> Done:
        return self._stage.perform(self._operation, self._slots, self._seq)

    def earlier(self) -> Any:
        return self._stage.first(self._operation, self._operation.about(self._slots))

    def deliver(self, delivery: Delivery) -> None:
        self._stage.tell(delivery)
