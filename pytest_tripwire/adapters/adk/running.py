"""A tool of the kit's is run, and seen to have begun or not."""

from __future__ import annotations

import copy
import functools
from typing import Any

from google.adk.tools import AgentTool, FunctionTool

from pytest_tripwire.guard.errors import NotBegun


class AskedError(Exception):
    """Stands for the answer of a tool whose own function has asked a person. Whether it had done
    something by then only its author knows, and so its write is unknown. One that asks before it
    does anything is declared with `definite_failures=(AskedError,)`.

    Args:
        answer: what the tool has answered.
    """

    def __init__(self, answer: object) -> None:
        self.answer = answer
        super().__init__("a person was asked within the tool")


async def run(tool: Any, args: dict[str, Any], context: Any) -> Any:
    """What a tool gives.

    Args:
        tool: the team's own.
        args: by name.
        context: the kit's context of the call.

    Raises:
        NotBegun: its function was not reached, or the kit has asked a person first.
        AskedError: its function has asked a person.
    """
    entry = _Entry(tool)
    result = await entry.tool.run_async(args=args, tool_context=context)
    actions = context.actions
    asked = actions.requested_tool_confirmations or actions.requested_auth_configs
    if entry.passed and asked and not _asks_first(tool):
        raise AskedError(result)
    if asked or not entry.passed:
        raise NotBegun(result)
    return result


class _Entry:
    """Sees whether a tool's function is reached; of any other tool nobody can tell."""

    def __init__(self, tool: Any) -> None:
        self.passed = not isinstance(tool, FunctionTool)
        self.tool = tool if self.passed else copy.copy(tool)
        if not self.passed:
            self.tool.func = self._noted(tool.func)

    def _noted(self, function: Any) -> Any:
        @functools.wraps(function)
        def noted(*given: Any, **named: Any) -> Any:
            self.passed = True
            return function(*given, **named)

        return noted


def _asks_first(tool: Any) -> bool:
    """Whether it is a tool of the kit's own with no function or agent of a team's inside: those ask
    before they do anything.
    """
    own = type(tool).__module__.startswith("google.adk.")
    return own and not isinstance(tool, FunctionTool | AgentTool)
