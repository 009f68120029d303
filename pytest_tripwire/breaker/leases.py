"""For how long a process answers for a write that it has begun.

A worker that dies leaves its writes in flight for ever. So each carries the moment until which its
owner answers for it; past that, others take it for lost, and have it reconciled.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from pytest_tripwire.timeline import ToolSpec, WriteEntry, WriteStatus

#: Seconds that a write has by default: more than any client waits for an answer.
LEASE_S = 300.0
#: A tool that is expected to take long has this many times as long.
_SPARE = 3.0


def lease_of(spec: ToolSpec, lease_s: float) -> float:
    """Seconds for which a write of this tool is answered for."""
    return max(lease_s, _SPARE * (spec.expected_duration_s or 0.0))


def nobody_is_gone(_owner: str) -> bool:
    """Where nothing is known of other processes."""
    return False


def as_read(
    entry: WriteEntry,
    *,
    now: float,
    mine: bool = False,
    gone: Callable[[str], bool] = nobody_is_gone,
) -> WriteEntry:
    """An entry as somebody reads it: unknown once its lease is over. Only who has it under way,
    whose it is then, knows better. The lease of one that is certainly `gone` is over now.
    """
    if mine or entry.is_certain or entry.came_back or entry.lease_until is None:
        return entry
    if is_lease_over(entry, now=now):
        return msgspec.structs.replace(entry, status=WriteStatus.UNKNOWN)
    if entry.owner and gone(entry.owner):
        return msgspec.structs.replace(entry, status=WriteStatus.UNKNOWN, lease_until=now)
    return entry


def is_lease_over(entry: WriteEntry, *, now: float) -> bool:
    """Whether the maker of a write no longer answers for it."""
    return entry.lease_until is not None and entry.lease_until <= now


def last_sent(entry: WriteEntry, *, now: float) -> float:
    """The last moment at which a write may have been sent, in seconds on the breaker's clock: one
    whose call never came back may have been sent until its maker no longer answered for it.
    """
    lost = not entry.came_back and is_lease_over(entry, now=now)
    return max(entry.dispatched_at, entry.lease_until or 0.0) if lost else entry.dispatched_at


def is_over(entry: WriteEntry, *, now: float) -> bool:
    """Whether a write is certainly not being made any more, as far as its maker keeps its word."""
    return entry.came_back or is_lease_over(entry, now=now)
