"""The fake business: versioned records, deliveries and mutations, and faults laid over tools."""

from pytest_tripwire.world.clock import VirtualClock
from pytest_tripwire.world.faults import Fault, LostAnswer
from pytest_tripwire.world.operation import Done, Operation, Slots
from pytest_tripwire.world.records import Record, Records, UnknownRecordError
from pytest_tripwire.world.roles import AMOUNT, NONCE, RESOURCE, WORDING, Role, Slot
from pytest_tripwire.world.stage import Stage
from pytest_tripwire.world.toolset import BindingError, Toolset

__all__ = [
    "AMOUNT",
    "NONCE",
    "RESOURCE",
    "WORDING",
    "BindingError",
    "Done",
    "Fault",
    "LostAnswer",
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
]
