"""The breaker as a team uses it in production."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal
from uuid import uuid4

import msgspec

from pytest_tripwire.breaker.approvals import Approvals
from pytest_tripwire.breaker.budget import RunBudget
from pytest_tripwire.breaker.circuit import CircuitPolicy
from pytest_tripwire.breaker.classes import Classes, workflow_class
from pytest_tripwire.breaker.clock import SystemClock
from pytest_tripwire.breaker.controller import Controller
from pytest_tripwire.breaker.leases import LEASE_S
from pytest_tripwire.breaker.memory import RunMemory, decode
from pytest_tripwire.breaker.port import Clock, Ledger, Policy, allow_everything
from pytest_tripwire.breaker.prices import Prices, PriceTable
from pytest_tripwire.breaker.remembering import context_of
from pytest_tripwire.breaker.state import RunContext
from pytest_tripwire.breaker.telling import Observer
from pytest_tripwire.guard import arguments
from pytest_tripwire.guard.ending import Postconditions
from pytest_tripwire.guard.from_outside import check_yes, nothing_waits
from pytest_tripwire.guard.observers import LogTrips, Metrics, checked, metrics_api
from pytest_tripwire.guard.resume import (
    Authorise,
    Compatible,
    Reload,
    Resume,
    ResumeRefusedError,
    same_versions,
    take_up,
)
from pytest_tripwire.guard.run import BreakerRun
from pytest_tripwire.guard.toolbox import Toolbox, asked_first
from pytest_tripwire.ledger import MemoryLedger, open_store
from pytest_tripwire.ledger.lost import look_for_lost
from pytest_tripwire.timeline import (
    BreakerEvent,
    Effect,
    InterruptionRecord,
    Timeline,
    ToolSpec,
    WriteEntry,
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
        store: where writes and records are kept; by default in memory, shared by the runs of this
            breaker and lost with the process. A file (`"sqlite:///runs.db"`, or its path) or a
            database (`"postgresql://..."`) outlives it and is shared with other processes: each run
            then needs a `request_id`.
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
        policy_version: names the version of `policy`, so that what was approved or interrupted
            under another is not taken for what is right under this one.
        lease_s: seconds for which this process answers for a write that it has begun. One that has
            not come back by then is taken for lost by the other processes of the store: make it
            more than any of your tools waits for an answer.
        clock: seconds; the system's by default.
        new_id: gives unique ids for runs and writes.

    Raises:
        ValueError: there is no such mode, workflow class, preset or kind of store, or a lease is no
            time.
        StoreError: the store cannot be opened.
        TypeError: a callback or the policy cannot be called, or is async; the policy's version is
            no text.
    """

    def __init__(
        self,
        *,
        budget: RunBudget | str | None = None,
        policy: Policy = allow_everything,
        store: Ledger | str | os.PathLike[str] | None = None,
        specs: Mapping[str, ToolSpec] | None = None,
        default_effect: Effect | str | None = None,
        mode: Literal["enforce", "shadow"] = "enforce",
        circuit: CircuitPolicy | str | None = "default",
        on_event: Observer | Sequence[Observer] | None = None,
        prices: Prices | Mapping[str, Any] | None = None,
        classes: Classes | None = None,
        policy_version: str = "",
        lease_s: float = LEASE_S,
        clock: Clock | None = None,
        new_id: Callable[[], str] = lambda: uuid4().hex,
    ) -> None:
        self._budget, self._approve_writes = _budget(budget, classes)
        arguments.asked_at_once("Breaker", "policy", policy)
        self._policy = policy
        # Whatever is wrong is told before a store is opened, which may have to be made for it.
        self._policy_version = arguments.text("Breaker", "policy_version", policy_version)
        self._lease_s = _lease(lease_s)
        self._store = _store(store)
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

    def new_id(self) -> str:
        """A new unique id, e.g. for a piece of work that nobody will ask for again."""
        return self._new_id()

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
        inputs: str = "",
        state: bytes | None = None,
        postconditions: Postconditions | None = None,
        timeline: Timeline | None = None,
    ) -> BreakerRun:
        """A new run. Use it as a context manager: `with breaker.run(tenant="acme") as run:`.

        Args:
            tenant: on whose behalf; never taken from the model.
            workflow: workflow and version, e.g. `refunds@4`.
            request_id: the piece of work: a redelivered message with the same id repeats no write.
                Needed where the store is shared with other processes: without it nobody there would
                know the piece of work again.
            inputs: names what the run is given to work on, such as a version or a fingerprint of
                it. An operator who resumes it with others starts a new run that is linked to it.
            state: what `snapshot()` has given in another process: the run goes on under its id,
                with what it had spent and seen. The tenant has to be said anew; workflow and
                request id are the state's, and those given have to be the same.
            postconditions: what has to be true for the work to be done, by name: callables that
                give true or false, or a measure. With them, only they are progress.
            timeline: where events go; by default none is kept.

        Raises:
            TypeError: a name is no text, or a postcondition cannot be called, or is async.
            ValueError: a shared store, and no request id.
            StateError: the state is damaged, is none of ours or of a later release, belongs to
                another run, or to one that was interrupted since. Nothing has changed then.
        """
        tenant, workflow, request_id, inputs = arguments.texts(
            "Breaker.run", tenant=tenant, workflow=workflow, request_id=request_id, inputs=inputs
        )
        arguments.asked_each_at_once("Breaker.run", "postconditions", postconditions)
        memory, now = decode(state) if state is not None else None, self._clock.now()
        if memory is None:
            context = RunContext(
                run_id=self._new_id(),
                tenant=tenant,
                workflow=workflow,
                request_id=self._named(request_id),
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
                watched=self._shadow,
            )
            self._named(context.request_id)
        context = self._of_this_breaker(context, inputs=inputs)
        return self._assembled(context, postconditions, timeline, memory=memory)

    def approve(
        self,
        run_id: str,
        call_id: str,
        *,
        operator: str = "",
        expires_s: float | None = None,
        attempts: int = 1,
        version: str = "",
    ) -> None:
        """A person has said yes to a call of a run that may be in another process, or in none now.
        The run learns of it in the store, when the call is proposed again.

        Args:
            run_id: the run; of a call of a sub-agent its id, or that of the run it works for.
            call_id: the call that was put up for approval.
            operator: who says so; whether they may is for you to have made sure of.
            expires_s: seconds for which the yes holds; for ever by default.
            attempts: how often the call may run.
            version: the business version of what it acts on, as the person saw it.

        Raises:
            LookupError: no call of this id waits for a yes in that run.
            TypeError: an id, the version or the operator is no text.
            ValueError: no yes could be of such a length, or for so many attempts.
        """
        check_yes(expires_s=expires_s, attempts=attempts)
        run_id = arguments.text("approve", "run_id", run_id)
        call_id = arguments.text("approve", "call_id", call_id)
        version = arguments.text("approve", "version", version)
        operator = arguments.text("approve", "operator", operator)
        for book in _books(run_id):
            approvals = Approvals(book, self._store)
            approvals.recall()
            if approvals.grant(
                call_id,
                expires_at=None if expires_s is None else self._clock.now() + expires_s,
                attempts=attempts,
                version=version,
                policy=self._policy_version,
                operator=operator,
                asked_by="" if book == run_id else run_id,
            ):
                return
        raise LookupError(nothing_waits(run_id, call_id))

    def resume(
        self,
        wanted: Resume,
        *,
        authorise: Authorise,
        reload: Reload,
        compatible: Compatible | None = None,
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
            compatible: says whether a run of the record's workflow and policy may go on here; by
                default only where both are the same, as far as both sides name them.
            postconditions: as for `run`.
            timeline: as for `run`.

        Raises:
            ResumeRefusedError: when it may not go on; nothing has changed then. A breaker that only
                watches takes up nothing, as it would hold nothing.
            TypeError: one of the callables is async, or has answered what is neither yes nor no.
                Nothing has changed then either.
        """
        _resuming(wanted, authorise, reload, compatible, postconditions)
        if self._shadow:
            raise ResumeRefusedError(
                f"run {wanted.run_id} cannot be resumed by a breaker that only watches "
                "(mode='shadow'): it would hold none of what the run is held by. Resume it with "
                "one that enforces"
            )
        now = self._clock.now()
        taken = take_up(
            self._store,
            wanted,
            authorise=authorise,
            reload=reload,
            compatible=compatible or same_versions(self._policy_version),
            now=now,
            new_id=self._new_id,
        )
        context = self._of_this_breaker(taken.context(now), inputs=wanted.inputs)
        before = None if taken.is_new else taken.record
        run = self._assembled(context, postconditions, timeline, before=before)
        if taken.limit is not None:
            run.limit(taken.limit)
        return run

    def _of_this_breaker(self, context: RunContext, *, inputs: str) -> RunContext:
        return msgspec.structs.replace(
            context,
            policy=self._policy_version,
            inputs=inputs or context.inputs,
            lease_s=self._lease_s,
        )

    def _named(self, request_id: str) -> str:
        if self._store.durable and not request_id:
            raise ValueError(
                "Breaker.run(): the store is shared with other processes, so the piece of work "
                "needs a name that they know too, or a message that is delivered again would do "
                "it again. Pass request_id=, e.g. the id of the message or of the job"
            )
        return request_id

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
                take_in=lambda entry: self._take_in(entry, context.run_id),
            ),
            postconditions=postconditions,
            prices=self._prices,
        )

    def _take_in(self, entry: WriteEntry, run_id: str) -> None:
        """Whoever settles the write of a run that died records that it died. The own run, and one
        of this very process, lives, however long its writes take.
        """
        if entry.run_id != run_id and entry.owner != self._store.owner:
            look_for_lost(self._store, entry.run_id, self._clock.now())

    def _observers(self) -> tuple[Observer, ...]:
        """Metrics are looked for at each run: the application may import their API later."""
        api = metrics_api() if self._metrics is None else None
        if api is not None:
            self._metrics = Metrics(api)
        metrics = () if self._metrics is None else (self._metrics,)
        return (LogTrips(), *metrics, *self._callbacks)


def _books(run_id: str) -> Iterator[str]:
    """The runs that may keep what a run has put up: itself, and those that it may work for."""
    while run_id:
        yield run_id
        run_id = run_id.rpartition("/")[0]


def _budget(budget: RunBudget | str | None, classes: Classes | None) -> tuple[RunBudget, bool]:
    """The limits, and whether a person is asked before each write."""
    if isinstance(budget, str):
        approve = workflow_class(budget, classes).approve_writes
        return RunBudget.for_class(budget, classes=classes), approve
    return budget or RunBudget(), False


def _resuming(
    wanted: object,
    authorise: object,
    reload: object,
    compatible: object,
    postconditions: Postconditions | None,
) -> None:
    """Raises TypeError where a run cannot be taken up by these."""
    where = "Breaker.resume"
    if not isinstance(wanted, Resume):
        raise TypeError(
            f"{where}(): say by Resume(...) what is wanted, not by {type(wanted).__name__}; of the "
            "line of a resume token by Resume.from_token(line, operator=...)"
        )
    arguments.asked_at_once(where, "authorise", authorise)
    arguments.asked_at_once(where, "reload", reload)
    if compatible is not None:
        arguments.asked_at_once(where, "compatible", compatible)
    arguments.asked_each_at_once(where, "postconditions", postconditions)


def _store(store: Ledger | str | os.PathLike[str] | None) -> Ledger:
    if store is None:
        return MemoryLedger()
    return open_store(store) if isinstance(store, str | os.PathLike) else store


def _lease(seconds: float) -> float:
    if not (math.isfinite(arguments.number("Breaker", "lease_s", seconds)) and seconds > 0):
        raise ValueError(f"Breaker(lease_s={seconds!r}): seconds, more than 0")
    return seconds


def _mode(mode: str) -> str:
    if mode not in _MODES:
        raise ValueError(f"Breaker(mode={mode!r}): a breaker's mode is 'enforce' or 'shadow'")
    return mode


def _circuit(circuit: CircuitPolicy | str | None) -> CircuitPolicy:
    if isinstance(circuit, CircuitPolicy):
        return circuit
    return CircuitPolicy.preset("off" if circuit is None else circuit)
