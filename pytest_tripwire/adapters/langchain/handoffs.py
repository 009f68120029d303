"""Tools that do nothing but say which agent goes on."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

from langgraph.types import Command

#: How the tools of the framework's own supervisors and swarms say where they lead.
_DESTINATION = "__handoff_destination"
_NAMES = ("transfer_to_", "transfer_back_to_", "handoff_to_", "hand_off_to_")
#: What a `Command` calls the one that goes on.
_GOES_ON = "goto"


def is_hand_off(tool: Any) -> bool:
    """Whether a tool does nothing but say which agent goes on. A name alone is no proof:
    `transfer_to_account` may well move money.
    """
    if _DESTINATION in (tool.metadata or {}):
        return True
    return tool.name.startswith(_NAMES) and _gives_command(tool)


def how_to_declare(tool: Any) -> str | None:
    """What to write for a tool that looks like a hand-off and was not taken for one; None for any
    other.
    """
    if not (tool.name.startswith(_NAMES) or _gives_command(tool)):
        return None
    return (
        f"If {tool.name!r} does nothing but say which agent goes on, write below @tool\n"
        '    @tool_spec(effect="handoff")\n'
        f"It counts as a hand-off by itself if it is called {_NAMES[0]}..., and returns "
        "Command(goto=...) in its own code or says that it does: -> Command."
    )


def _gives_command(tool: Any) -> bool:
    function = getattr(tool, "func", None) or getattr(tool, "coroutine", None)
    return function is not None and (_says_so(function) or _does_so(function))


def _says_so(function: Callable[..., Any]) -> bool:
    """Whether a function's hint is a `Command`."""
    try:
        given = get_type_hints(function).get("return")
    except (NameError, TypeError):  # a hint that cannot be resolved says nothing
        return False
    return given is Command or getattr(given, "__origin__", None) is Command


def _does_so(function: Callable[..., Any]) -> bool:
    """Whether a function's own code makes a `Command` that leads on; few people write the hint."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None:
        return False
    # The names of keywords are constants of the code: a tuple for each call.
    keywords = (each for each in code.co_consts if isinstance(each, tuple))
    named = Command.__name__ in (*code.co_names, *code.co_freevars)
    return named and any(_GOES_ON in each for each in keywords)
