"""The interruption record of a run, made from what the run knows."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING

import msgspec

from pytest_tripwire.breaker.budget import Dimension
from pytest_tripwire.breaker.finding import DenialSeen, Finding
from pytest_tripwire.breaker.freshness import Freshness
from pytest_tripwire.breaker.state import RunState
from pytest_tripwire.breaker.steps import steps_of
from pytest_tripwire.breaker.telling import MOST_STEPS
from pytest_tripwire.timeline import (
    ChangedNote,
    Decision,
    DenialNote,
    InterruptionRecord,
    Mode,
    Reason,
    SafeAction,
    SeenVersion,
    Times,
    Used,
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
#: Intents and tasks of which a record keeps the number, for the same reason.
_MOST_COUNTED = 256
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
        messages=core.kin.messages,
        changed=changes(state.fresh, core.kin.changed),
        spent=tuple(Used(name=n, spent=_float(used)) for n, used in spent_of(core).items()),
        doubtful=tuple(state.doubtful),
        executed=_most(state.executed),
        attempts=_most(core.kin.tasks.attempts()),
    )


def ahead(core: Core, tool: str, key: str) -> InterruptionRecord:
    """What the record of a run would be if its process died now, with the write `key` of `tool` on
    its way. Its writes are those that the store knows of.
    """
    died = Finding(
        decision=Decision.ALLOW_READ_ONLY,
        reason=Reason.UNKNOWN_SIDE_EFFECT,
        message=_DIED.format(tool=tool),
    )
    made = record(core, died, writes=(), most_steps=_STEPS_AHEAD)
    return msgspec.structs.replace(
        made, mode=Mode.READ_ONLY, last_tool=tool, doubtful=(*made.doubtful, key)
    )


def seen_versions(state: RunState) -> tuple[SeenVersion, ...]:
    """The records that the run has read."""
    return tuple(SeenVersion(resource=r, version=v) for r, v in state.versions.items())


def changes(fresh: Freshness, told: Iterable[tuple[str, str]]) -> tuple[ChangedNote, ...]:
    """What others have changed, of all that the run was told, as far as it has not read it again
    since.
    """
    still = ([each if fresh.stale({"": each}) else "" for each in pair] for pair in told)
    return tuple(ChangedNote(resource=name, was=was) for name, was in still if name or was)


def change_again(fresh: Freshness, notes: Iterable[ChangedNote]) -> None:
    """Tell a run of what others have changed, as an earlier part of it had looked at that."""
    for each in notes:
        if each.resource:
            fresh.look({"": each.resource}, "")
        fresh.changed(each.resource, was=each.was)


def spent_of(core: Core) -> dict[str, Decimal]:
    """What a run has used of each dimension, limited or not. What is promised counts as spent:
    nobody in another process will settle it.
    """
    return {each.value: used for each in Dimension if (used := core.accounts.used(each))}


def _float(amount: Decimal) -> float:
    """What a record can hold: JSON has no infinity."""
    return min(float(amount), sys.float_info.max)


def times_of(notes: Iterable[Times]) -> Counter[str]:
    """How often each was done."""
    return Counter({each.name: each.times for each in notes})


def _most(counts: Mapping[str, int]) -> tuple[Times, ...]:
    """The largest of many numbers: those that are nearest to their limit."""
    some = Counter({name: count for name, count in counts.items() if count > 0})
    return tuple(Times(name=n, times=times) for n, times in some.most_common(_MOST_COUNTED))


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
    state.executed = times_of(record.executed)
    change_again(state.fresh, record.changed)
    return state


def spent_before(record: InterruptionRecord) -> dict[str, Decimal]:
    """What a run had used of each dimension; remaining is limit minus this. Records of earlier
    releases tell of what was limited alone.
    """
    known = {each.name: each.spent for each in record.budgets}
    known |= {each.name: each.spent for each in record.spent}
    return {name: Decimal(str(spent)) for name, spent in known.items()}


def safe_actions(writes: tuple[WriteEntry, ...], *, held: bool) -> tuple[SafeAction, ...]:
    """An unsettled write forbids a full resume until it is reconciled. What the run is `held` by
    may be the write of another run.
    """
    unsettled = held or any(entry.status in UNSETTLED for entry in writes)
    middle = (
        (SafeAction.RECONCILE, SafeAction.RESUME_READ_ONLY) if unsettled else (SafeAction.RESUME,)
    )
    return (SafeAction.INSPECT, *middle, SafeAction.CLOSE)
