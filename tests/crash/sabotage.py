"""Defences taken out of a process, to see that the matrix notices. What is broken is the process of
one life, and ends with it.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import msgspec

from pytest_tripwire.breaker import controller, run_ledger, writes
from pytest_tripwire.breaker.acting import Acting
from pytest_tripwire.breaker.modes import Modes
from pytest_tripwire.breaker.writes import Writes
from pytest_tripwire.guard.run import BreakerRun
from pytest_tripwire.guard.toolbox import Toolbox
from pytest_tripwire.ledger.sql.store import SqlStore
from pytest_tripwire.timeline import WriteStatus

# ruff: noqa: SLF001 - what is broken is reached into


def begin_after_dispatch() -> None:
    """The ledger hears of a write when its body has returned."""
    real, succeed = Acting._write_ahead, BreakerRun._succeed

    def _succeed(self: Any, call: Any, result: Any) -> Any:
        real(self._controller._acting, self._controller._core.state.admissions.of(call))
        return succeed(self, call, result)

    _set(Acting, "_write_ahead", lambda *_: None)
    _set(BreakerRun, "_succeed", _succeed)


def settle_before_dispatch() -> None:
    """A write counts as done when it is begun."""
    real = Writes.begin

    def begin(self: Any, proposal: Any, **more: Any) -> Any:
        begun = real(self, proposal, **more)
        if isinstance(begun, writes.Begun):
            self._core.ledger.settle(begun.key, WriteStatus.CONFIRMED)
        return begun

    _set(Writes, "begin", begin)


def take_the_expired_for_rejected() -> None:
    """A lease that is over is taken for a write that did not happen."""
    real = run_ledger.as_read

    def as_read(entry: Any, **more: Any) -> Any:
        seen = real(entry, **more)
        if seen.status is WriteStatus.UNKNOWN and entry.status is WriteStatus.IN_FLIGHT:
            return msgspec.structs.replace(seen, status=WriteStatus.REJECTED)
        return seen

    _set(run_ledger, "as_read", as_read)


def skip_the_reconciliation() -> None:
    """What may have happened is not looked at, and held by nothing."""
    # The package has a function of its name.
    write_certainty = import_module("pytest_tripwire.breaker.checks.write_certainty")
    real = write_certainty.in_the_way

    def in_the_way(known: Any, **more: Any) -> Any:
        return real([each for each in known if each.status is not WriteStatus.UNKNOWN], **more)

    _set(write_certainty, "in_the_way", in_the_way)


def never_read() -> None:
    """What may have happened is held for ever."""
    _set(controller.Controller, "_read_first", lambda *_: None)


def believe_an_early_read() -> None:
    """A late effect is not waited for."""
    real = controller.plan

    def plan(entry: Any, proposal: Any, spec: Any, **more: Any) -> Any:
        hasty = msgspec.structs.replace(spec, late_effect_s=0.0)
        return real(entry, proposal, hasty, **more)

    _set(controller, "plan", plan)


def keep_no_record() -> None:
    """A run is let go before its record is stored, and is killed before that."""
    _set(Modes, "keep_record", lambda _: None)


def leave_nothing_ahead() -> None:
    """Whoever finds a dead run has nothing to make its record of."""
    real = SqlStore.begin

    def begin(self: Any, entry: Any, conflict: Any, *, ahead: Any = None) -> Any:
        del ahead
        return real(self, entry, conflict)

    _set(SqlStore, "begin", begin)


def take_nobody_in() -> None:
    """Whoever settles the write of a dead run tells nobody."""
    _set(Toolbox, "_take_in", property(lambda _: lambda _: None, lambda *_: None))


def answer_for_nothing() -> None:
    """A write is given up as soon as it is begun."""
    _set(writes, "lease_of", lambda *_: 0.0)


def _set(owner: Any, name: str, value: Any) -> None:
    assert hasattr(owner, name) or name == "_take_in"
    setattr(owner, name, value)


SABOTAGE: dict[str, Callable[[], None]] = {
    each.__name__: each
    for each in (
        begin_after_dispatch,
        settle_before_dispatch,
        take_the_expired_for_rejected,
        skip_the_reconciliation,
        never_read,
        believe_an_early_read,
        keep_no_record,
        leave_nothing_ahead,
        take_nobody_in,
        answer_for_nothing,
    )
}
