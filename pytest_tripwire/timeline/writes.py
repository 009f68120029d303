"""What is known of one write: the entry that outlives the call."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class WriteStatus(StrEnum):
    """How certain the effect of a write is. `in_flight` and `unknown` may have happened."""

    IN_FLIGHT = "in_flight"
    UNKNOWN = "unknown"
    CONFIRMED = "confirmed"
    REJECTED = "rejected"


class WriteEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One write, recorded before it is dispatched. References and fingerprints, no payload.

    Args:
        key: the breaker's own idempotency key, unique for each attempt.
        run_id: the run that proposed it.
        epoch: the piece of work it belongs to; a repeat within it is a duplicate.
        tool: the tool that was called.
        kind: its operation class.
        resource: fingerprint of tenant, operation and identity arguments.
        intent: fingerprint of the resource and all that the write would do to it.
        status: what is certain.
        dispatched_at: seconds on the run's clock.
        result_id: stable id of what was written, once it is known.
        reconciled: whether the authoritative read has said something about it already.
        came_back: whether the call is known to have ended; while it may still be running, a read
            that shows nothing proves nothing.
        tenant: on whose behalf.
        workflow: workflow and version of the run.
        owner: the process that makes the write; empty where no other process can see the entry.
        lease_until: seconds on the breaker's clock until which the owner answers for it. One that
            is in flight past that reads as unknown to everybody else. None where it never ends.
        seq: position in the ledger, given by the ledger.
    """

    key: str
    run_id: str
    epoch: str
    tool: str
    kind: str
    resource: str
    intent: str
    dispatched_at: float
    status: WriteStatus = WriteStatus.IN_FLIGHT
    result_id: str | None = None
    reconciled: bool = False
    came_back: bool = False
    tenant: str = ""
    workflow: str = ""
    owner: str = ""
    lease_until: float | None = None
    seq: int = 0

    @property
    def is_certain(self) -> bool:
        """Whether it is known what became of it."""
        return self.status in {WriteStatus.CONFIRMED, WriteStatus.REJECTED}
