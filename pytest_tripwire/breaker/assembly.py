"""Putting a run together: from nothing, from the record of an interruption, or from what it
carried.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress

import msgspec

from pytest_tripwire.breaker import earlier, progress_memory
from pytest_tripwire.breaker.accounts import Accounts
from pytest_tripwire.breaker.approvals import Approvals
from pytest_tripwire.breaker.bound_key import with_minted_key
from pytest_tripwire.breaker.budget import RunBudget
from pytest_tripwire.breaker.circuit import CircuitPolicy, Circuits
from pytest_tripwire.breaker.core import Core
from pytest_tripwire.breaker.earlier import Earlier
from pytest_tripwire.breaker.kin import Kin
from pytest_tripwire.breaker.memory import RunMemory
from pytest_tripwire.breaker.port import Clock, Ledger, Policy
from pytest_tripwire.breaker.records import denials_of, taken_over
from pytest_tripwire.breaker.remembering import recalled
from pytest_tripwire.breaker.repetition import WINDOW, RepeatedError
from pytest_tripwire.breaker.run_ledger import RunLedger
from pytest_tripwire.breaker.shadow import Shadow
from pytest_tripwire.breaker.state import RunContext, RunState
from pytest_tripwire.breaker.tasks import Tasks
from pytest_tripwire.breaker.telling import Observer, Post, RunLock, Stamp, Telling, Unkept
from pytest_tripwire.breaker.windows import KeptWindow
from pytest_tripwire.timeline import (
    BreakerEvent,
    InterruptionRecord,
    Mode,
    Reason,
    ToolSpec,
    Writer,
)


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is put together from.

    Args:
        context: who runs what.
        specs: what is declared about each tool, by name.
        budget: the limits.
        policy: who may do what.
        ledger: where writes and records are kept.
        clock: seconds.
        events: where decisions are told; None to keep none of them.
        new_key: gives a new key for each write.
        judged: whether the run names postconditions.
        before: the record that an earlier part of the run has left.
        memory: what an earlier part of the run has carried.
        circuit: when tools are taken for down.
        shadow: whether decisions are recorded and not enforced.
        observers: who is told of events, outside of the run's lock.
    """

    context: RunContext
    specs: Mapping[str, ToolSpec]
    budget: RunBudget
    policy: Policy
    ledger: Ledger
    clock: Clock
    new_key: Callable[[], str]
    events: Writer[BreakerEvent] | None = None
    judged: bool = False
    before: InterruptionRecord | None = None
    memory: RunMemory | None = None
    circuit: CircuitPolicy | None = None
    shadow: bool = False
    observers: Sequence[Observer] = ()


def assembled(parts: Parts) -> Core:
    """The first run of a family."""
    memory, now, budget = parts.memory, parts.clock.now(), parts.budget
    post, before = Post(parts.observers), _earlier(parts)
    kin = _kin(RunLock(post.deliver), budget, memory, before)
    core = Core(
        context=parts.context,
        specs={name: with_minted_key(spec) for name, spec in parts.specs.items()},
        budget=budget,
        accounts=Accounts(budget, None if before is None else before.spent_by_now),
        policy=parts.policy,
        ledger=_ledger(parts, before),
        clock=parts.clock,
        events=_telling(parts, post),
        new_key=parts.new_key,
        state=_state(parts, before),
        circuits=Circuits(
            parts.circuit or CircuitPolicy(), memory.circuits if memory else None, now
        ),
        kin=kin,
        rate=_rate(budget, memory, now),
        shadow=Shadow() if parts.shadow else None,
    )
    kin.members.append(core)
    _only_watch(core)
    return core


def _only_watch(core: Core) -> None:
    """A run that is only watched is open, whatever stopped it before."""
    stop, state = core.state.stop, core.state
    if core.shadow is not None and stop is not None:
        core.shadow.note(stop)
        state.mode, state.stop = Mode.OPEN, None


def expect_progress(state: RunState, budget: RunBudget, *, judged: bool, tenant: str) -> None:
    """Set a new history up by what the run is limited to."""
    history = state.history
    history.judged = judged
    if budget.max_consecutive_errors is not None:
        history.most_errors = budget.max_consecutive_errors
    times = budget.max_repeated_errors
    if times is not None:
        history.errors_seen = RepeatedError(max(times, WINDOW, 1), max(times, 1))
    state.admissions.tenant = tenant


def _state(parts: Parts, before: Earlier | None) -> RunState:
    state = RunState()
    if parts.memory is not None:
        state = recalled(parts.memory)
    elif parts.before is not None:
        state = taken_over(parts.before)
    if before is not None:
        state.doubtful = before.doubtful_still
    expect_progress(state, parts.budget, judged=parts.judged, tenant=parts.context.tenant)
    state.approvals = Approvals(parts.context.run_id, parts.ledger)
    if parts.memory is not None or parts.before is not None:
        # A store that fails is no reason to stop a run that is only watched.
        with suppress(Exception) if parts.shadow else nullcontext():
            _recall(state, parts)
    if parts.memory is not None:
        progress_memory.restore(state.history, parts.memory.progress)
    return state


def _recall(state: RunState, parts: Parts) -> None:
    state.approvals.recall()
    state.approvals.under(parts.context.policy)
    state.denials |= denials_of(parts.ledger.denials_of(parts.context.run_id))
    if parts.memory is not None:
        _go_on(state, parts)


def _go_on(state: RunState, parts: Parts) -> None:
    """What held a run when its checkpoint was made may have been settled since."""
    stop, run_id = state.stop, parts.context.run_id
    if stop is None or stop.any_read or state.mode is not Mode.READ_ONLY:
        return
    record = parts.ledger.record_of(run_id)
    over = record is not None and record.ended_as is not None
    certain = all(each.is_certain for each in parts.ledger.of_run(run_id))
    if over and certain and stop.reason is Reason.UNKNOWN_SIDE_EFFECT:
        state.mode, state.stop = Mode.OPEN, None


def _kin(lock: RunLock, budget: RunBudget, memory: RunMemory | None, before: Earlier | None) -> Kin:
    tasks = Tasks(budget.max_attempts_per_task, before.attempts if before else None)
    if before is None:
        return Kin(lock, tasks)
    number, begun = (memory.round, memory.begun) if memory else (0, 0)
    kin = Kin(lock, tasks, number=number, messages=before.messages, begun=begun)
    for resource, was in before.changed:
        kin.note_change(resource, was)
    return kin


def _earlier(parts: Parts) -> Earlier | None:
    """What an earlier part of the run has left, if there was one."""
    if parts.memory is not None:
        before = earlier.of_state(parts.memory)
    elif parts.before is not None:
        before = earlier.of_record(parts.before)
    else:
        return None
    try:
        return before.by_now(parts.ledger)
    except Exception:
        # A store that fails is no reason to stop a run that is only watched.
        if not parts.shadow:
            raise
        return before


def _ledger(parts: Parts, before: Earlier | None) -> RunLedger:
    """The ledger as the run sees it, whose children may have written something before."""
    own, known = parts.context.run_id, () if before is None else before.runs
    others = [each for each in known if each != own]
    return RunLedger(parts.ledger, own, [own, *others], parts.clock.now)


def _telling(parts: Parts, post: Post) -> Telling:
    stamp: Stamp = Unkept(parts.clock.now).stamped if parts.events is None else parts.events.stamped
    return Telling(stamp, post, run_id=parts.context.run_id, shadow=parts.shadow)


def _rate(budget: RunBudget, memory: RunMemory | None, now: float) -> KeptWindow | None:
    limit = budget.max_calls_per_minute
    return None if limit is None else KeptWindow(limit, memory.calls_ago if memory else (), now)
