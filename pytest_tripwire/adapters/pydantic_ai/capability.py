"""The breaker as a capability of Pydantic AI's."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.exceptions import ApprovalRequired
from pydantic_ai.messages import ToolReturn

from pytest_tripwire.adapters.bridge import Bridge, is_refused, waits_for_yes
from pytest_tripwire.adapters.pydantic_ai.metered import Metered
from pytest_tripwire.adapters.pydantic_ai.placed import Call, placed, plain, read
from pytest_tripwire.guard import BreakerRun
from pytest_tripwire.timeline import ToolSpec, spec_of

#: By these a tool says that it has not begun: it asks a person, or leaves the call to others.
NOT_BEGUN = ("ApprovalRequired", "CallDeferred")


@dataclasses.dataclass(init=False)
class Tripwire(AbstractCapability[Any]):
    """Asks a run before any tool's body runs, and tells it of every model request.

    `await agent.run(prompt, capabilities=[Tripwire(run)])`

    A refused call gives the refusal as its result, for the model to read. A request that may not be
    sent raises `RunStoppedError`.

    Args:
        run: decides; give each agent that works in it a capability of its own.
        specs: declarations of tools by name; they outweigh those of the run's breaker, and these
            `@tool_spec`.
        count_model: whether to tell the run of model requests.
        defer: whether a call that needs a yes is put up for approval in the way of Pydantic
            AI, which wants `DeferredToolRequests` among the agent's output types; else the refusal
            says by which id `run.approve` takes the yes.
    """

    def __init__(
        self,
        run: BreakerRun,
        specs: Mapping[str, ToolSpec] | None = None,
        *,
        count_model: bool = True,
        defer: bool = False,
    ) -> None:
        super().__init__()
        declared = {name: _may_defer(spec) for name, spec in (specs or {}).items()}
        self._conduct = Asked(Bridge(run, declared), defer=defer)
        self._run = run
        self._count_model = count_model

    def get_ordering(self) -> CapabilityOrdering:
        """Outside of all others, so that it sees the names that the model does."""
        return CapabilityOrdering(position="outermost")

    def get_wrapper_toolset(self, toolset: Any) -> Any:
        """The run's tools, asked for."""
        return placed(toolset, self._conduct)

    def get_wrapper_model(self, model: Any) -> Any:
        """The model, counted."""
        return Metered(model, self._run) if self._count_model else None


class Asked:
    """What stands in front of the bodies: the breaker's run.

    Args:
        bridge: leads to it.
        defer: whether to ask a person in the framework's way.
    """

    def __init__(self, bridge: Bridge, *, defer: bool) -> None:
        self._bridge = bridge
        self._defer = defer

    def offered(self, name: str, function: Callable[..., Any] | None) -> None:
        """Declare a tool before any is called: one may be read to settle another."""
        spec = spec_of(function)
        self._bridge.take(name, asynchronous=True, spec=_may_defer(spec) if spec else None)

    async def call(self, call: Call) -> Any:
        """Run the body if the run lets it."""
        ran = Ran(call)
        approved = bool(call.context.tool_call_approved)
        if approved:
            self._approve(call.call_id or "")
        result = await self._ask(call, ran)
        if waits_for_yes(result) and approved:
            # It was put up in another process; the yes is to this very call all the same.
            self._approve(result["call_id"])
            result = await self._ask(call, ran)
        if _needs_a_yes(result) and self._defer:
            raise ApprovalRequired(metadata={k: result[k] for k in ("reason", "message")})
        return result if is_refused(result) else ran.as_given(result)

    def _approve(self, call_id: str) -> None:
        """Hand on what a person has said by the framework's own approval."""
        with contextlib.suppress(LookupError):  # the run has not put it up, or not yet
            self._bridge.run.approve(call_id)

    async def _ask(self, call: Call, ran: Ran) -> Any:
        return await self._bridge.acall(
            call.name, call.plain, ran, call_id=call.call_id, agent=call.agent
        )


class Ran:
    """Runs the body of a call, and reads what settles it."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._given: Any = None
        self._shown: Any = None

    async def __call__(self, name: str, arguments: dict[str, Any]) -> Any:
        """The result as the breaker takes it."""
        if name != self._call.name:
            return _bare(await read(self._call.context, name, arguments))
        asked = self._call.plain
        # What the breaker has put in, its own key, and nothing that was validated.
        own = {k: v for k, v in arguments.items() if k not in asked or asked[k] != v}
        self._given = await self._call.execute({**self._call.arguments, **own})
        self._shown = _bare(self._given)
        return self._shown

    def as_given(self, result: Any) -> Any:
        """The tool's own result, unless the breaker has added a hint to it."""
        if result is self._shown:
            return self._given
        if isinstance(self._given, ToolReturn):
            return dataclasses.replace(self._given, return_value=result)
        return result


def _bare(result: Any) -> Any:
    return plain(result.return_value if isinstance(result, ToolReturn) else result)


def _needs_a_yes(result: Any) -> bool:
    return is_refused(result) and "call_id" in result


def _may_defer(spec: ToolSpec) -> ToolSpec:
    return msgspec.structs.replace(spec, definite_failures=(*spec.definite_failures, *NOT_BEGUN))
