"""Taking an interrupted run up again: a new decision, never a replay."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import msgspec

from pytest_tripwire.breaker.finding import Finding
from pytest_tripwire.breaker.port import Ledger
from pytest_tripwire.breaker.records import UNSETTLED
from pytest_tripwire.guard.token import decode
from pytest_tripwire.timeline import Decision, InterruptionRecord, Mode, Reason, SafeAction

#: Says whether an operator may do this to this record.
Authorise: TypeAlias = Callable[[str, InterruptionRecord, SafeAction], bool]
#: The version of a record as it is now, by its reference; None when it cannot be told.
Reload: TypeAlias = Callable[[str], str | None]

_STALE = (
    "The record {resource} has changed while this run was interrupted (version {seen}, now {now}). "
    "Nothing is written on what was true before: read it again, and say what has changed."
)


class ResumeRefusedError(Exception):
    """The run was not taken up; nothing has changed. The message says why."""


class Resume(msgspec.Struct, frozen=True, kw_only=True):
    """What an operator asks for.

    Args:
        run_id: the interrupted run.
        token_version: of the record that the operator has seen; of several who resume, one wins.
        operator: who asks.
        workflow: workflow and version of the code that would go on.
        read_only: go on without writing.
    """

    run_id: str
    token_version: int
    operator: str
    workflow: str = ""
    read_only: bool = False

    @classmethod
    def from_token(cls, text: str, *, operator: str, workflow: str = "") -> Resume:
        """What the line of `agent-tripwire records resume-token` asks for. It grants nothing:
        `operator` is who asks by your own authentication. Raises ValueError for any other text.
        """
        token = decode(text)
        return cls(
            run_id=token.run_id,
            token_version=token.token_version,
            operator=operator,
            workflow=workflow,
            read_only=token.read_only,
        )

    @property
    def action(self) -> SafeAction:
        """The action as records name it."""
        return SafeAction.RESUME_READ_ONLY if self.read_only else SafeAction.RESUME


def take_up(
    ledger: Ledger, wanted: Resume, *, authorise: Authorise, reload: Reload
) -> tuple[InterruptionRecord, Finding | None]:
    """The record of a run that may go on, and why it may only read, if it may only read.

    Raises:
        ResumeRefusedError: when it may not go on at all.
    """
    record = ledger.record_of(wanted.run_id)
    if record is None:
        raise ResumeRefusedError(f"no interrupted run has the id {wanted.run_id!r}")
    _permitted(record, wanted, authorise)
    limit = _limit(record, wanted, reload)
    if ledger.claim(wanted.run_id, wanted.token_version) is None:
        raise ResumeRefusedError(
            f"run {wanted.run_id} was taken up by somebody else: the token version is no longer "
            f"{wanted.token_version}. Look at its record again"
        )
    return record, limit


def _permitted(record: InterruptionRecord, wanted: Resume, authorise: Authorise) -> None:
    if record.ended_as is not None:
        raise ResumeRefusedError(f"run {record.run_id} is over: it ended as {record.ended_as}")
    if not authorise(wanted.operator, record, wanted.action):
        raise ResumeRefusedError(
            f"{wanted.operator!r} may not {wanted.action} runs of tenant {record.tenant!r}"
        )
    if wanted.workflow and record.workflow and wanted.workflow != record.workflow:
        raise ResumeRefusedError(
            f"run {record.run_id} was one of {record.workflow}, and this is {wanted.workflow}. "
            "Start a new run instead"
        )
    unsettled = [entry.tool for entry in record.writes if entry.status in UNSETTLED]
    if unsettled and not wanted.read_only:
        raise ResumeRefusedError(
            f"the outcome of {', '.join(unsettled)} is unknown: reconcile first, or resume "
            "read-only"
        )


def _limit(record: InterruptionRecord, wanted: Resume, reload: Reload) -> Finding | None:
    for each in record.versions:
        now = reload(each.resource)
        if now != each.version:
            text = _STALE.format(resource=each.resource, seen=each.version, now=now or "unknown")
            return _finding(Reason.STALE_RESUME, text)
    if wanted.read_only:
        return _finding(record.reason, "This run was taken up read-only: nothing is written.")
    return None


def _finding(reason: Reason, message: str) -> Finding:
    return Finding(
        decision=Decision.ALLOW_READ_ONLY,
        reason=reason,
        message=message,
        mode=Mode.READ_ONLY,
        any_read=True,
    )
