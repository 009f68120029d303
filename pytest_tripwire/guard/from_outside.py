"""What happens to a run from outside of it, told by a caller that has been authenticated."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pytest_tripwire.breaker.controller import Controller
from pytest_tripwire.guard.arguments import count, number, text
from pytest_tripwire.timeline import ToolCall, WriteStatus

_CERTAIN = (WriteStatus.CONFIRMED, WriteStatus.REJECTED)


class FromOutside:
    """Takes what is neither a call nor a model request; part of `BreakerRun`."""

    run_id: str
    _controller: Controller

    def user_message(self) -> None:
        """The user has said something. It opens a new epoch, in which anything may be asked for,
        and done, again. A write whose outcome is unknown stays held all the same.

        Call it for what a person has said, and nothing that a model or a tool gave.
        """
        self._controller.outside.user_message()

    def changed(self, resource: str, was: str = "") -> None:
        """Somebody else has changed a record. What this run has read of it is no longer true: a
        write on it is refused (`stale_resume`) until it has been read again, and an approval that
        rests on it has to be given anew.

        Args:
            resource: its reference, as it stands in arguments, e.g. `A-1`.
            was: the business version that it had before, where that is known.

        Raises:
            TypeError: one is no text.
            ValueError: neither is given.
        """
        resource = text("changed", "resource", resource)
        was = text("changed", "was", was)
        if not resource and not was:
            raise ValueError("changed(): say which record, or which version it had before")
        self._controller.outside.changed(resource, was=was)

    def approve(
        self,
        call_id: str,
        *,
        expires_s: float | None = None,
        attempts: int = 1,
        version: str = "",
        operator: str = "",
    ) -> None:
        """A person has said yes to a call that was put up for approval (`REQUIRE_APPROVAL`). When
        it is proposed again it is decided afresh; nothing was reserved for it meanwhile.

        Args:
            call_id: the call that was put up.
            expires_s: seconds for which the yes holds; for ever by default.
            attempts: how often the call may run.
            version: the business version of what it acts on, as the person saw it.
            operator: who has said yes.

        Raises:
            LookupError: no call of this id waits for a yes.
            TypeError: the id, the version or the operator is no text.
            ValueError: no yes could be of such a length, or for so many attempts.
        """
        check_yes(expires_s=expires_s, attempts=attempts)
        call_id = text("approve", "call_id", call_id)
        version = text("approve", "version", version)
        operator = text("approve", "operator", operator)
        granted = self._controller.outside.approve(
            call_id, expires_s=expires_s, attempts=attempts, version=version, operator=operator
        )
        if not granted:
            raise LookupError(nothing_waits(self.run_id, call_id))

    def resolve(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        status: WriteStatus | str,
        result_id: str | None = None,
    ) -> int:
        """Somebody knows for certain what became of the unknown writes that a call like this one
        has made. Returns how many of them this settles.

        Args:
            tool: a tool of this run that would make the write.
            arguments: what it would be called with.
            status: `confirmed` or `rejected`.
            result_id: the stable id of what was written, where there is one.

        Raises:
            LookupError: there is no such tool.
            TypeError: the result's id is no text.
            ValueError: the status says nothing for certain.
        """
        if result_id is not None:
            result_id = text("resolve", "result_id", result_id)
        if status not in _CERTAIN:
            raise ValueError(
                f"resolve(status={str(status)!r}): say 'confirmed' or 'rejected'; nothing else is "
                "certain"
            )
        if not self._controller.has_tool(tool):
            raise LookupError(
                f"resolve({tool!r}): there is no such tool in run {self.run_id}. Guard it first"
            )
        call = ToolCall(call_id="resolve", tool=tool, arguments=dict(arguments))
        return self._controller.outside.resolve(call, WriteStatus(status), result_id)


def check_yes(*, expires_s: float | None, attempts: int) -> None:
    """Raises ValueError where no yes could be of such a length, or for so many attempts, and
    TypeError where they are no numbers.
    """
    count("approve", "attempts", attempts)
    if expires_s is not None:
        number("approve", "expires_s", expires_s)
    if expires_s is not None and not (math.isfinite(expires_s) and expires_s > 0):
        raise ValueError(f"approve(expires_s={expires_s!r}): seconds, more than 0, or None")
    if attempts < 1:
        raise ValueError(f"approve(attempts={attempts!r}): 1 or more")


def nothing_waits(run_id: str, call_id: str) -> str:
    """What is told where no such call waits for a yes."""
    return (
        f"approve({call_id!r}): no such call of run {run_id} waits for a yes. Give the id of a "
        "call of this run that was answered with REQUIRE_APPROVAL"
    )
