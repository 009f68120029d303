"""The breaker as a team uses it in production."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal
from uuid import uuid4

from pytest_tripwire.breaker.budget import RunBudget
from pytest_tripwire.breaker.circuit import CircuitPolicy
from pytest_tripwire.breaker.classes import Classes, workflow_class
from pytest_tripwire.breaker.clock import SystemClock
from pytest_tripwire.breaker.controller import Controller
from pytest_tripwire.breaker.memory import RunMemory, decode
from pytest_tripwire.breaker.port import Clock, Ledger, Policy, allow_everything
from pytest_tripwire.breaker.prices import Prices, PriceTable
from pytest_tripwire.breaker.remembering import context_of
from pytest_tripwire.breaker.state import RunContext
from pytest_tripwire.breaker.telling import Observer
from pytest_tripwire.guard.ending import Postconditions
from pytest_tripwire.guard.observers import LogTrips, Metrics, checked, metrics_api
from pytest_tripwire.guard.resume import Authorise, Reload, Resume, ResumeRefusedError, take_up
from pytest_tripwire.guard.run import BreakerRun
from pytest_tripwire.guard.toolbox import Toolbox, asked_first
from pytest_tripwire.ledger import MemoryLedger
from pytest_tripwire.timeline import (
    BreakerEvent,
    Effect,
    InterruptionRecord,
    Timeline,
    ToolSpec,
    parse_effect,
)

_MODES = ("enforce", "shadow")


class Breaker:
    """What is common to all runs of one agent.

    Args:
        budget: limits of each run; none by default. The name of a workflow class, such as
            `"support"`, gives its limits, and asks a person before each write where the class says
            so.
        policy: who may do what; says yes by default.
        store: the ledger of writes and records; by default one in memory, shared by the runs of
            this breaker and lost with the process.
        specs: declarations of tools by name, besides those made with `@tool_spec`.
        default_effect: what a tool does whose effect nobody declared; by default an error.
        mode: `enforce`, or `shadow`: decisions are made and recorded, and nothing is stopped, held
            or read because of them. What would have been done stands in `run.would_have`.
        circuit: when a tool is taken for down: a policy, or the name of a preset, such as
            `"weekend"`; None for never.
        on_event: callback, or several, told of every event of every run. They are called after the
            breaker has let go of its lock, in the thread of the call; what they raise is logged
            once.
        prices: what models cost, for requests whose cost nobody says: `Prices`, or a table of US
            dollars for a million tokens of prompt and of completion, by model.
        classes: workflow classes of your own, by name.
        clock: seconds; the system's by default.
        new_id: gives unique ids for runs and writes.

    Raises:
        ValueError: there is no such mode, workflow class or preset.
        TypeError: a callback cannot be called, or is async.
    """

    def __init__(
        self,
        *,
        budget: RunBudget | str | None = None,
        policy: Policy = allow_everything,
        store: Ledger | None = None,
        specs: Mapping[str, ToolSpec] | None = None,
        default_effect: Effect | str | None = None,
        mode: Literal["enforce", "shadow"] = "enforce",
        circuit: CircuitPolicy | str | None = "default",
        on_event: Observer | Sequence[Observer] | None = None,
        prices: Prices | Mapping[str, Any] | None = None,
        classes: Classes | None = None,
        clock: Clock | None = None,
        new_id: Callable[[], str] = lambda: uuid4().hex,
    ) -> None:
        self._budget, self._approve_writes = _budget(budget, classes)
        self._policy = policy
        self._store = store if store is not None else MemoryLedger()
        self._specs = asked_first(specs or {}, approve_writes=self._approve_writes)
        self._default_effect = parse_effect(default_effect) if default_effect else None
        self._shadow = _mode(mode) == "shadow"
        self._circuit = _circuit(circuit)
        self._callbacks = checked(on_event)
        self._metrics: Metrics | None = None
        self._prices = PriceTable(prices) if isinstance(prices, Mapping) else prices
        self._clock = clock or SystemClock()
        self._new_id = new_id

    @property
    def store(self) -> Ledger:
        """Where this breaker's runs keep their writes and records."""
        return self._store

    @property
    def budget(self) -> RunBudget:
        """The limits of each run."""
        return self._budget

    @property
    def clock(self) -> Clock:
        """What this breaker takes the time from."""
        return self._clock

    @property
    def shadow(self) -> bool:
        """Whether it only watches (`mode="shadow"`)."""
        return self._shadow

    def run(
        self,
        *,
        tenant: str = "",
        workflow: str = "",
        request_id: str = "",
        state: bytes | None = None,
        postconditions: Postconditions | None = None,
        timeline: Timeline | None = None,
    ) -> BreakerRun:
        """A new run. Use it as a context manager: `with breaker.run(tenant="acme") as run:`.

        Args:
            tenant: on whose behalf; never taken from the model.
            workflow: workflow and version, e.g. `refunds@4`.
            request_id: the piece of work: a redelivered message with the same id repeats no write.
            state: what `snapshot()` has given in another process: the run goes on under its id,
                with what it had spent and seen. The tenant has to be said anew; workflow and
                request id are the state's, and those given have to be the same.
            postconditions: what has to be true for the work to be done, by name: callables that
                give true or false, or a measure. With them, only they are progress.
            timeline: where events go; by default none is kept.

        Raises:
            StateError: the state is damaged, is none of ours or of a later release, belongs to
                another run, or to one that was interrupted since. Nothing has changed then.
        """
        memory = None if state is None else decode(state)
        now = self._clock.now()
        if memory is None:
            context = RunContext(
                run_id=self._new_id(),
                tenant=tenant,
                workflow=workflow,
                request_id=request_id,
                started_at=now,
            )
        else:
            context = context_of(
                memory,
                self._store,
                tenant=tenant,
                workflow=workflow,
                request_id=request_id,
                now=now,
            )
        return self._assembled(context, postconditions, timeline, memory=memory)

    def resume(
        self,
        wanted: Resume,
        *,
        authorise: Authorise,
        reload: Reload,
        postconditions: Postconditions | None = None,
        timeline: Timeline | None = None,
    ) -> BreakerRun:
        """Take an interrupted run up again. Nothing of it is replayed; what it has spent stays
        spent, and a deadline that has passed stays passed.

        Args:
            wanted: which run, and who asks.
            authorise: says whether this operator may do this to this record.
            reload: gives the version of a record as it is now, by the reference under which the
                run has read it. If one is another than the run has seen, the resumed run may only
                read (`stale_resume`).
            postconditions: as for `run`.
            timeline: as for `run`.

        Raises:
            ResumeRefusedError: when it may not go on; nothing has changed then. A breaker that only
                watches takes up nothing, as it would hold nothing.
        """
        if self._shadow:
            raise ResumeRefusedError(
                f"run {wanted.run_id} cannot be resumed by a breaker that only watches "
                "(mode='shadow'): it would hold none of what the run is held by. Resume it with "
                "one that enforces"
            )
        record, limit = take_up(self._store, wanted, authorise=authorise, reload=reload)
        context = RunContext(
            run_id=record.run_id,
            tenant=record.tenant,
            workflow=record.workflow,
            request_id=record.request_id,
            started_at=self._clock.now() - record.elapsed_s,
            token_version=record.token_version + 1,
            parent=record.parent,
            agent=record.agent,
        )
        run = self._assembled(context, postconditions, timeline, before=record)
        if limit is not None:
            run.limit(limit)
        return run

    def _assembled(
        self,
        context: RunContext,
        postconditions: Postconditions | None,
        timeline: Timeline | None,
        *,
        before: InterruptionRecord | None = None,
        memory: RunMemory | None = None,
    ) -> BreakerRun:
        controller = Controller(
            context=context,
            specs=self._specs,
            budget=self._budget,
            policy=self._policy,
            ledger=self._store,
            clock=self._clock,
            events=timeline.writer(BreakerEvent) if timeline is not None else None,
            new_key=self._new_id,
            judged=bool(postconditions),
            before=before,
            memory=memory,
            circuit=self._circuit,
            shadow=self._shadow,
            observers=self._observers(),
        )
        numbers = itertools.count(1)
        return BreakerRun(
            controller=controller,
            clock=self._clock,
            new_call_id=lambda: f"call-{next(numbers)}",
            toolbox=Toolbox(
                self._specs,
                default_effect=self._default_effect,
                approve_writes=self._approve_writes,
            ),
            postconditions=postconditions,
            prices=self._prices,
        )

    def _observers(self) -> tuple[Observer, ...]:
        """Metrics are looked for at each run: the application may import their API later."""
        api = metrics_api() if self._metrics is None else None
        if api is not None:
            self._metrics = Metrics(api)
        metrics = () if self._metrics is None else (self._metrics,)
        return (LogTrips(), *metrics, *self._callbacks)


def _budget(budget: RunBudget | str | None, classes: Classes | None) -> tuple[RunBudget, bool]:
    """The limits, and whether a person is asked before each write."""
    if isinstance(budget, str):
        approve = workflow_class(budget, classes).approve_writes
        return RunBudget.for_class(budget, classes=classes), approve
    return budget or RunBudget(), False


def _mode(mode: str) -> str:
    if mode not in _MODES:
        raise ValueError(f"Breaker(mode={mode!r}): a breaker's mode is 'enforce' or 'shadow'")
    return mode


def _circuit(circuit: CircuitPolicy | str | None) -> CircuitPolicy:
    if isinstance(circuit, CircuitPolicy):
        return circuit
    return CircuitPolicy.preset("off" if circuit is None else circuit)
