"""The breaker as a team uses it in production."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from uuid import uuid4

from pytest_tripwire.breaker.budget import RunBudget
from pytest_tripwire.breaker.clock import SystemClock
from pytest_tripwire.breaker.controller import Controller
from pytest_tripwire.breaker.port import Clock, Ledger, Policy, allow_everything
from pytest_tripwire.breaker.state import RunContext
from pytest_tripwire.guard.ending import Postconditions
from pytest_tripwire.guard.resume import Authorise, Reload, Resume, take_up
from pytest_tripwire.guard.run import BreakerRun
from pytest_tripwire.ledger import MemoryLedger
from pytest_tripwire.timeline import (
    BreakerEvent,
    Effect,
    InterruptionRecord,
    Timeline,
    ToolSpec,
    parse_effect,
)


class Breaker:
    """What is common to all runs of one agent.

    Args:
        budget: limits of each run; none by default.
        policy: who may do what; says yes by default.
        store: the ledger of writes and records; by default one in memory, shared by the runs of
            this breaker and lost with the process.
        specs: declarations of tools by name, besides those made with `@tool_spec`.
        default_effect: what a tool does whose effect nobody declared; by default an error.
        clock: seconds; the system's by default.
        new_id: gives unique ids for runs and writes.
    """

    def __init__(
        self,
        *,
        budget: RunBudget | None = None,
        policy: Policy = allow_everything,
        store: Ledger | None = None,
        specs: Mapping[str, ToolSpec] | None = None,
        default_effect: Effect | str | None = None,
        clock: Clock | None = None,
        new_id: Callable[[], str] = lambda: uuid4().hex,
    ) -> None:
        self._budget = budget or RunBudget()
        self._policy = policy
        self._store = store if store is not None else MemoryLedger()
        self._specs = dict(specs or {})
        self._default_effect = parse_effect(default_effect) if default_effect else None
        self._clock = clock or SystemClock()
        self._new_id = new_id

    @property
    def store(self) -> Ledger:
        """Where this breaker's runs keep their writes and records."""
        return self._store

    def run(
        self,
        *,
        tenant: str = "",
        workflow: str = "",
        request_id: str = "",
        postconditions: Postconditions | None = None,
        timeline: Timeline | None = None,
    ) -> BreakerRun:
        """A new run. Use it as a context manager: `with breaker.run(tenant="acme") as run:`.

        Args:
            tenant: on whose behalf; never taken from the model.
            workflow: workflow and version, e.g. `refunds@4`.
            request_id: the piece of work: a redelivered message with the same id repeats no write.
            postconditions: what has to be true for the work to be done, by name: callables that
                give true or false, or a measure. With them, only they are progress.
            timeline: where events go; by default a new one that is dropped with the run.
        """
        context = RunContext(
            run_id=self._new_id(),
            tenant=tenant,
            workflow=workflow,
            request_id=request_id,
            started_at=self._clock.now(),
        )
        return self._assembled(context, postconditions, timeline, before=None)

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
            ResumeRefusedError: when it may not go on; nothing has changed then.
        """
        record, limit = take_up(self._store, wanted, authorise=authorise, reload=reload)
        context = RunContext(
            run_id=record.run_id,
            tenant=record.tenant,
            workflow=record.workflow,
            request_id=record.request_id,
            started_at=self._clock.now() - record.elapsed_s,
            token_version=record.token_version + 1,
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
        before: InterruptionRecord | None,
    ) -> BreakerRun:
        kept = timeline or Timeline(self._clock.now)
        controller = Controller(
            context=context,
            specs=self._specs,
            budget=self._budget,
            policy=self._policy,
            ledger=self._store,
            clock=self._clock,
            events=kept.writer(BreakerEvent),
            new_key=self._new_id,
            judged=bool(postconditions),
            before=before,
        )
        numbers = itertools.count(1)
        return BreakerRun(
            run_id=context.run_id,
            controller=controller,
            clock=self._clock,
            specs=self._specs,
            new_call_id=lambda: f"call-{next(numbers)}",
            default_effect=self._default_effect,
            postconditions=postconditions,
        )
