"""Taking an interrupted run up again: a new decision, never a replay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import msgspec

from pytest_tripwire.breaker.finding import Finding
from pytest_tripwire.breaker.fingerprint import UNDECLARED
from pytest_tripwire.breaker.port import Ledger
from pytest_tripwire.breaker.progress.step import version_text
from pytest_tripwire.breaker.records import UNSETTLED
from pytest_tripwire.breaker.state import RunContext
from pytest_tripwire.guard import arguments
from pytest_tripwire.guard.token import decode
from pytest_tripwire.ledger.lost import holding, look_for_lost, writes_of
from pytest_tripwire.timeline import (
    Became,
    Decision,
    InterruptionRecord,
    Mode,
    Reason,
    SafeAction,
    WriteEntry,
)

#: Says whether an operator may do this to this record: True, or False.
Authorise: TypeAlias = Callable[[str, InterruptionRecord, SafeAction], bool]
#: The version of a record as it is now, by its reference; None when it cannot be told.
Reload: TypeAlias = Callable[[str], str | None]
_WHERE = "Breaker.resume"

_READ_ONLY = "This run was taken up read-only: nothing is written."
_UNDECLARED = (
    " Nobody has declared what names it, so its version cannot be asked for: give the tool that "
    "reads it an identity."
)
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
        inputs: what it would be given to work on now; others than the run had make a new run.

    Raises:
        TypeError: a field is not of its kind. The store keeps the operator's name, and reads it for
            everybody who looks at its records.
    """

    run_id: str
    token_version: int
    operator: str
    workflow: str = ""
    read_only: bool = False
    inputs: str = ""

    def __post_init__(self) -> None:
        """Refuse what is not of its kind. Raises TypeError with the field."""
        for name in ("run_id", "operator", "workflow", "inputs"):
            plain = arguments.text("Resume", name, getattr(self, name))
            msgspec.structs.force_setattr(self, name, plain)
        arguments.count("Resume", "token_version", self.token_version)
        arguments.flag("Resume", "read_only", self.read_only)

    @classmethod
    def from_token(
        cls, text: str, *, operator: str, workflow: str = "", inputs: str = ""
    ) -> Resume:
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
            inputs=inputs,
        )

    @property
    def action(self) -> SafeAction:
        """The action as records name it."""
        return SafeAction.RESUME_READ_ONLY if self.read_only else SafeAction.RESUME


#: Says whether a run of the record's workflow and policy may go on as what is wanted.
Compatible: TypeAlias = Callable[[InterruptionRecord, Resume], bool]


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """A run that was taken up.

    Args:
        record: what the interruption has left, its writes as they are known now.
        limit: why it may only read, if it may only read.
        new_id: of the new run, where the inputs are others; empty for the same run.
    """

    record: InterruptionRecord
    limit: Finding | None = None
    new_id: str = ""

    @property
    def is_new(self) -> bool:
        """Whether it goes on as a new run."""
        return bool(self.new_id)

    def context(self, now: float) -> RunContext:
        """The context of the run that goes on, `now` in seconds on the breaker's clock. A new run
        is the same piece of work, so that it repeats nothing, and has budgets of its own.
        """
        record = self.record
        return RunContext(
            run_id=self.new_id or record.run_id,
            tenant=record.tenant,
            workflow=record.workflow,
            request_id=record.request_id or (record.run_id if self.is_new else ""),
            started_at=now if self.is_new else now - record.elapsed_s,
            token_version=1 if self.is_new else record.token_version + 1,
            parent="" if self.is_new else record.parent,
            agent=record.agent,
            inputs=record.inputs,
            continues=record.run_id if self.is_new else record.continues,
        )


def same_versions(policy: str) -> Compatible:
    """The default: workflow and policy are the same, as far as both sides name them."""

    def compatible(record: InterruptionRecord, wanted: Resume) -> bool:
        pairs = ((record.workflow, wanted.workflow), (record.policy, policy))
        return all(was == now or not (was and now) for was, now in pairs)

    return compatible


def take_up(
    ledger: Ledger,
    wanted: Resume,
    *,
    authorise: Authorise,
    reload: Reload,
    compatible: Compatible,
    now: float,
    new_id: Callable[[], str],
) -> Taken:
    """The run that may go on. `now` is seconds on the breaker's clock.

    Raises:
        ResumeRefusedError: when it may not go on at all.
        TypeError: somebody who was asked has answered what is no answer.
    """
    record = _found(ledger, wanted, now)
    _permitted(record, wanted, authorise, compatible)
    unsettled = _unsettled((*record.writes, *holding(ledger, record, now)), wanted)
    if unsettled is not None:
        # What is unsettled may be what the one who was faster is writing.
        raise _too_late(wanted) if _is_late(ledger, wanted) else unsettled
    if wanted.inputs and record.inputs and wanted.inputs != record.inputs:
        return _linked(ledger, record, wanted, new_id())
    limit = _limit(record, wanted, reload)
    claimed = ledger.claim(
        wanted.run_id, wanted.token_version, operator=wanted.operator, action=wanted.action
    )
    if claimed is None:
        raise _too_late(wanted)
    return Taken(record=record, limit=limit)


def _found(ledger: Ledger, wanted: Resume, now: float) -> InterruptionRecord:
    record = ledger.record_of(wanted.run_id)
    if record is None or record.ended_as is not None:
        record = look_for_lost(ledger, wanted.run_id, now) or record
    if record is None:
        raise ResumeRefusedError(f"no interrupted run has the id {wanted.run_id!r}")
    return msgspec.structs.replace(record, writes=writes_of(ledger, record, now))


def _linked(ledger: Ledger, record: InterruptionRecord, wanted: Resume, new_id: str) -> Taken:
    """A new run, as what it is to work on has changed."""
    end: Any = getattr(ledger, "end", None)
    if end is None:
        raise ResumeRefusedError(
            f"run {record.run_id} was given {record.inputs!r}, and this is {wanted.inputs!r}: that "
            "is a new run, and this store keeps no links. Begin one by Breaker.run()"
        )
    ended = end(
        record.run_id,
        wanted.token_version,
        Became.CONTINUED,
        operator=wanted.operator,
        detail=new_id,
    )
    if ended is None:
        raise _too_late(wanted)
    reading = _finding(record.reason, _READ_ONLY) if wanted.read_only else None
    return Taken(record=record, limit=reading, new_id=new_id)


def _too_late(wanted: Resume) -> ResumeRefusedError:
    return ResumeRefusedError(
        f"run {wanted.run_id} was taken up by somebody else: the token version is no longer "
        f"{wanted.token_version}. Look at its record again"
    )


def _permitted(
    record: InterruptionRecord, wanted: Resume, authorise: Authorise, compatible: Compatible
) -> None:
    if record.ended_as is not None:
        raise ResumeRefusedError(f"run {record.run_id} is over: it ended as {record.ended_as}")
    may = authorise(wanted.operator, record, wanted.action)
    if not arguments.yes(_WHERE, "authorise", authorise, may):
        raise ResumeRefusedError(
            f"{wanted.operator!r} may not {wanted.action} runs of tenant {record.tenant!r}"
        )
    fits = compatible(record, wanted)
    if not arguments.yes(_WHERE, "compatible", compatible, fits):
        policy = f" under policy {record.policy}" if record.policy else ""
        raise ResumeRefusedError(
            f"run {record.run_id} was one of {record.workflow or 'no named workflow'}{policy}, and "
            f"this is {wanted.workflow or 'another'}, or under another policy. Start a new run "
            "instead, or say by resume(compatible=...) that it may go on"
        )


def _is_late(ledger: Ledger, wanted: Resume) -> bool:
    record = ledger.record_of(wanted.run_id)
    return record is not None and record.token_version != wanted.token_version


def _unsettled(writes: Sequence[WriteEntry], wanted: Resume) -> ResumeRefusedError | None:
    """Every unknown write is reconciled: the run's own, and those of others that hold it."""
    unsettled = [entry.tool for entry in writes if entry.status in UNSETTLED]
    if not unsettled or wanted.read_only:
        return None
    return ResumeRefusedError(
        f"the outcome of {', '.join(unsettled)} is unknown: reconcile first, or resume read-only"
    )


def _limit(record: InterruptionRecord, wanted: Resume, reload: Reload) -> Finding | None:
    for each in record.versions:
        told: object = reload(each.resource)  # whatever the annotation says
        arguments.at_once(_WHERE, "reload", reload, told)
        # As the version of a result is read, so that 8 is no other than "8".
        now = version_text(told)
        if now != each.version:
            text = _STALE.format(resource=each.resource, seen=each.version, now=now or "unknown")
            text += _UNDECLARED if each.resource.startswith(UNDECLARED) else ""
            return _finding(Reason.STALE_RESUME, text)
    return _finding(record.reason, _READ_ONLY) if wanted.read_only else None


def _finding(reason: Reason, message: str) -> Finding:
    return Finding(
        decision=Decision.ALLOW_READ_ONLY,
        reason=reason,
        message=message,
        mode=Mode.READ_ONLY,
        any_read=True,
    )
