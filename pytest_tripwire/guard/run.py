"""One guarded run: tools in, guarded tools out; a stop surfaces when the run ends."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from decimal import Decimal
from types import TracebackType
from typing import Any, Self, TypeVar, overload

import msgspec

from pytest_tripwire.breaker.budget import Usage
from pytest_tripwire.breaker.finding import Finding, stop_for
from pytest_tripwire.breaker.controller import Controller
from pytest_tripwire.breaker.port import Clock
from pytest_tripwire.breaker.reconcile import Reconcile
from pytest_tripwire.guard.calling import (
    AsyncWork,
    accepted,
    bind,
    enter,
    failed,
    is_async,
    is_generator,
    returned,
    signature_of,
)
from pytest_tripwire.guard.ending import Measures, Postconditions, State, Terminal
from pytest_tripwire.guard.errors import Interrupted, UndeclaredToolError
from pytest_tripwire.guard.nudge import with_hint
from pytest_tripwire.guard.wrap import wrap
from pytest_tripwire.timeline import (
    BudgetLine,
    Effect,
    InterruptionRecord,
    Mode,
    Outcome,
    Reason,
    Status,
    ToolCall,
    ToolSpec,
    Verdict,
    spec_of,
)

Tool = TypeVar("Tool", bound=Callable[..., Any])
_NOT_OURS = (KeyboardInterrupt, SystemExit, GeneratorExit)


class BreakerRun:
    """What `Breaker.run()` gives. Use it as a context manager: on exit it raises `Interrupted` if
    the run was stopped, or left a write behind whose outcome is unknown.

    Args:
        run_id: unique for each run.
        controller: decides.
        clock: lets a late effect have its time.
        new_call_id: names a call that came without an id.
        specs: declarations of tools by name; they outweigh `@tool_spec`.
        default_effect: what a tool does whose effect nobody declared; None makes that an error.
        postconditions: what has to be true for the work to be done, by name.
    """

    def __init__(
        self,
        *,
        run_id: str,
        controller: Controller,
        clock: Clock,
        new_call_id: Callable[[], str],
        specs: Mapping[str, ToolSpec] | None = None,
        default_effect: Effect | None = None,
        postconditions: Postconditions | None = None,
    ) -> None:
        self.run_id = run_id
        #: How the run has ended; None while it goes on.
        self.terminal: Terminal | None = None
        self._measures = Measures(postconditions or {})
        self._controller = controller
        self._clock = clock
        self._new_call_id = new_call_id
        self._declared = specs or {}
        self._default_effect = default_effect
        self._tools: dict[str, Callable[..., Any]] = {}
        self._specs: dict[str, ToolSpec] = {}
        self._signatures: dict[str, inspect.Signature | None] = {}

    def __repr__(self) -> str:
        return f"<BreakerRun {self.run_id} {self.mode}>"

    @property
    def mode(self) -> Mode:
        """What the run may still do."""
        return self._controller.mode

    @property
    def last_reason(self) -> Reason | None:
        """Why the run left `open`; None while it is open."""
        return self._controller.last_reason

    @property
    def time_left(self) -> float | None:
        """Seconds until the deadline, 0 when it has passed; None without one."""
        return self._controller.time_left

    def budgets(self) -> tuple[BudgetLine, ...]:
        """Every limited budget as it stands."""
        return self._controller.budgets()

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

        A refused call returns `{"refused": true, "reason": ..., "message": ...}`; an exception of
        the tool's own passes through unchanged.

        Args:
            tools: callables, or callables by name; the result has the same shape.
            specs: declarations by name; they outweigh `@tool_spec`.

        Raises:
            UndeclaredToolError: for a tool whose effect nobody declared.
        """
        table = specs or {}
        if isinstance(tools, Mapping):
            return {name: self._guarded(name, tool, table) for name, tool in tools.items()}
        return [self._guarded(None, tool, table) for tool in tools]

    def _guarded(
        self, name: str | None, tool: Callable[..., Any], table: Mapping[str, ToolSpec]
    ) -> Callable[..., Any]:
        declared = spec_of(tool)
        known_as = name or (declared.name if declared else _own_name(tool))
        spec = table.get(known_as) or self._declared.get(known_as) or declared
        if spec is None and self._default_effect is not None:
            spec = ToolSpec(name=known_as, effect=self._default_effect)
        if spec is None:
            raise UndeclaredToolError(known_as)
        if is_generator(tool):
            raise TypeError(
                f"the tool {known_as!r} is a generator: it works after it has returned, when "
                "nothing is watched any more. Guard a function that returns its whole result"
            )
        if spec.name != known_as:
            # Known under another name here, but what it does to the business is the same.
            spec = msgspec.structs.replace(spec, name=known_as, operation=spec.kind)
        self._tools[known_as], self._specs[known_as] = tool, spec
        self._signatures[known_as] = signature_of(tool)
        self._controller.declare(spec)
        return wrap(tool, known_as, self)

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
        verdict = self._decide(call, problem)
        return self._execute(call, args, arguments) if verdict.allowed else verdict.as_result()

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
        verdict = self._controller.propose(call, problem=problem)
        while isinstance(verdict, Reconcile):
            await self._clock.asleep(verdict.wait_s)
            request = self._narrowed(verdict)
            self._controller.reconciled(request, await self._aread(request))
            verdict = self._controller.propose(call, problem=problem, asked=True)
        if not verdict.allowed:
            return verdict.as_result()
        result = self._execute(call, args, arguments, as_task=True)
        return await result if inspect.isawaitable(result) else result

    def decide(self, call: ToolCall) -> Verdict:
        """Decide about a call that you run yourself; `settle` it if it was allowed. A lost write
        is reconciled first where its spec names a sync read.
        """
        return self._decide(call, "")

    def _decide(self, call: ToolCall, problem: str) -> Verdict:
        verdict = self._controller.propose(call, problem=problem)
        while isinstance(verdict, Reconcile):
            self._clock.sleep(verdict.wait_s)
            request = self._narrowed(verdict)
            self._controller.reconciled(request, self._read(request))
            verdict = self._controller.propose(call, problem=problem, asked=True)
        return verdict

    def settle(self, call: ToolCall, outcome: Outcome) -> str | None:
        """Say what came back from a call that `decide` allowed. Returns a hint for the model, to
        be given with the result, if there is one. Raises KeyError for any other call.
        """
        ok = outcome.status is Status.OK
        advanced = ok and bool(self._measures) and self._measures.advanced()
        return self._controller.settle(call, outcome, advanced=advanced)

    def before_model(self, estimate_usd: Decimal | None = None) -> Verdict:
        """Open a turn. Anything but `ALLOW` means: do not send the request.

        Args:
            estimate_usd: what the request is expected to cost; by default the lowest seen.
        """
        return self._controller.before_model(estimate_usd)

    def after_model(self, usage: Usage) -> None:
        """Pay for the request that was opened first and not paid yet."""
        self._controller.after_model(usage)

    def model_failed(self) -> None:
        """Take back what was reserved for a request that failed and cost nothing."""
        self._controller.model_failed()

    def _call(
        self,
        name: str,
        args: tuple[Any, ...],
        arguments: Mapping[str, Any],
        call_id: str | None,
        agent: str | None,
    ) -> tuple[ToolCall, str]:
        bound, problem = bind(self._signatures.get(name), args, arguments)
        if name not in self._tools:
            problem = "it is not one of this run's tools"
        call = ToolCall(
            call_id=call_id or self._new_call_id(), tool=name, arguments=bound, agent=agent
        )
        return call, problem

    def _execute(
        self,
        call: ToolCall,
        args: tuple[Any, ...],
        arguments: Mapping[str, Any],
        *,
        as_task: bool = False,
    ) -> Any:
        try:
            with self._controller.launch(call) as verdict:
                if not verdict.allowed:
                    return verdict.as_result()
                rest = enter(self._tools[call.tool], args, arguments)
            task = as_task and isinstance(rest, AsyncWork)
            result = rest.arun() if task else rest()
        except BaseException as error:
            self._fail(call, error)
            raise
        if inspect.isawaitable(result):
            return self._finish(call, result)
        return self._succeed(call, result)

    async def _finish(self, call: ToolCall, pending: Awaitable[Any]) -> Any:
        left = self._controller.time_left
        try:
            result = await (pending if left is None else self._clock.within(left, pending))
        except BaseException as error:
            self._fail(call, error)
            refusal = self._controller.refusal()
            if isinstance(error, TimeoutError) and refusal and self._controller.time_left == 0:
                return refusal.as_result()
            raise
        return self._succeed(call, result)

    def _succeed(self, call: ToolCall, result: Any) -> Any:
        return with_hint(result, self.settle(call, returned(result, self._specs[call.tool])))

    def _fail(self, call: ToolCall, error: BaseException) -> None:
        """A ledger that fails as well does not hide the tool's own error, least of all a
        cancellation; the write stays in flight, and the end of the run tells of it.
        """
        try:
            self.settle(call, failed(error, self._specs[call.tool]))
        except Exception as second:  # noqa: BLE001 - whatever the ledger raises
            error.add_note(f"and its outcome could not be settled: {second!r}")

    # -- reconciling reads

    def _narrowed(self, request: Reconcile) -> Reconcile:
        """The request with those arguments that the read takes: no other is part of the question,
        and so no other can be merely repeated by the answer.
        """
        read = self._reader(request)
        taken = accepted(signature_of(read), request.arguments) if read is not None else {}
        return msgspec.structs.replace(request, arguments=taken)

    def _read(self, request: Reconcile) -> Outcome:
        read = self._reader(request)
        if read is None or is_async(read) or not _asks_it_all(request):
            return Outcome(status=Status.TRANSIENT, error="no sync read of all that it is about")
        try:
            result = read(**request.arguments)
        except Exception as error:  # noqa: BLE001 - a failed read only proves nothing
            return Outcome(status=Status.TRANSIENT, error=type(error).__name__)
        return Outcome(status=Status.OK, result=result)

    async def _aread(self, request: Reconcile) -> Outcome:
        read = self._reader(request)
        if read is None or not _asks_it_all(request):
            return Outcome(status=Status.TRANSIENT, error="no read of all that it is about")
        try:
            result = read(**request.arguments)
            if inspect.isawaitable(result):
                result = await result
        except Exception as error:  # noqa: BLE001 - a failed read only proves nothing
            return Outcome(status=Status.TRANSIENT, error=type(error).__name__)
        return Outcome(status=Status.OK, result=result)

    def _reader(self, request: Reconcile) -> Callable[..., Any] | None:
        return self._tools.get(request.read) if isinstance(request.read, str) else request.read

    # -- the end

    def interrupt(self, message: str) -> None:
        """Stop the run from outside: nothing is dispatched any more."""
        self._controller.stop(stop_for(Reason.CANCELLED, message))

    def limit(self, finding: Finding) -> None:
        """Begin in another mode than `open`, as a resumed run may have to."""
        self._controller.stop(finding)

    def expire(self) -> None:
        """Look at the clock. Whoever has a timer calls this at the deadline; without one it is
        noticed at the next call.
        """
        self._controller.expire()

    def needs_input(self, *, field: str, why: str, question: str) -> Terminal:
        """End the run because something is missing that only the user can say.

        Args:
            field: what is missing.
            why: what it is needed for.
            question: one specific question.
        """
        return self._ended(
            Terminal(state=State.NEEDS_INPUT, detail=why, field=field, question=question)
        )

    def reject(self, why: str) -> Terminal:
        """End the run because the task is not to be done."""
        return self._ended(Terminal(state=State.REJECTED, detail=why))

    def fail(self, why: str) -> Terminal:
        """End the run because whatever drives it has failed."""
        return self._ended(Terminal(state=State.FAILED, detail=why))

    def finish(self) -> Terminal:
        """End the run. It is `completed` if every postcondition is true, and `failed` if one is
        not; what the model says is no evidence.
        """
        unmet = self._measures.unmet()
        if unmet:
            return self._ended(Terminal(state=State.FAILED, detail=f"not true: {', '.join(unmet)}"))
        return self._ended(Terminal(state=State.COMPLETED))

    def close(self) -> InterruptionRecord | None:
        """End the run without raising. Returns its record if it did not end well."""
        record = self._controller.close()
        if record is None and self.terminal is None:
            self.finish()
        elif record is not None:
            self._become(Terminal(state=State.INTERRUPTED, detail=record.message))
        return record

    def _ended(self, terminal: Terminal) -> Terminal:
        self._controller.end()
        if self.terminal is None or self.terminal.state is State.COMPLETED:
            self._become(terminal)
        return self.terminal or terminal

    def _become(self, terminal: Terminal) -> None:
        if terminal != self.terminal:
            self.terminal = terminal
            self._controller.finished(terminal.state, terminal.field or terminal.detail)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        record = self.close()
        if record is None or isinstance(error, (Interrupted, *_NOT_OURS)):
            return
        raise Interrupted(record) from error


def _asks_it_all(request: Reconcile) -> bool:
    """Whether a read takes the whole identity of the write. A wider one shows what others wrote."""
    identity = request.spec.identity
    return identity is None or set(identity) <= set(request.arguments)


def _own_name(tool: Callable[..., Any]) -> str:
    return str(getattr(tool, "__name__", type(tool).__name__))
