"""One proposal, and what may be said about it."""

from __future__ import annotations

from typing import Any

import msgspec

from pytest_tripwire.breaker.circuit.values import CircuitRefusal
from pytest_tripwire.breaker.fingerprint import Intent
from pytest_tripwire.breaker.tasks import Attempt
from pytest_tripwire.timeline import Decision, Mode, Reason, ToolCall, ToolSpec, WriteEntry


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """One call that asks to be let through.

    Args:
        call: as the model proposed it.
        spec: what is declared about its tool.
        intent: its fingerprints.
        problem: what is wrong with its arguments, where the tool's signature refuses them.
        as_a_nonce: its fingerprints if an id that the run was given were a nonce; None without one.
        turn: number that what was proposed together shares, from 1.
        attempt: the try at a task that it belongs to, if it belongs to one.
        speaker: which agent asks, in which conversation; empty where nobody says it.
    """

    call: ToolCall
    spec: ToolSpec
    intent: Intent
    problem: str = ""
    turn: int = 0
    as_a_nonce: Intent | None = None
    attempt: Attempt | None = None
    speaker: str = ""


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
        circuit: the circuit's refusal that this tells of.
        retry_after_s: seconds after which it makes sense to ask again; 0 if nobody knows.
        parks: whether the call waits for a person's yes from now on.
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
    circuit: CircuitRefusal | None = None
    retry_after_s: float = 0.0
    parks: bool = False


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
