"""What a check may look at, and what it may say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from pytest_tripwire.breaker.budget import Accounts
from pytest_tripwire.breaker.fingerprint import Intent
from pytest_tripwire.breaker.port import Ledger, Policy
from pytest_tripwire.timeline import Decision, Mode, Reason, ToolCall, ToolSpec, WriteEntry


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """One call that asks to be let through.

    Args:
        call: as the model proposed it.
        spec: what is declared about its tool.
        intent: its fingerprints.
        problem: what is wrong with its arguments, where the tool's signature refuses them.
    """

    call: ToolCall
    spec: ToolSpec
    intent: Intent
    problem: str = ""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A reason to do other than allow.

    Args:
        decision: what becomes of the call.
        reason: why.
        message: what the model is told.
        evidence: sequence numbers of the events that this rests on.
        mode: the mode the run has to enter, if it has to.
        reconcile: a write that has to be settled by its authoritative read first.
        entry: the ledger entry that stands in the way.
        answer: a result that can be given in place of the call.
    """

    decision: Decision
    reason: Reason
    message: str
    evidence: tuple[int, ...] = ()
    mode: Mode | None = None
    reconcile: WriteEntry | None = None
    entry: WriteEntry | None = None
    answer: Any = None


class View(msgspec.Struct, frozen=True, kw_only=True):
    """The run as a check sees it, under the run's lock.

    Args:
        mode: what the run may still do.
        stop: why it left `open`, if it did.
        epoch: the piece of work that is under way.
        accounts: the budgets.
        ledger: what is known of writes.
        policy: who may do what.
        held: unknown writes that keep the run read-only, by resource.
        answers: what reconciling reads returned in this run, by the write's key.
        tenant: trusted context of the run.
    """

    mode: Mode
    stop: Finding | None
    epoch: str
    accounts: Accounts
    ledger: Ledger
    policy: Policy
    held: Mapping[str, ToolSpec]
    answers: Mapping[str, Any]
    tenant: str
