"""What became of an interruption, one line for each thing that happened to it."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from pytest_tripwire.timeline.reasons import Reason


class Became(StrEnum):
    """What happened to an interrupted run. All but the first two end the interruption."""

    INTERRUPTED = "interrupted"
    RESOLVED = "resolved"
    RESUMED = "resumed"
    RESUMED_READ_ONLY = "resumed_read_only"
    RECONCILED = "reconciled"
    CONTINUED = "continued"
    CLOSED = "closed"


class Happening(msgspec.Struct, frozen=True, kw_only=True):
    """One line of what became of an interruption.

    Args:
        run_id: the interrupted run.
        became: what happened.
        at: when, in seconds since the epoch of Unix, by the store's clock.
        reason: why the run was interrupted.
        workflow: its workflow and version.
        tool: the tool whose call was not let through; empty if it was none.
        operator: who did it; empty where nobody has.
        token_version: of the record by then.
        detail: what it was done to or leads to, such as the key of a write or the id of a new run.
        seq: position in the store, given by the store.
    """

    run_id: str
    became: Became
    at: float
    reason: Reason
    workflow: str = ""
    tool: str = ""
    operator: str = ""
    token_version: int = 1
    detail: str = ""
    seq: int = 0


class Count(msgspec.Struct, frozen=True, kw_only=True):
    """How many interruptions of one kind there were, by what became of them; `became` is empty for
    those that nobody has taken up or closed yet.
    """

    reason: Reason
    workflow: str
    tool: str
    became: str
    number: int
