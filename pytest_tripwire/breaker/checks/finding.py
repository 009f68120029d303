"""What a check may look at, and what it may say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from pytest_tripwire.breaker.accounts import Accounts
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
        reconcile: whether `entry` has to be settled by its authoritative read first.
        entry: the ledger entry that stands in the way.
        answer: a result that can be given in place of the call.
        denial: the denial that it repeats, by operation and resource.
        rule: the rule by which the breaker's own policy says no.
        any_read: whether every read is let through while it keeps the run read-only.
    """

    decision: Decision
    reason: Reason
    message: str
    evidence: tuple[int, ...] = ()
    mode: Mode | None = None
    reconcile: bool = False
    entry: WriteEntry | None = None
    answer: Any = None
    denial: tuple[str, str] | None = None
    rule: str = ""
    any_read: bool = False


def stop_for(reason: Reason, message: str) -> Finding:
    """The end of a run."""
    return Finding(decision=Decision.INTERRUPT, reason=reason, message=message, mode=Mode.STOPPED)


class DenialSeen(msgspec.Struct, frozen=True, kw_only=True):
    """A no that a tool has given.

    Args:
        rules: for each time the rule's id, or the class of the denial.
        tool: the tool that gave it.
        intents: what was denied, by intent.
        evidence: the events at which it was.
        refused: how often it was proposed again and not let through.
    """

    rules: tuple[str, ...]
    tool: str
    intents: frozenset[str]
    evidence: tuple[int, ...]
    refused: int = 0


class View(msgspec.Struct, frozen=True, kw_only=True):
    """The run as a check sees it, under the run's lock.

    Args:
        mode: what the run may still do.
        stop: why it left `open`, if it did.
        run_id: this run.
        epoch: the piece of work that is under way.
        tenant: trusted context of the run.
        accounts: the budgets.
        max_same_intent: how often one intent may be dispatched.
        executed: how often each was.
        time_left: seconds until the deadline; None without one.
        final: whether the turn under way is the last answer.
        ledger: what is known of writes.
        policy: who may do what.
        specs: what is declared about each tool, by name.
        ended: whether the run has come to its end.
        denials: what tools have denied, by operation and resource.
        policy_denials: how often the policy has said no, by operation, resource and rule.
        in_flight: how many calls of an intent have not come back yet.
        patience: fruitless steps of one kind that are executed.
        held: unknown writes that keep the run read-only, by resource.
        answers: what reconciling reads returned in this run, by the write's key.
        diagnosed: whether the one diagnosing read was used.
    """

    mode: Mode
    stop: Finding | None
    run_id: str
    epoch: str
    tenant: str
    accounts: Accounts
    max_same_intent: int | None
    executed: Mapping[str, int]
    time_left: float | None
    final: bool
    ledger: Ledger
    policy: Policy
    specs: Mapping[str, ToolSpec]
    ended: bool
    denials: Mapping[tuple[str, str], DenialSeen]
    policy_denials: Mapping[tuple[str, str, str], int]
    in_flight: Callable[[str], int]
    patience: int
    held: Mapping[str, ToolSpec]
    answers: Mapping[str, Any]
    diagnosed: bool
