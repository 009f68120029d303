"""Everything that one run needs, put together afresh for it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from pytest_tripwire.adapters import Caller
from pytest_tripwire.breaker.budget import Usage
from pytest_tripwire.cases.case import Again, Case, Interlude
from pytest_tripwire.guard import Breaker, BreakerRun, Resume
from pytest_tripwire.harness.ceiling import Ceiling
from pytest_tripwire.harness.operator import Approving
from pytest_tripwire.harness.options import Options, Protection
from pytest_tripwire.harness.production import guarded, made, token_share
from pytest_tripwire.harness.script import check, script_of
from pytest_tripwire.harness.specs import declared
from pytest_tripwire.harness.task import Model, Resumed, Task, Tools
from pytest_tripwire.harness.unguarded import Unguarded
from pytest_tripwire.models import Calls, ModelServer, Move, Observed, Say, Seen
from pytest_tripwire.timeline import (
    UNASKED,
    BudgetLine,
    InterruptionRecord,
    ModelRequest,
    Resumption,
    SafeAction,
    Timeline,
    WorldEvent,
)
from pytest_tripwire.world import (
    DETAIL,
    FIELD,
    WORDING,
    Operation,
    Records,
    Slots,
    Stage,
    Toolset,
    VirtualClock,
    tool_names,
)
from pytest_tripwire.world.desk import ASK, OPERATIONS

OPERATOR = "operator"
_NAME = re.compile(r"[a-z][a-z_ ]{0,39}")


class Setting:
    """One run's world, model server and breaker. Nothing of it outlives the run.

    Args:
        case: what is played.
        options: how.
        model_server: makes the model server, of what a `ModelServer` takes.
        clock: makes the run's clock.
    """

    def __init__(
        self,
        case: Case,
        options: Options,
        model_server: Callable[..., ModelServer] = ModelServer,
        clock: Callable[[], VirtualClock] = VirtualClock,
    ) -> None:
        self.case = case
        self.options = options
        self.ceiling = Ceiling(options.max_seconds)
        self.clock = clock()
        self.timeline = Timeline(self.clock.now)
        self._world = self.timeline.writer(WorldEvent)
        self._records = Records()
        case.seed(self._records)
        self.stage = Stage(
            records=self._records,
            clock=self.clock,
            faults=case.faults,
            events=self._world,
            heard=self._heard,
        )
        self.toolset = Toolset(
            operations=case.operations,
            roles=options.roles,
            stage=self.stage,
            elsewhere=OPERATIONS,
        )
        self._specs = declared(self.toolset, case, options.specs)
        self._in_production = options.protection == Protection.PRODUCTION
        self._script = script_of(case.personas, case, options.persona)
        check(self._script, self.toolset)
        if case.interlude is not None:
            check(script_of(case.interlude.personas, case, options.persona), self.toolset)
        self._breaker = self._assembled()
        self._limits = options.budget or case.budget
        if self._in_production:
            self._limits = self._breaker.budget
        #: The breaker's run; None where the agent's own protection is under test.
        self._began = 0.0
        self.run = self._begun()
        self._resumed: Resumed | None = None
        known = frozenset(tool_names(options.roles, OPERATIONS))
        self._idle = known - self.toolset.functions.keys()
        #: The model that the agent is given in place of the scripted one.
        self.real_model: Model | None = None
        self.server = model_server(
            script=self._move,
            binder=self.toolset,
            observe=self._observe,
            roles=case.roles,
            faults=options.model_faults,
            max_requests=options.max_requests,
            max_seconds=options.max_seconds,
        )

    def task(self) -> Task:
        """What the agent is given. The server has to be started."""
        return Task(
            prompt=self.case.prompt,
            tools=self._tools(),
            model=self.real_model or Model(self.server.base_url, self.server.exchange),
            limits=self._limits,
            clock=self.clock,
            version_of=self._version_now,
            token_price_usd=self.case.price,
            resume=self._resumed,
            idle=self._idle,
        )

    def turn_over(self, interlude: Interlude) -> bool:
        """End the first call as the case says, let others do what they do, and get ready for the
        second. Returns whether there is one: a run that left a write unsettled is not resumed.
        """
        resumes = interlude.why is Again.RESUME
        if self.run is not None and resumes:
            self.run.interrupt("Interrupted until the operator has decided.")
        record = self.close(crashed=False)
        if resumes and record is not None and SafeAction.RESUME not in record.safe_actions:
            return False
        interlude.meanwhile(self.stage)
        self._script = script_of(interlude.personas, self.case, self.options.persona)
        if resumes:
            self._world.append(Resumption(decision=interlude.decision))
            self._resumed = Resumed(
                decision=interlude.decision,
                run_id=record.run_id if record else self.case.id,
                token_version=record.token_version if record else 1,
            )
        self.run = self._taken_up(record) if resumes else self._begun()
        return True

    def close(self, *, crashed: bool) -> InterruptionRecord | None:
        """End the breaker's run; one whose agent has crashed is not completed."""
        if self.run is None:
            return None
        if crashed:
            self.run.fail("the agent raised an exception of its own")
        return self.run.close()

    def budgets(self) -> tuple[BudgetLine, ...]:
        """What is left of each limit of the breaker's run, its deadline among them."""
        if self.run is None:
            return ()
        lines, left, limit = self.run.budgets(), self.run.time_left, self._limits.deadline_s
        if left is None or limit is None:
            return lines
        # The breaker tells no more than that it has passed.
        spent = limit - left if left else max(limit, self.clock.now() - self._began)
        line = BudgetLine(name="deadline_s", limit=limit, spent=spent, remaining=left)
        return (*lines, line)

    # -- the breaker

    def _assembled(self) -> Breaker:
        if self._in_production:
            return made(self.options.breaker, self.clock)
        numbers = itertools.count(1)
        return Breaker(
            budget=self.options.budget or self.case.budget,
            clock=self.clock,
            new_id=lambda: f"{self.case.id}-{next(numbers)}",
        )

    def _begun(self) -> BreakerRun | None:
        if self.options.protection == Protection.OWN:
            return None
        return self._timed(self._breaker.run(workflow=self.case.id, timeline=self.timeline))

    def _taken_up(self, record: InterruptionRecord | None) -> BreakerRun | None:
        if record is None:
            return None
        wanted = Resume(
            run_id=record.run_id,
            token_version=record.token_version,
            operator=OPERATOR,
            workflow=self.case.id,
        )
        run = self._breaker.resume(
            wanted,
            authorise=lambda who, _record, _action: who == OPERATOR,
            reload=self._version_now,
            timeline=self.timeline,
        )
        return self._timed(run)

    def _timed(self, run: BreakerRun) -> BreakerRun:
        """The deadline is an event of the clock's own, so that it is noticed when it passes."""
        left, self._began = run.time_left, self.clock.now()
        if left is not None:
            self.clock.at(self.clock.now() + left, run.expire)
        return run

    def _version_now(self, resource: str) -> str | None:
        """The version of what the run has read. The business knows it by a name of its own."""
        for known in self._records.named(""):
            if known.name.split(" ", 1)[-1] == resource:
                return str(known.version)
        return None

    def _tools(self) -> Tools:
        functions = self.toolset.functions
        if self.run is None:
            return self._capped(functions, Unguarded(functions))
        if self._in_production:
            operator = Approving(self.run)
            own = guarded(self.run, self.toolset, functions)
            return self._capped(operator.over(own), operator)
        return self._capped(self.run.guard(functions, self._specs), self.run)

    def _capped(self, functions: Mapping[str, Callable[..., Any]], calls: Caller) -> Tools:
        return Tools(
            functions=self.ceiling.over(functions),
            toolset=self.toolset,
            calls=calls,
            check=self.ceiling.check,
        )

    def _heard(self, operation: Operation, slots: Slots) -> None:
        """What is asked of the user ends the breaker's run in words, whatever the agent does."""
        if operation.role == ASK.role and self.run is not None:
            self.run.needs_input(
                field=_field(slots),
                why=str(slots.get(DETAIL, "")),
                question=str(slots.get(WORDING, "")),
            )

    # -- the model

    def _move(self, seen: Seen) -> Move:
        move = self._script(seen)
        self.clock.announce(len(move.proposals) if isinstance(move, Calls) else 0)
        return move

    def _observe(self, seen: Observed) -> str | None:
        """Let the breaker open a turn for a request, pay for it, and tell the timeline."""
        if seen.repeat or seen.auxiliary:
            return None
        verdict = self.run.before_model() if self.run is not None else None
        refused = verdict is not None and not verdict.allowed
        cost = self._cost(seen)
        if self.run is not None and not refused:
            self.run.after_model(self._usage(seen, cost))
        self._world.append(
            ModelRequest(
                conversation=seen.conversation,
                turn=seen.turn,
                says=UNASKED if refused else _says(seen),
                prompt_tokens=seen.prompt_tokens,
                completion_tokens=seen.completion_tokens,
                cost_usd=Decimal(0) if refused else cost,
                proposes=() if refused else seen.calls,
            )
        )
        return verdict.message if refused and verdict else None

    def _usage(self, seen: Observed, cost: Decimal) -> Usage:
        share = token_share(self._limits) if self._in_production else 1.0
        return Usage(
            prompt_tokens=int(seen.prompt_tokens * share),
            completion_tokens=int(seen.completion_tokens * share),
            cost_usd=cost,
        )

    def _cost(self, seen: Observed) -> Decimal:
        return self.case.price * (seen.prompt_tokens + seen.completion_tokens)


def _field(slots: Slots) -> str:
    """The field's name, where it looks like one: reports show it, and an agent can put anything
    into it, a secret too.
    """
    name = str(slots.get(FIELD, ""))
    return name if _NAME.fullmatch(name) else "a field"


def _says(seen: Observed) -> str:
    if isinstance(seen.move, Say):
        return "answers"
    if seen.withheld:
        return f"could not propose: {seen.withheld}"
    return "proposes " + ", ".join(each.role for each in seen.move.proposals)
