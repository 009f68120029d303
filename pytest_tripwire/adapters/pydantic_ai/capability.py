"""The breaker as a capability of Pydantic AI's."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from pydantic_ai.capabilities import (
    AbstractCapability,
    CapabilityOrdering,
    CombinedCapability,
)

from pytest_tripwire.adapters.pydantic_ai.asked import Asked, may_defer
from pytest_tripwire.adapters.pydantic_ai.metered import metered
from pytest_tripwire.adapters.pydantic_ai.outputs import Outputs
from pytest_tripwire.adapters.pydantic_ai.placed import conducts, placed
from pytest_tripwire.guard import BreakerRun
from pytest_tripwire.timeline import ToolSpec


@dataclasses.dataclass(init=False)
class Tripwire(AbstractCapability[Any]):
    """Asks a run before any tool's body runs, or any output function's, and tells it of every model
    request.

    `await agent.run(prompt, capabilities=[Tripwire(run)])`

    A refused call gives the refusal as its result, for the model to read. A request that may not be
    sent raises `RunStoppedError`. Two of them on one agent, such as one where it is made and one
    where it is run, are one.

    Args:
        run: decides; give each agent that works in it a capability of its own.
        specs: declarations of tools by name; they outweigh those of the run's breaker, and these
            `@tool_spec`. An output function goes by its own name.
        count_model: whether to tell the run of model requests. A realtime session, of which nobody
            can tell it, is refused unless this is false.
        defer: whether a call that needs a yes is put up for approval in the way of Pydantic
            AI, which wants `DeferredToolRequests` among the agent's output types; else the refusal
            says by which id `run.approve` takes the yes.

    Raises:
        UndeclaredToolError: in the agent's run, before the model is asked: nobody declared what a
            tool or an output function does.
        ValueError: in the agent's run: two of them ask two runs, or declare a tool differently; a
            realtime session would be uncounted; or an output acts in a way that nobody can ask for.
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
        self._run = run
        self._specs = {name: may_defer(spec) for name, spec in (specs or {}).items()}
        self._count_model = count_model
        self._defer = defer

    def get_ordering(self) -> CapabilityOrdering:
        """Outside of all others, so that it sees the names that the model does."""
        return CapabilityOrdering(position="outermost")

    async def for_run(self, ctx: Any) -> AbstractCapability[Any]:
        """This, and what has to stand inside of all others."""
        if not _is_realtime(ctx.model):
            return CombinedCapability([self, Outputs(self._run, self._specs)])
        if self._count_model:
            raise ValueError(
                "a realtime session tells nobody of its requests, so that no limit on turns, "
                "tokens or costs would hold. Its tools can be guarded: "
                "Tripwire(run, count_model=False)"
            )
        return self

    def get_wrapper_toolset(self, toolset: Any) -> Any:
        """The run's tools, asked for."""
        for each in conducts(toolset):
            if isinstance(each, Asked):
                each.join(self._run, self._specs, defer=self._defer)
                return None
        return placed(toolset, Asked(self._run, self._specs, defer=self._defer))

    def get_wrapper_model(self, model: Any) -> Any:
        """The model, counted."""
        return metered(model, self._run) if self._count_model else None


def _is_realtime(model: Any) -> bool:
    # By its name: importing what a realtime session needs takes longer than all the rest.
    return any(each.__name__ == "RealtimeModel" for each in type(model).__mro__)
