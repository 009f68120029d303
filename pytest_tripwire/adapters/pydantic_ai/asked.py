"""What stands in front of the bodies in production: the breaker's run."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any

import msgspec
from pydantic_ai.exceptions import ApprovalRequired
from pydantic_ai.messages import ToolReturn

from pytest_tripwire.adapters.bridge import Bridge, is_refused, waits_for_yes
from pytest_tripwire.adapters.pydantic_ai.metered import asked_first
from pytest_tripwire.adapters.pydantic_ai.placed import Body, Call, body_of, plain
from pytest_tripwire.breaker.conversation import hears
from pytest_tripwire.guard import BreakerRun
from pytest_tripwire.timeline import ToolSpec, spec_of

#: By these a tool says that it has not begun: it asks a person, or leaves the call to others.
NOT_BEGUN = ("ApprovalRequired", "CallDeferred")


@dataclasses.dataclass
class Reading:
    """One read that settles a lost write, on its way to its body.

    Args:
        body: the one body that it may reach unasked, and once.
    """

    body: Body
    open: bool = True

    def admits(self, body: Body) -> bool:
        """Whether this body is the one; it is never the one again."""
        admitted = self.open and body == self.body
        self.open = self.open and not admitted
        return admitted


_READING: ContextVar[Reading | None] = ContextVar("tripwire_pydantic_ai_reading", default=None)


class Asked:
    """Asks a run before a body runs.

    Args:
        run: decides.
        specs: declarations by name; they outweigh those of the run's breaker.
        defer: whether to ask a person in the framework's way.
    """

    def __init__(self, run: BreakerRun, specs: Mapping[str, ToolSpec], *, defer: bool) -> None:
        self.run = run
        self._specs = dict(specs)
        self._defer = defer
        self._bridge = Bridge(run, self._specs)

    def join(self, run: BreakerRun, specs: Mapping[str, ToolSpec], *, defer: bool) -> None:
        """Stand for another capability of the same agent's run, too.

        Raises:
            ValueError: the other one asks another run, or declares a tool differently.
        """
        if run is not self.run:
            raise ValueError(
                f"two Tripwire capabilities of one agent ask two runs, {self.run.run_id} and "
                f"{run.run_id}, and each would take the other's refusals for results. Give the "
                "agent one run: either where it is made or where it is run"
            )
        self._specs = joined(self._specs, specs)
        self._defer = self._defer or defer
        self._bridge = Bridge(run, self._specs)

    def offered(self, name: str, function: Callable[..., Any] | None) -> None:
        """Declare a tool before any is called: one may be read to settle another."""
        spec = spec_of(function)
        self._bridge.take(name, asynchronous=True, spec=may_defer(spec) if spec else None)

    async def call(self, call: Call) -> Any:
        """Run the body if the run lets it."""
        reading = _READING.get()
        if reading is not None and reading.admits(call.body):
            return await call.execute(call.arguments)
        # The framework may send a request in a task of its own, which tells this one nothing.
        hears(asked_first(call.context.messages))
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
            self.run.approve(call_id)

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
            return await settling_read(self._call.context, name, arguments)
        asked = self._call.plain
        # What the breaker has put in, its own key, and nothing that was validated.
        own = {k: v for k, v in arguments.items() if k not in asked or asked[k] != v}
        self._given = await self._call.execute({**self._call.arguments, **own})
        self._shown = bare(self._given)
        return self._shown

    def as_given(self, result: Any) -> Any:
        """The tool's own result, unless the breaker has added a hint to it."""
        if result is self._shown:
            return self._given
        if isinstance(self._given, ToolReturn):
            return dataclasses.replace(self._given, return_value=result)
        return result


async def settling_read(context: Any, name: str, arguments: dict[str, Any]) -> Any:
    """What a tool of the same run reads, unasked: nothing but this one body, and that once. Raises
    LookupError if there is no tool of this name.
    """
    manager = context.tool_manager
    tool = (manager.tools or {}).get(name) if manager is not None else None
    body = body_of(tool) if tool is not None else None
    if tool is None or body is None:
        raise LookupError(f"no tool {name!r} in this step of the run")
    given = tool.args_validator.validate_python(arguments)
    asking = dataclasses.replace(context, tool_name=name, tool_call_id=None)
    token = _READING.set(Reading(body))
    try:
        return bare(await manager.toolset.call_tool(name, given, asking, tool))
    finally:
        _READING.reset(token)


def bare(result: Any) -> Any:
    """A result as the breaker is shown it."""
    return plain(result.return_value if isinstance(result, ToolReturn) else result)


def joined(ours: Mapping[str, ToolSpec], theirs: Mapping[str, ToolSpec]) -> dict[str, ToolSpec]:
    """Declarations of both. Raises ValueError where they differ."""
    differing = [name for name, spec in theirs.items() if ours.get(name, spec) != spec]
    if differing:
        raise ValueError(
            f"two Tripwire capabilities of one agent declare {', '.join(differing)} differently. "
            "Declare a tool once, or alike"
        )
    return {**ours, **theirs}


def may_defer(spec: ToolSpec) -> ToolSpec:
    """`spec`, and a tool that puts its call off itself has not begun."""
    return msgspec.structs.replace(spec, definite_failures=(*spec.definite_failures, *NOT_BEGUN))


def _needs_a_yes(result: Any) -> bool:
    return is_refused(result) and "call_id" in result
