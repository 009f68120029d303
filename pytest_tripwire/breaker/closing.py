"""The end of a run: nothing more is dispatched, and what is not settled is said to be so."""

from __future__ import annotations

from contextlib import suppress

import msgspec

from pytest_tripwire.breaker.children import gone
from pytest_tripwire.breaker.core import Core
from pytest_tripwire.breaker.findings import left_unknown
from pytest_tripwire.breaker.modes import Modes
from pytest_tripwire.breaker.records import UNSETTLED
from pytest_tripwire.breaker.writes import Writes
from pytest_tripwire.timeline import InterruptionRecord, Mode


def close(core: Core) -> InterruptionRecord | None:
    """End a run and those that work for it. Returns its record if it was interrupted, or left a
    write unsettled. Used under the run's lock.
    """
    if core.shadow is None:
        return _closed(core)
    try:
        return _closed(core)
    except Exception:  # noqa: BLE001 - whatever a ledger raises
        core.shadow.failed("the end of the run")
        return None


def _closed(core: Core) -> InterruptionRecord | None:
    for child in list(core.children):
        close(child)
    modes = Modes(core)
    core.state.ended = True
    written = Writes(core, modes).lose_those_under_way()
    for entry in written:
        if core.mode is Mode.OPEN and entry.status in UNSETTLED:
            core.state.last_intent, core.state.last_tool = entry.intent, entry.tool
            modes.leave_open(left_unknown(entry, core.state.evidence[entry.key]))
    record = _record(core, modes)
    # One that is only watched ends open, whatever it has lost: whoever that holds has to find it.
    settled = core.mode is Mode.OPEN and all(entry.is_certain for entry in written)
    if settled and any(entry.run_id == core.run_id for entry in written):
        _forget_ahead(core)
    gone(core)
    return record


def _record(core: Core, modes: Modes) -> InterruptionRecord | None:
    if core.shadow is not None:
        return None  # it was held by nothing, so its end says nothing of what holds others
    record = core.ledger.record_of(core.run_id)
    if core.mode is not Mode.OPEN:
        if record is None:
            modes.keep_record()  # the store failed when the run was stopped
        return core.ledger.record_of(core.run_id)
    own = record is not None and record.token_version == core.context.token_version
    if record is not None and own and record.ended_as is None:
        core.ledger.store_record(msgspec.structs.replace(record, ended_as="resumed"))
    return None


def _forget_ahead(core: Core) -> None:
    """The run ends well: what its record would have been is of no use any more."""
    if core.ledger.durable:
        with suppress(Exception):  # it only takes room
            core.ledger.forget_ahead(core.run_id)
