"""What an agent's answer does, asked for like a tool.

The place is right around the function: the last hook before it, the first after it, so that no
other hook changes what was decided about, or hides that it failed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

from pydantic_ai import ModelRetry
from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering

from pytest_tripwire.adapters.bridge import Bridge, as_text
from pytest_tripwire.adapters.pydantic_ai.asked import bare, joined, settling_read
from pytest_tripwire.adapters.pydantic_ai.functions import Acting, Function, acting_in, offered
from pytest_tripwire.adapters.pydantic_ai.metered import RunStoppedError
from pytest_tripwire.adapters.pydantic_ai.native import agent_name
from pytest_tripwire.guard import BreakerRun
from pytest_tripwire.guard.calling import failed, returned
from pytest_tripwire.timeline import Mode, Outcome, ToolCall, ToolSpec, spec_of


@dataclasses.dataclass
class Held:
    """One output function on its way.

    Args:
        call: what was decided about, until it is settled.
    """

    call: ToolCall | None = None


_HELD: ContextVar[Held | None] = ContextVar("tripwire_pydantic_ai_output", default=None)


@dataclasses.dataclass(init=False)
class Outputs(AbstractCapability[Any]):
    """Asks a run before an output function runs. Outputs that only have a type are none.

    Args:
        run: decides.
        specs: declarations by name; they outweigh those of the run's breaker.
    """

    def __init__(self, run: BreakerRun, specs: Mapping[str, ToolSpec]) -> None:
        super().__init__()
        self._run = run
        self._specs = specs

    def get_ordering(self) -> CapabilityOrdering:
        """Inside of all others, right around the function."""
        return CapabilityOrdering(position="innermost")

    async def before_model_request(self, ctx: Any, request_context: Any) -> Any:
        """See that every function is declared, before anything is spent on it."""
        if self._acts(ctx):
            bridge = self._bridge(ctx)
            for function in offered(ctx, request_context.model_request_parameters):
                take(bridge, function.__name__, function)
        return request_context

    async def wrap_output_process(self, _: Any, *, output: Any, handler: Any, **_more: Any) -> Any:
        """Whatever ends a function, it is settled."""
        held = Held()
        token = _HELD.set(held)
        try:
            result = await handler(output)
            self._returned(held, result)
        except BaseException as error:
            self._failed(held, error)
            raise
        finally:
            _HELD.reset(token)
        return result

    async def before_output_process(self, ctx: Any, *, output_context: Any, output: Any) -> Any:
        """Ask, or tell the model of the refusal."""
        acting = acting_in(ctx, output_context)
        held = _HELD.get()
        if acting is None or held is None or not self._acts(ctx):
            return output
        if ctx.partial_output:
            raise ModelRetry(f"{acting.name} runs when the answer is complete")
        return await self._asked(ctx, acting, output, held)

    async def after_output_process(self, _: Any, *, output: Any, **_more: Any) -> Any:
        """Settle what has come back."""
        held = _HELD.get()
        if held is not None:
            self._returned(held, output)
        return output

    async def on_output_process_error(self, _: Any, *, error: Exception, **_more: Any) -> Any:
        """Settle what has failed, before another hook makes a result of it."""
        held = _HELD.get()
        if held is not None:
            self._failed(held, error)
        raise error

    async def _asked(self, ctx: Any, acting: Acting, output: Any, held: Held) -> Any:
        bridge = self._bridge(ctx)
        take(bridge, acting.name, acting.function)

        async def native(name: str, arguments: dict[str, Any]) -> Any:
            return await settling_read(ctx, name, arguments)

        call = ToolCall(
            call_id=ctx.tool_call_id or f"{ctx.run_id}-output-{ctx.run_step}-{ctx.retry}",
            tool=acting.name,
            arguments=acting.arguments(output),
            agent=agent_name(ctx),
        )
        (verdict,) = await bridge.adecide_batch([call], native)
        if not verdict.allowed:
            self._refuse(verdict)
        held.call = call
        return self._with_key(call, output)

    def _refuse(self, verdict: Any) -> None:
        if self._run.mode is Mode.STOPPED:
            raise RunStoppedError(verdict.message)
        raise ModelRetry(as_text(verdict.as_result()))

    def _with_key(self, call: ToolCall, output: Any) -> Any:
        """What the function gets; the breaker's own key outweighs what a model sends as one."""
        argument = self._run.declared(call.tool).key_argument
        if argument is None:
            return output
        return {**output, argument: self._run.idempotency_key(call)}

    def _returned(self, held: Held, result: Any) -> None:
        if held.call is not None:
            self._settle(held, returned(bare(result), self._run.declared(held.call.tool)))

    def _failed(self, held: Held, error: BaseException) -> None:
        """A ledger that fails as well does not hide the function's own error; the write stays in
        flight, and the end of the run tells of it.
        """
        if held.call is None:
            return
        try:
            self._settle(held, failed(error, self._run.declared(held.call.tool)))
        except Exception as second:  # noqa: BLE001 - whatever the ledger raises
            error.add_note(f"and its outcome could not be settled: {second!r}")

    def _settle(self, held: Held, outcome: Outcome) -> None:
        call, held.call = held.call, None
        if call is not None:
            self._run.settle(call, outcome)

    def _bridge(self, ctx: Any) -> Bridge:
        specs: dict[str, ToolSpec] = {}
        for each in self._others(ctx):
            specs = joined(specs, each._specs)  # noqa: SLF001 - of the same class
        return Bridge(self._run, specs)

    def _acts(self, ctx: Any) -> bool:
        """Of several that stand here the innermost asks, for all of them."""
        return self._others(ctx)[-1] is self

    def _others(self, ctx: Any) -> list[Outputs]:
        leaves: list[Any] = []
        ctx.root_capability.apply(leaves.append)
        return [each for each in leaves if isinstance(each, Outputs)]


def take(bridge: Bridge, name: str, function: Function | None) -> None:
    """Declare a function. Raises UndeclaredToolError if nobody has."""
    bridge.take(name, asynchronous=True, spec=spec_of(function))
