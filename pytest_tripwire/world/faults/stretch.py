"""The same misbehaviour in another measure of time."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from pytest_tripwire.world.faults.plan import Fault

_SECONDS = ("before_s", "after_s")


def stretched(faults: Iterable[Fault], factor: float) -> tuple[Fault, ...]:
    """`faults` that take `factor` times as long."""
    return tuple(_stretched(each, factor) for each in faults)


def _stretched(fault: Fault, factor: float) -> Fault:
    if not isinstance(fault, msgspec.Struct):
        return fault
    fields = [name for name in _SECONDS if name in fault.__struct_fields__]
    longer = {name: getattr(fault, name) * factor for name in fields}
    return msgspec.structs.replace(fault, **longer) if longer else fault
