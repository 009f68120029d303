"""A support desk: what it can do, one file for each kind of record."""

from __future__ import annotations

from pytest_tripwire.world.desk.customers import CREATE, FIND
from pytest_tripwire.world.desk.exports import POLL, open_job
from pytest_tripwire.world.desk.handoffs import HANDOFF
from pytest_tripwire.world.desk.knowledge import SEARCH, open_topic
from pytest_tripwire.world.desk.orders import EDIT, READ, open_order
from pytest_tripwire.world.desk.questions import ASK
from pytest_tripwire.world.desk.refunds import SIBLING_WRITE, STATUS, WRITE
from pytest_tripwire.world.desk.tickets import TICKET

#: Every part that a tool can play in some case.
OPERATIONS = (
    SEARCH, READ, STATUS, FIND, POLL, WRITE, SIBLING_WRITE, EDIT, CREATE, TICKET, HANDOFF, ASK,
)  # fmt: skip

#: Their names.
ROLES = tuple(each.role for each in OPERATIONS)

__all__ = [
    "ASK",
    "CREATE",
    "EDIT",
    "FIND",
    "HANDOFF",
    "OPERATIONS",
    "POLL",
    "READ",
    "ROLES",
    "SEARCH",
    "SIBLING_WRITE",
    "STATUS",
    "TICKET",
    "WRITE",
    "open_job",
    "open_order",
    "open_topic",
]
