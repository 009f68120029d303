"""One guarded run: tools in, guarded tools out; a stop surfaces when the run ends."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, NoReturn, TypeVar, overload

from pytest_tripwire.breaker.controller import Controller
from pytest_tripwire.breaker.conversation import inside
from pytest_tripwire.breaker.memory import encode
from pytest_tripwire.breaker.port import Clock
from pytest_tripwire.breaker.prices import Prices
from pytest_tripwire.breaker.shadow import WouldHave
from pytest_tripwire.breaker.tally import RunStats
from pytest_tripwire.breaker.tasks import Attempt
from pytest_tripwire.guard.arguments import asked_each_at_once, text
from pytest_tripwire.guard.away import away
from pytest_tripwire.guard.by_hand import ByHand
from pytest_tripwire.guard.calling import AsyncWork, failed, returned
from pytest_tripwire.guard.ending import Measures, Postconditions, Terminal
from pytest_tripwire.guard.errors import ChildRefusedError
from pytest_tripwire.guard.exits import Exits
from pytest_tripwire.guard.from_outside import FromOutside
from pytest_tripwire.guard.model_side import ModelSide
from pytest_tripwire.guard.nudge import with_hint
from pytest_tripwire.guard.roads import drive
from pytest_tripwire.guard.tasks import within
from pytest_tripwire.guard.toolbox import Toolbox
from pytest_tripwire.guard.wrap import bare, wrap
from pytest_tripwire.timeline import (
    BudgetLine,
    Decision,
    Mode,
    Outcome,
    Reason,
    Status,
    ToolCall,
    ToolSpec,
    Verdict,
)

T = TypeVar("T")
Tool = TypeVar("Tool", bound=Callable[..., Any])


class BreakerRun(ByHand, ModelSide, FromOutside, Exits):
    """What `Breaker.run()` gives. Use it as a context manager: on exit it raises `Interrupted` if
    the run was stopped, or left a write behind whose outcome is unknown.

    Args:
        controller: decides.
        clock: lets a late effect have its time.
        new_call_id: names a call that came without an id.
        toolbox: holds the tools.
        postconditions: what has to be true for the work to be done, by name.
        prices: what model requests cost, where nobody says it.
    """

    def __init__(
        self,
        *,
        controller: Controller,
        clock: Clock,
        new_call_id: Callable[[], str],
        toolbox: Toolbox,
        postconditions: Postconditions | None = None,
        prices: Prices | None = None,
    ) -> None:
        self.run_id = controller.context.run_id
        self.agent = controller.context.agent
        self.terminal: Terminal | None = None
        self._measures = Measures(postconditions or {})
        self._controller = controller
        self._clock = clock
        self._new_call_id = new_call_id
        self._toolbox = toolbox
        self._prices = prices

    def __repr__(self) -> str:
        return f"<BreakerRun {self.run_id} {self.mode}>"

    # -- what can be seen

    @property
    def mode(self) -> Mode:
        """What the run may still do."""
        return self._controller.mode

    @property
    def shadow(self) -> bool:
        """Whether the run is only watched: decisions are recorded, and nothing is stopped."""
        return self._controller.shadow

    @property
    def last_reason(self) -> Reason | None:
        """Why the run left `open`, or would have, if it is only watched. While it is open: why a
        circuit opened last; None if none was.
        """
        return self._controller.last_reason

    @property
    def time_left(self) -> float | None:
        """Seconds until the deadline, 0 when it has passed; None without one."""
        return self._controller.time_left

    @property
    def would_have(self) -> tuple[WouldHave, ...]:
        """What an enforced run would have done, of one that is only watched: each refusal until the
        run would have been stopped, and from then on each new kind once, with how often it came
        again. Empty in a run that is enforced.
        """
        return self._controller.would_have()

    def budgets(self) -> tuple[BudgetLine, ...]:
        """Every limited budget as it stands."""
        return self._controller.budgets()

    def stats(self) -> RunStats:
        """The run in numbers, as it stands."""
        return self._controller.stats()

    def backoff(self, tool: str | None = None) -> float:
        """Seconds that a patient caller waits before trying a tool again: min(2**n, 60), n being
        the turns in a row in which it failed; without a tool, the most of any.
        """
        return self._controller.backoff(tool)

    def snapshot(self) -> bytes:
        """What the run carries to another process, to be handed to `Breaker.run(state=...)` there:
        counters and fingerprints, at most 64 KiB of JSON, no payloads. What waits for an approval
        is in the store. Raises StateError where the run's ids alone are too long for
        that.
        """
        return encode(self._controller.memory())

    # -- tools

    @overload
    def guard(
        self, tools: Mapping[str, Tool], specs: Mapping[str, ToolSpec] | None = None
    ) -> dict[str, Tool]: ...

    @overload
    def guard(
        self, tools: list[Tool] | tuple[Tool, ...], specs: Mapping[str, ToolSpec] | None = None
    ) -> list[Tool]: ...

    def guard(self, tools: Any, specs: Mapping[str, ToolSpec] | None = None) -> Any:
        """Callables with the same names, signatures and docstrings that ask before they run.

        A refused call returns `{"refused": true, "reason": ..., "message": ...}`, with the
        `call_id` to `approve` where it needs a person's yes; an exception of the tool's own passes
        through unchanged.

        Args:
            tools: callables, or callables by name; the result has the same shape.
            specs: declarations by name; they outweigh `@tool_spec`.

        Raises:
            UndeclaredToolError: for a tool whose effect nobody declared.
            TypeError: for a generator, and for a tool without the `key_argument` of its spec.
        """
        table = specs or {}
        if isinstance(tools, Mapping):
            return {name: self._guarded(name, tool, table) for name, tool in tools.items()}
        return [self._guarded(None, tool, table) for tool in tools]

    def _guarded(
        self, name: str | None, tool: Callable[..., Any], table: Mapping[str, ToolSpec]
    ) -> Callable[..., Any]:
        family = self._controller.family
        tool, known = bare(tool, family)
        if known is not None:
            name, table = name or known.name, {known.name: known, **table}
        spec = self._toolbox.add(name, tool, table)
        self._controller.declare(spec)
        return wrap(tool, spec.name, self, spec=spec, family=family)

    def declared(self, tool: str) -> ToolSpec:
        """What is declared about a guarded tool, or by the breaker about any other of its name.
        Raises KeyError where nobody says anything.
        """
        return self._toolbox.spec(tool)

    # -- calls

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        args: tuple[Any, ...] = (),
        call_id: str | None = None,
        agent: str | None = None,
    ) -> Any:
        """Call a guarded tool by name. An async tool gives an awaitable: use `acall` for those."""
        call, problem = self._call(name, args, arguments, call_id, agent)
        verdict = drive(self._deciding(call, problem), self._read, self._clock)
        return self._done(call, verdict, args, arguments)

    async def acall(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        args: tuple[Any, ...] = (),
        call_id: str | None = None,
        agent: str | None = None,
    ) -> Any:
        """Call a guarded tool by name, sync or async."""
        call, problem = self._call(name, args, arguments, call_id, agent)
        verdict = await self._adecided(call, problem)
        await self._unhindered(call, verdict)
        result = self._done(call, verdict, args, arguments, as_task=True)
        return await result if inspect.isawaitable(result) else result

    def perform(self, call: ToolCall, verdict: Verdict) -> Any:
        """What a decided call gives: the result of the guarded tool, which is settled here, or the
        refusal. A run that was stopped since refuses it too. For loops that decide about a whole
        message first: `decide_batch`, then `perform` each. An async tool gives an awaitable.
        """
        return self._done(call, verdict, (), call.arguments)

    async def aperform(self, call: ToolCall, verdict: Verdict) -> Any:
        """The same as a task, sync or async."""
        await self._unhindered(call, verdict)
        result = self._done(call, verdict, (), call.arguments, as_task=True)
        return await result if inspect.isawaitable(result) else result

    def settle(self, call: ToolCall, outcome: Outcome) -> str | None:
        """Say what came back from a call that `decide` allowed. Returns a hint for the model, to
        be given with the result, if there is one. Raises KeyError for any other call.
        """
        return self._settle(call, outcome)

    def _call(
        self,
        name: str,
        args: tuple[Any, ...],
        arguments: Mapping[str, Any],
        call_id: str | None,
        agent: str | None,
    ) -> tuple[ToolCall, str]:
        bound, problem = self._toolbox.bound(name, args, arguments)
        call = ToolCall(
            call_id=call_id or self._new_call_id(),
            tool=name,
            arguments=bound,
            agent=agent or self.agent or None,
        )
        return call, problem

    def _done(
        self,
        call: ToolCall,
        verdict: Verdict,
        args: tuple[Any, ...],
        arguments: Mapping[str, Any],
        *,
        as_task: bool = False,
    ) -> Any:
        """What a decided call gives: the tool's result, or the refusal."""
        if verdict.allowed and call.tool not in self._toolbox:
            verdict = self._no_tool(call)
        if not verdict.allowed:
            return told(verdict, call)
        if self._toolbox.has_key(call.tool):
            key = self._controller.key_of(call)
            args, arguments = self._toolbox.with_key(call.tool, args, arguments, key)
        return self._execute(call, args, arguments, as_task=as_task)

    def _no_tool(self, call: ToolCall) -> Verdict:
        """A run that is only watched lets everything through; what is not there cannot run."""
        self._controller.withdraw(call)
        return no_tool(call.tool)

    def _execute(
        self,
        call: ToolCall,
        args: tuple[Any, ...],
        arguments: Mapping[str, Any],
        *,
        as_task: bool,
    ) -> Any:
        try:
            with self._controller.launch(call) as verdict:
                if not verdict.allowed:
                    return verdict.as_result()
                rest = self._toolbox.enter(call.tool, args, arguments)
            task = as_task and isinstance(rest, AsyncWork)
            with inside():
                result = rest.arun() if task else rest()
        except BaseException as error:
            if as_task and self._waits(call):
                return self._finish(call, _raised(error))
            self._fail(call, error)
            raise
        if inspect.isawaitable(result):
            return self._finish(call, result)
        if as_task and self._waits(call):
            return self._finish(call, _given(result))
        return self._succeed(call, result)

    async def _finish(self, call: ToolCall, pending: Awaitable[Any]) -> Any:
        left = None if self.shadow else self._controller.time_left
        try:
            with inside():
                result = await (pending if left is None else self._clock.within(left, pending))
        except BaseException as error:
            await self._settled(call, partial(self._fail, call, error))
            refusal = self._controller.refusal()
            if isinstance(error, TimeoutError) and refusal and self._controller.time_left == 0:
                return refusal.as_result()
            raise
        outcome = returned(result, self._toolbox.spec(call.tool))
        # A team's own postconditions are asked here, where the rest of its code runs.
        settle = partial(self._controller.settle, call, outcome, advanced=self._advanced(outcome))
        return with_hint(result, await self._settled(call, settle))

    async def _settled(self, call: ToolCall, settle: Callable[[], T]) -> T:
        """Settle as a task: in a thread where that may wait for a disk or a network."""
        return await away(settle) if self._waits(call) else settle()

    def _succeed(self, call: ToolCall, result: Any) -> Any:
        outcome = returned(result, self._toolbox.spec(call.tool))
        return with_hint(result, self._settle(call, outcome))

    def _fail(self, call: ToolCall, error: BaseException) -> None:
        """A ledger that fails as well does not hide the tool's own error, least of all a
        cancellation; the write stays in flight, and the end of the run tells of it.
        """
        cut_off = not isinstance(error, Exception)
        try:
            self._settle(call, failed(error, self._toolbox.spec(call.tool)), cut_off=cut_off)
        except Exception as second:  # noqa: BLE001 - whatever the ledger raises
            error.add_note(f"and its outcome could not be settled: {second!r}")

    def _settle(self, call: ToolCall, outcome: Outcome, *, cut_off: bool = False) -> str | None:
        advanced = self._advanced(outcome)
        return self._controller.settle(call, outcome, advanced=advanced, cut_off=cut_off)

    def _advanced(self, outcome: Outcome) -> bool:
        """Whether what came back has brought the run nearer to what it is to make true."""
        ok = outcome.status is Status.OK
        return ok and bool(self._measures) and self._measures.advanced()

    # -- tasks and sub-agents

    def task(self, task_id: str) -> AbstractContextManager[Attempt]:
        """One try at a task: `with run.task("A-1"):`. Every call inside belongs to it, in the same
        thread or async task and whatever of these is started with a copy of the context. In one try
        more than `max_attempts_per_task` every call is refused (`task_attempts`), and the run goes
        on with other tasks. Tasks nest: a try too many holds for all that is tried inside it.

        Raises:
            ValueError: for a task without an id.
        """
        return within(self._controller.family, self._controller.attempt(task_id))

    def child(
        self,
        agent: str = "",
        *,
        specs: Mapping[str, ToolSpec] | None = None,
        postconditions: Postconditions | None = None,
    ) -> BreakerRun:
        """A run for a sub-agent, to be used like this one: `with run.child("billing") as child:`.

        It shares budgets, writes, denials, approvals and circuits with this one: what either of
        them has spent, written or was denied holds for both, and when this one stops, so does it.
        Its turns and its history are its own: whether it gets anywhere is judged by what it does
        itself, and a hand-off to it is this very call. It has its own tools: guard them with it. In
        a timeline it shares the numbers of events, and its events carry its id.

        Args:
            agent: the sub-agent's name.
            specs: declarations of its tools by name, besides those of this run.
            postconditions: what has to be true for its part of the work to be done.

        Raises:
            ChildRefusedError: there is no slot left of `max_subagents`, or this run is not open.
            TypeError: the name is no text, or a postcondition cannot be called, or is async.
        """
        agent = text("child", "agent", agent)
        asked_each_at_once("child", "postconditions", postconditions)
        declared = self._toolbox.asked_first(specs or {})
        begun = self._controller.child(agent, declared, judged=bool(postconditions))
        if isinstance(begun, Verdict):
            raise ChildRefusedError(self.run_id, begun)
        return BreakerRun(
            controller=begun,
            clock=self._clock,
            new_call_id=self._new_call_id,
            toolbox=self._toolbox.of_child(declared),
            postconditions=postconditions,
            prices=self._prices,
        )


async def _given(result: T) -> T:
    """What a sync tool has returned, as an async one would give it."""
    return result


async def _raised(error: BaseException) -> NoReturn:
    """What a sync tool has raised, likewise."""
    raise error


def told(verdict: Verdict, call: ToolCall) -> dict[str, Any]:
    """What a refused call gives; one that waits for a yes says by which id it is given."""
    result = verdict.as_result()
    if verdict.decision is Decision.REQUIRE_APPROVAL:
        result["call_id"] = call.call_id
    return result


def no_tool(name: str) -> Verdict:
    """What a call is told that no tool can answer."""
    return Verdict(
        decision=Decision.REFUSE,
        reason=Reason.INVALID_ARGUMENTS,
        message=f"There is no tool {name!r} in this run.",
    )
