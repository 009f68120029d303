"""One proposed tool call, what became of it, and what the breaker said."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Any

import msgspec

from pytest_tripwire.timeline.reasons import Reason


class Decision(StrEnum):
    """What may happen to a proposed call."""

    ALLOW = "ALLOW"
    ALLOW_READ_ONLY = "ALLOW_READ_ONLY"
    REQUIRE_APPROVAL = "REQUIRE_APPROVAL"
    REFUSE = "REFUSE"
    INTERRUPT = "INTERRUPT"


class Mode(StrEnum):
    """What a run may still do."""

    OPEN = "open"
    READ_ONLY = "read_only"
    STOPPED = "stopped"


class Status(StrEnum):
    """What is certain about a call that ran."""

    OK = "ok"
    DENIED = "denied"
    DEFINITE = "definite"
    TRANSIENT = "transient"
    UNKNOWN = "unknown"


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call as the model proposed it.

    Args:
        call_id: the model's id of the call, or one minted by the guard.
        tool: the tool's name.
        arguments: by name, as the tool will get them.
        agent: the (sub-)agent that proposes it, where that is known.
    """

    call_id: str
    tool: str
    arguments: Mapping[str, Any]
    agent: str | None = None


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came back from a call that was dispatched.

    Args:
        status: `ok`, or which kind of failure.
        result: the tool's own result. Never stored, never recorded.
        error: the class of the error, never its text.
        rule: the rule by which policy said no.
        version: business version after the call, or the one that it showed; by default what the
            result's declared field says.
        cost_usd: what the call has cost, US dollars, besides what its result says; None if
            nobody knows.
    """

    status: Status
    result: Any = None
    error: str | None = None
    rule: str | None = None
    version: str = ""
    cost_usd: Decimal | None = None

    def __post_init__(self) -> None:
        """Take a status by its plain name too; raises ValueError for one that does not exist."""
        status: object = self.status  # as the caller gave it, whatever the annotation says
        if not isinstance(status, Status):
            msgspec.structs.force_setattr(self, "status", Status(str(status)))


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What the breaker decided about one call.

    Args:
        decision: only `ALLOW` lets the call run.
        reason: why, for everything but a plain `ALLOW`.
        message: what to tell the model; says what to do instead.
        evidence: sequence numbers of the events that this rests on.
        answer: for a write that is already done, what a read of it returned.
        retry_after_s: seconds after which it makes sense to ask again; 0 if nobody knows.
    """

    decision: Decision
    reason: Reason | None = None
    message: str = ""
    evidence: tuple[int, ...] = ()
    answer: Any = None
    retry_after_s: float = 0.0

    @property
    def allowed(self) -> bool:
        """Whether the call may be dispatched."""
        return self.decision is Decision.ALLOW

    def as_result(self) -> Refusal:
        """The result that the model gets in place of the tool's own."""
        body = Refusal(
            refused=True,
            reason=str(self.reason) if self.reason else None,
            message=self.message,
        )
        if self.answer is not None:
            body["result"] = self.answer
        return body


class Refusal(dict[str, Any]):
    """What a guard gives in place of a tool's result: a mapping like any other, which another guard
    around it does not take for the tool's.
    """


ALLOW = Verdict(decision=Decision.ALLOW)
