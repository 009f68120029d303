"""Agents of the kit whose calls, transfers and model requests a run decides about."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from typing import Any

from google.adk.tools import AgentTool, TransferToAgentTool

from pytest_tripwire.adapters.adk.cloning import Body, Cloner, asks, with_body
from pytest_tripwire.adapters.adk.fitting import read
from pytest_tripwire.adapters.adk.requests import Requests
from pytest_tripwire.adapters.adk.running import AskedError
from pytest_tripwire.adapters.adk.running import run as run_tool
from pytest_tripwire.adapters.bridge import Bridge, handoff_spec, waits_for_yes
from pytest_tripwire.guard import BreakerRun
from pytest_tripwire.timeline import ToolSpec, spec_of


def guarded(
    thing: Any,
    run: BreakerRun,
    specs: Mapping[str, ToolSpec] | None = None,
    *,
    count_model: bool = True,
    unguarded: Collection[str] = (),
) -> Any:
    """A clone of an agent and all that it can reach, whose calls, transfers and model requests
    `run` decides about; or of a tool, or a list of tools. Make one for each run. What the run
    guards already is not guarded again.

    Args:
        thing: the agent at the root, or tools; nothing of it is changed.
        run: decides.
        specs: declarations by name; they outweigh `@tool_spec` and those of the breaker.
        count_model: whether model requests are counted; False where somebody else does it.
        unguarded: what may stay though nobody decides about it, by the names of the TypeError.

    Raises:
        UndeclaredToolError: nobody declared what a tool does.
        TypeError: it has something that cannot be guarded, or two tools of one name that are
            declared differently.
    """
    return Cloner(_Guards(run, specs, count_model=count_model), unguarded).of(thing)


class _Guards:
    """Puts a run before everything that acts."""

    def __init__(
        self, run: BreakerRun, specs: Mapping[str, ToolSpec] | None, *, count_model: bool
    ) -> None:
        self.run = run
        self._bridge = Bridge(run, specs)
        self._requests = Requests(run) if count_model else None

    def tool(self, tool: Any, _owner: str, cloner: Cloner) -> Any:
        """Of an agent's tool that nobody declared, that is done inside."""
        if asks(tool, self.run):
            return tool
        if isinstance(tool, AgentTool):
            tool = cloner.inside(tool)
            if not self._bridge.knows(tool.name):
                return tool
        return with_body(tool, self._body(tool, spec_of(getattr(tool, "func", None))), self.run)

    def agent(self, clone: Any) -> None:
        """Ours come last before something is done, and first after."""
        clone.before_tool_callback = [*clone.canonical_before_tool_callbacks, self._transfer]
        before, requests = clone.canonical_before_model_callbacks, self._requests
        if requests is None or self._counts(before):
            return
        clone.before_model_callback = [*before, requests.opened]
        clone.after_model_callback = [requests.paid, *clone.canonical_after_model_callbacks]
        failed = clone.canonical_on_model_error_callbacks
        clone.on_model_error_callback = [requests.failed, *failed]

    def _counts(self, callbacks: list[Any]) -> bool:
        """Whether this run counts an agent's requests already."""
        owners = (getattr(each, "__self__", None) for each in callbacks)
        return any(isinstance(o, Requests) and o.run is self.run for o in owners)

    def _body(self, tool: Any, spec: ToolSpec | None) -> Body:
        asked = self._bridge.tool(
            tool.name, functools.partial(run_tool, tool), asynchronous=True, spec=spec
        )

        async def body(args: dict[str, Any], context: Any) -> Any:
            said = context.tool_confirmation
            call = {"call_id": context.function_call_id, "agent": context.agent_name}
            try:
                yes = said is not None and said.confirmed
                given = read(tool, args, self._key_of(tool.name))
                result = await asked.acall(given, context, approved=yes, **call)
            except AskedError as within:
                return within.answer
            if said is None and waits_for_yes(result):
                context.request_confirmation(hint=result["message"])
                context.actions.skip_summarization = True
            return result

        return body

    def _key_of(self, name: str) -> str | None:
        spec = self.run.declared(name)
        return spec.key_argument if spec.mutates else None

    async def _transfer(self, tool: Any, args: dict[str, Any], tool_context: Any) -> Any:
        """The kit makes the tool that transfers anew for each request: it is answered here."""
        if not isinstance(tool, TransferToAgentTool):
            return None
        result = await self._body(tool, handoff_spec(tool.name))(args, tool_context)
        return {"result": None} if result is None else result
