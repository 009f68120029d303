"""What one process of the agent is to do, and what it tells of it. Plain data for both sides."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

import msgspec

#: Where the tools are: the environment's only variable that is not serve's.
TOOLS_URL = "TOOLS_URL"
OPERATOR = "ada"


class Where(StrEnum):
    """Where SIGKILL meets a process."""

    ASKED = "asked"  #: The model has answered, no tool was asked.
    BEFORE = "before"  #: The write is in the store, and the world knows nothing of it.
    WITHIN = "within"  #: The world has done it, and the breaker does not know yet.
    AFTER = "after"  #: The breaker knows.
    STOPPED = "stopped"  #: The record of the interruption has just been stored.


#: Where, and the how manieth time that it comes there.
Death: TypeAlias = tuple[Where, int]


class Twin(StrEnum):
    """What a bad twin does worse."""

    FORGETS = "forgets the store"
    RETRIES = "retries by itself"
    ANEW = "begins anew instead of resuming"
    BELIEVES = "believes that nothing has changed"
    SYSTEM_CLOCK = "counts its deadline by the system's clock"


class Life(msgspec.Struct, frozen=True, kw_only=True):
    """One process of the agent.

    Args:
        store: URL of the store.
        workflow: its workflow.
        request_id: the message that it works on.
        token: the operator's line, if it takes a run up.
        deadline_s: of the run; None for none.
        waits: whether it ends by waiting for an operator's word.
        reconciles: whether its refund declares the read that settles it.
        dies: where it is killed.
        twin: what it does worse.
        meeting: a folder in which it waits, when it has read the record and before it takes the run
            up, until so many have come as resume at once.
        crowd: how many.
    """

    store: str
    workflow: str
    request_id: str
    token: str = ""
    deadline_s: float | None = None
    waits: bool = False
    reconciles: bool = False
    dies: Death | None = None
    twin: Twin | None = None
    meeting: str = ""
    crowd: int = 1


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What a process says of its end.

    Args:
        ended: `answered`, `interrupted`, `refused` to resume, `killed`, or `failed`.
        reason: why it was interrupted.
        message: the same in words.
    """

    ended: str
    reason: str = ""
    message: str = ""
