"""The fake business: versioned records, deliveries and mutations, and faults laid over tools."""

from pytest_tripwire.world.clock import VirtualClock
from pytest_tripwire.world.operation import Done, Operation, Slots
from pytest_tripwire.world.records import Record, Records, UnknownRecordError
from pytest_tripwire.world.roles import (
    AMOUNT,
    CURSOR,
    DETAIL,
    FIELD,
    NONCE,
    RESOURCE,
    TARGET,
    VALUE,
    WORDING,
    Role,
    Slot,
)
from pytest_tripwire.world.stage import Stage
from pytest_tripwire.world.toolset import BindingError, Toolset, check_roles, tool_names

__all__ = [
    "AMOUNT",
    "CURSOR",
    "DETAIL",
    "FIELD",
    "NONCE",
    "RESOURCE",
    "TARGET",
    "VALUE",
    "WORDING",
    "BindingError",
    "Done",
    "Operation",
    "Record",
    "Records",
    "Role",
    "Slot",
    "Slots",
    "Stage",
    "Toolset",
    "UnknownRecordError",
    "VirtualClock",
    "check_roles",
    "tool_names",
]
