"""The interruption record of a run, made from what the run knows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from pytest_tripwire.breaker.finding import DenialSeen, Finding
from pytest_tripwire.breaker.state import RunState
from pytest_tripwire.breaker.steps import steps_of
from pytest_tripwire.breaker.telling import MOST_STEPS
from pytest_tripwire.timeline import (
    Decision,
    DenialNote,
    InterruptionRecord,
    Mode,
    Reason,
    SafeAction,
    SeenVersion,
    WriteEntry,
    WriteStatus,
)

if TYPE_CHECKING:
    from pytest_tripwire.breaker.core import Core

_DIED = (
    "The process of this run ended, or lost touch, while {tool} was on its way. Nobody knows yet "
    "what became of it."
)
#: Steps of a run that are kept with each of its writes: every one is written to the disk each time.
_STEPS_AHEAD = 10
UNSETTLED = frozenset({WriteStatus.UNKNOWN, WriteStatus.IN_FLIGHT})


def record(
    core: Core, stop: Finding, *, writes: tuple[WriteEntry, ...], most_steps: int = MOST_STEPS
) -> InterruptionRecord:
    """What a person needs to go on from here without doing anything twice."""
    context, state = core.context, core.state
    last = core.events.last[-most_steps:]
    return InterruptionRecord(
        run_id=context.run_id,
        tenant=context.tenant,
        workflow=context.workflow,
        request_id=context.request_id,
        parent=context.parent,
        agent=context.agent,
        mode=state.mode,
        reason=stop.reason,
        message=stop.message,
        evidence=stop.evidence,
        budgets=core.accounts.lines(),
        last_intent=state.last_intent,
        last_resource=state.last_resource,
        business_version=state.last_version,
        versions=seen_versions(state),
        denials=denial_notes(state),
        elapsed_s=core.elapsed_s,
        writes=writes,
        safe_actions=safe_actions(writes, held=bool(state.held)),
        token_version=context.token_version,
        policy=context.policy,
        inputs=context.inputs,
        continues=context.continues,
        last_tool=state.last_tool,
        at=state.stopped_at or core.clock.now(),
        held=tuple(state.held),
        steps=steps_of(last, elapsed_s=core.elapsed_s, tools=core.specs),
    )


def ahead(core: Core, tool: str) -> InterruptionRecord:
    """What the record of a run would be if its process died now, with a write of `tool` on its way.
    Its writes are those that the store knows of.
    """
    died = Finding(
        decision=Decision.ALLOW_READ_ONLY,
        reason=Reason.UNKNOWN_SIDE_EFFECT,
        message=_DIED.format(tool=tool),
    )
    made = record(core, died, writes=(), most_steps=_STEPS_AHEAD)
    return msgspec.structs.replace(made, mode=Mode.READ_ONLY, last_tool=tool)


def seen_versions(state: RunState) -> tuple[SeenVersion, ...]:
    """The records that the run has read."""
    return tuple(SeenVersion(resource=r, version=v) for r, v in state.versions.items())


def denial_notes(state: RunState) -> tuple[DenialNote, ...]:
    """What tools have denied the run."""
    return tuple(denial_note(key, seen) for key, seen in state.denials.items())


def denial_note(key: tuple[str, str], seen: DenialSeen) -> DenialNote:
    """A denial of one kind and resource as it is kept."""
    kind, resource = key
    return DenialNote(
        kind=kind,
        resource=resource,
        rules=seen.rules,
        tool=seen.tool,
        intents=tuple(sorted(seen.intents)),
        refused=seen.refused,
    )


def denials_of(notes: Iterable[DenialNote]) -> dict[tuple[str, str], DenialSeen]:
    """The same as a run knows it. The events are those of another timeline, so nothing rests on
    them but the count.
    """
    return {
        (each.kind, each.resource): DenialSeen(
            rules=each.rules,
            tool=each.tool,
            intents=frozenset(each.intents),
            evidence=(),
            refused=each.refused,
        )
        for each in notes
    }


def taken_over(record: InterruptionRecord) -> RunState:
    """What a run that is taken up again knows from before."""
    state = RunState()
    state.versions = {each.resource: each.version for each in record.versions}
    state.denials = denials_of(record.denials)
    return state


def spent_before(record: InterruptionRecord) -> dict[str, float]:
    """What a run had used of each budget; remaining is limit minus this."""
    return {line.name: line.spent for line in record.budgets}


def safe_actions(writes: tuple[WriteEntry, ...], *, held: bool) -> tuple[SafeAction, ...]:
    """An unsettled write forbids a full resume until it is reconciled. What the run is `held` by
    may be the write of another run.
    """
    unsettled = held or any(entry.status in UNSETTLED for entry in writes)
    middle = (
        (SafeAction.RECONCILE, SafeAction.RESUME_READ_ONLY) if unsettled else (SafeAction.RESUME,)
    )
    return (SafeAction.INSPECT, *middle, SafeAction.CLOSE)
