"""From a run to what it carries, and back."""

from __future__ import annotations

from collections import Counter

from pytest_tripwire.breaker import progress_memory
from pytest_tripwire.breaker.budget import Dimension
from pytest_tripwire.breaker.core import Core
from pytest_tripwire.breaker.finding import Finding
from pytest_tripwire.breaker.memory import PolicyDenial, RunMemory, StateError, StopMemory
from pytest_tripwire.breaker.port import Ledger
from pytest_tripwire.breaker.records import (
    change_again,
    changes,
    denial_notes,
    denials_of,
    seen_versions,
    spent_of,
)
from pytest_tripwire.breaker.rounds import Rounds
from pytest_tripwire.breaker.state import RunContext, RunState
from pytest_tripwire.timeline import ChangedNote

#: What becomes of an interruption after which the run goes on.
_GOES_ON = frozenset({"reconciled", "resumed"})


def remembered(core: Core, texts: tuple[str, ...]) -> RunMemory:
    """What a run carries. `texts` are fingerprints of what it has said last."""
    state, now, kin = core.state, core.clock.now(), core.kin
    return RunMemory(
        run_id=core.run_id,
        tenant=core.tenant,
        workflow=core.context.workflow,
        request_id=core.context.request_id,
        messages=kin.messages,
        elapsed_s=max(0.0, core.elapsed_s),
        mode=state.mode,
        stop=_stop_memory(state.stop),
        ended=state.ended,
        spent=spent_of(core),
        turns=state.turns,
        batches=state.batches,
        round=kin.last,
        progress_turn=state.progress_turn,
        over_ceiling=state.over_ceiling,
        final=state.final,
        diagnosed=state.diagnosed,
        lowest_cost=state.lowest_cost,
        tool_costs=dict(state.tool_costs),
        executed={intent: count for intent, count in state.executed.items() if count > 0},
        attempts=kin.tasks.attempts(),
        calls_ago=() if core.rate is None else core.rate.ago(now),
        circuits=core.circuits.snapshot(now),
        texts=texts,
        denials=denial_notes(state),
        policy_denials=tuple(PolicyDenial(*key, n) for key, n in state.policy_denials.items()),
        versions=seen_versions(state),
        changed=tuple((each.resource, each.was) for each in changes(state.fresh, kin.changed)),
        kin=core.ledger.kin,
        begun=kin.begun,
        doubtful=tuple(state.doubtful),
        progress=progress_memory.remembered(state.history),
    )


def recalled(memory: RunMemory) -> RunState:
    """What the run knew, for the process that takes it up. Its history is restored apart."""
    state = RunState()
    state.mode = memory.mode
    if memory.stop is not None:
        stop = memory.stop
        state.stop = Finding(
            decision=stop.decision,
            reason=stop.reason,
            message=stop.message,
            mode=memory.mode,
            any_read=stop.any_read,
        )
    state.turns, state.batches = memory.turns, memory.batches
    state.progress_turn = memory.progress_turn
    state.rounds = Rounds(memory.round)
    state.over_ceiling, state.final = memory.over_ceiling, memory.final
    state.diagnosed = memory.diagnosed
    state.lowest_cost = memory.lowest_cost
    state.tool_costs = dict(memory.tool_costs)
    state.executed = Counter(memory.executed)
    state.denials = denials_of(memory.denials)
    state.policy_denials = Counter(
        {(each.kind, each.resource, each.rule): each.times for each in memory.policy_denials}
    )
    state.versions = {each.resource: each.version for each in memory.versions}
    change_again(state.fresh, [ChangedNote(resource=r, was=was) for r, was in memory.changed])
    return state


def _check_store(memory: RunMemory, ledger: Ledger) -> None:
    """A run that has written goes on only where its writes are known, or it would repeat them."""
    wrote = float(memory.spent.get(Dimension.SIDE_EFFECTS.value, 0)) > 0
    known = any(ledger.of_run(each) for each in (memory.run_id, *memory.kin))
    if wrote and not known:
        raise StateError(
            f"run(state=...): run {memory.run_id[:80]} has written, and this store knows nothing "
            "of it. Give the breaker the store that the run had: Breaker(store=...)"
        )


def context_of(
    memory: RunMemory,
    ledger: Ledger,
    *,
    tenant: str,
    workflow: str,
    request_id: str,
    now: float,
    watched: bool,
) -> RunContext:
    """The context of a run that is taken up, as the caller says it. Raises StateError where that is
    another run than the state's, or one that is over. One that is only `watched` goes on whatever
    the store says of it.
    """
    _check_same("tenant", memory.tenant, tenant, needed=True)
    _check_same("workflow", memory.workflow, workflow)
    _check_same("request_id", memory.request_id, request_id)
    record = None if watched else ledger.record_of(memory.run_id)
    if record is not None and record.ended_as not in _GOES_ON:
        became = "is not over" if record.ended_as is None else f"ended as {record.ended_as}"
        raise StateError(
            f"run(state=...): run {memory.run_id[:80]} was interrupted ({record.reason}), and that "
            f"{became}. A state is no way round it: look at its record, and use resume()"
        )
    if memory.ended:
        raise StateError(
            f"run(state=...): run {memory.run_id[:80]} had come to its end when the state was "
            "made. Begin a new run"
        )
    if not watched:
        _check_store(memory, ledger)
    return RunContext(
        run_id=memory.run_id,
        tenant=memory.tenant,
        workflow=memory.workflow,
        request_id=memory.request_id,
        started_at=now - memory.elapsed_s,
        token_version=1 if record is None else record.token_version,
    )


def _check_same(name: str, known: str, given: str, *, needed: bool = False) -> None:
    """A state is no proof of whose run it is, so the tenant has to be said anew."""
    if given == known or not (given or needed):
        return
    raise StateError(
        f"run(state=...): the state is of a run with {name}={known[:80]!r}, and "
        f"{name}={given[:80]!r} was asked for. Pass the same {name}, or begin a new run without "
        "a state"
    )


def _stop_memory(stop: Finding | None) -> StopMemory | None:
    if stop is None:
        return None
    return StopMemory(
        decision=stop.decision, reason=stop.reason, message=stop.message, any_read=stop.any_read
    )
