"""The typed record that an interruption leaves, from which a person can go on."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from pytest_tripwire.timeline.call import Mode
from pytest_tripwire.timeline.reasons import Reason
from pytest_tripwire.timeline.writes import WriteEntry


class SafeAction(StrEnum):
    """What may be done with an interrupted run without doing anything twice."""

    INSPECT = "inspect"
    RECONCILE = "reconcile"
    RESUME_READ_ONLY = "resume_read_only"
    RESUME = "resume"
    CLOSE = "close"


class BudgetLine(msgspec.Struct, frozen=True, kw_only=True):
    """One budget dimension at the moment of a snapshot, in the dimension's own unit."""

    name: str
    limit: float
    spent: float
    remaining: float


class Used(msgspec.Struct, frozen=True, kw_only=True):
    """What is used of one dimension, limited or not, in the dimension's own unit."""

    name: str
    spent: float


class Times(msgspec.Struct, frozen=True, kw_only=True):
    """How often something was done, by its fingerprint or its id."""

    name: str
    times: int


class SeenVersion(msgspec.Struct, frozen=True, kw_only=True):
    """A record that the run has read, by its reference, and the version that it was shown."""

    resource: str
    version: str


class ChangedNote(msgspec.Struct, frozen=True, kw_only=True):
    """A record that others have changed since the run has read it.

    Args:
        resource: its reference; empty where only the version was told.
        was: the version that it had before; empty if nobody has said.
    """

    resource: str = ""
    was: str = ""


class DenialNote(msgspec.Struct, frozen=True, kw_only=True):
    """A no that a tool has given. It outlives an interruption, as the rule does.

    Args:
        kind: operation class of the tool.
        resource: fingerprint of what was asked about.
        rules: the rules, or the classes of the denials, in order.
        tool: the tool that said no last.
        intents: fingerprints of what was denied.
        refused: how often it was proposed again and not let through.
    """

    kind: str
    resource: str
    rules: tuple[str, ...]
    tool: str
    intents: tuple[str, ...]
    refused: int


class StepNote(msgspec.Struct, frozen=True, kw_only=True):
    """One of the last things that a run has done, for whoever reads its record.

    Args:
        seq: number of the event.
        at_s: seconds since the run began.
        what: kind of event, e.g. `decided` or `settled`.
        tool: the tool, where it is about one.
        outcome: the decision, the status or the mode, as its string.
        reason: why, where there is one.
    """

    seq: int
    at_s: float
    what: str
    tool: str = ""
    outcome: str = ""
    reason: str = ""


class InterruptionRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Stored before the run is let go. References and fingerprints only, never payloads.

    Args:
        run_id: the interrupted run.
        tenant: trusted context of the run, never taken from the model.
        workflow: workflow and version, e.g. `refunds@4`.
        request_id: the piece of work; a run that goes on repeats none of its writes.
        parent: the run that it worked for, if it was the run of a sub-agent.
        agent: that sub-agent.
        mode: what the run was left in.
        reason: why it was interrupted.
        message: the same in a sentence.
        evidence: sequence numbers of the events it rests on.
        budgets: what was spent and what was left.
        last_intent: fingerprint of the call that was not let through, or of the write that was
            left unsettled.
        last_resource: reference of the record that was read last, by its declared identity.
        business_version: the version of it that the run has seen.
        versions: every record that the run has read and may write on, and its version.
        denials: what tools have denied it.
        elapsed_s: seconds of its time that the run had used.
        writes: every write of the run and how certain it is.
        held: fingerprints of what the run is held by: things of which somebody's write is unknown,
            its own or another run's.
        safe_actions: what a person may do next.
        token_version: raised at each resume; two resumers cannot both win.
        ended_as: what became of the interruption, once it is over.
        policy: version of the policy of the run; empty if nobody has said.
        inputs: what the run was given to work on, as its caller names it; empty if nobody has said.
        continues: the interrupted run that this one goes on from with other inputs.
        last_tool: the tool of that call or write.
        at: when it was interrupted, in seconds on the breaker's clock.
        steps: the last things that the run did, oldest first.
        messages: how often the user had spoken.
        changed: what others have changed, and the run has not read again since.
        spent: what is used of each dimension, limited or not.
        doubtful: keys of writes that are among what is spent and may turn out not to have happened.
        executed: dispatches by intent, where they are limited; those with most of them.
        attempts: tries by task; those with most of them.
    """

    run_id: str
    tenant: str
    workflow: str
    mode: Mode
    reason: Reason
    message: str
    evidence: tuple[int, ...]
    budgets: tuple[BudgetLine, ...]
    last_intent: str
    writes: tuple[WriteEntry, ...]
    safe_actions: tuple[SafeAction, ...]
    request_id: str = ""
    parent: str = ""
    agent: str = ""
    last_resource: str = ""
    business_version: str = ""
    versions: tuple[SeenVersion, ...] = ()
    denials: tuple[DenialNote, ...] = ()
    elapsed_s: float = 0.0
    token_version: int = 1
    ended_as: str | None = None
    policy: str = ""
    inputs: str = ""
    continues: str = ""
    last_tool: str = ""
    at: float = 0.0
    held: tuple[str, ...] = ()
    steps: tuple[StepNote, ...] = ()
    messages: int = 0
    changed: tuple[ChangedNote, ...] = ()
    spent: tuple[Used, ...] = ()
    doubtful: tuple[str, ...] = ()
    executed: tuple[Times, ...] = ()
    attempts: tuple[Times, ...] = ()
