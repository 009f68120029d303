"""What an agent's answer does, in an agent that is taken over."""

from __future__ import annotations

from typing import Any

from pydantic_ai import ModelRetry
from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering

from pytest_tripwire.adapters.adoption import Adoption
from pytest_tripwire.adapters.bridge import as_text, is_refused
from pytest_tripwire.adapters.pydantic_ai.functions import Function, acting_in, functions_of
from pytest_tripwire.adapters.pydantic_ai.native import agent_name
from pytest_tripwire.adapters.pydantic_ai.outputs import Outputs
from pytest_tripwire.timeline import Effect, spec_of


class PlayedError(Exception):
    """An output function has been played: nothing went wrong, and it does not run itself."""

    def __init__(self, result: Any) -> None:
        self.result = result
        super().__init__("the output function was played")


class PlayedOutputs(AbstractCapability[Any]):
    """Plays the output functions of an agent's run, right in front of them.

    Args:
        adoption: has the bodies.
    """

    def __init__(self, adoption: Adoption) -> None:
        super().__init__()
        self._adoption = adoption

    def get_ordering(self) -> CapabilityOrdering:
        """Where the function is; the agent's own guard stands in front of it as in production."""
        return CapabilityOrdering(position="innermost", wrapped_by=[Outputs])

    async def wrap_output_process(self, _: Any, *, output: Any, handler: Any, **_more: Any) -> Any:
        """What was played is the output."""
        try:
            return await handler(output)
        except PlayedError as played:
            return played.result

    async def before_output_process(self, ctx: Any, *, output_context: Any, output: Any) -> Any:
        """Play the function, or let one run that only reads."""
        acting = acting_in(ctx, output_context)
        if acting is None or only_reads(acting.function):
            return output
        if ctx.partial_output:
            raise ModelRetry(f"{acting.name} runs when the answer is complete")
        self._adoption.need(acting.name, agent_name(ctx) or "")
        self._adoption.check()
        result = await self._adoption.caller.acall(
            acting.name,
            acting.arguments(output),
            call_id=ctx.tool_call_id,
            agent=agent_name(ctx),
        )
        if is_refused(result):
            raise ModelRetry(as_text(result))
        raise PlayedError(result)


def only_reads(function: Function | None) -> bool:
    """Whether a function says by itself that it only reads, such as one that puts the answer into
    another form.
    """
    spec = spec_of(function)
    return spec is not None and spec.effect is Effect.READ


def survey_outputs(agent: Any, adoption: Adoption, *, within: bool) -> None:
    """See that an agent's output functions can be played.

    Args:
        agent: the agent.
        adoption: has the bodies.
        within: whether a tool runs it. Nothing can be put in front of its answer then.

    Raises:
        ValueError: it cannot be played though there is a body for it.
    """
    for function in functions_of(agent):
        if only_reads(function):
            continue
        name = function.__name__
        if within and adoption.knows(name):
            raise ValueError(
                f"{name!r} makes the answer of {agent.name or 'an agent'} that a tool runs, and "
                "no other body can be put in its place there. Let it be a tool of that agent"
            )
        adoption.need(name, agent.name or "")
