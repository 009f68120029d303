"""Anthropic's client: tools for its tool runner, and the dispatch of own loops.

Production, with a run of a `Breaker`:

    runner = client.beta.messages.tool_runner(tools=guarded(tools, run), ...)
    for message in follow(runner, run):
        ...

    answer = guarded_dispatch(dispatch, run)  # own loops: a message in, its tool results out

`tools` and `adopt` are what `task.tools.anthropic()` and `task.adopt` are made of.
"""

from pytest_tripwire.adapters.anthropic.following import afollow, follow
from pytest_tripwire.adapters.anthropic.guarding import guarded
from pytest_tripwire.adapters.anthropic.loop import GuardedDispatch, guarded_dispatch
from pytest_tripwire.adapters.anthropic.native import ToolList, adopt, definition, tools
from pytest_tripwire.adapters.anthropic.turn import after_message, text_of, usage_of

__all__ = [
    "GuardedDispatch",
    "ToolList",
    "adopt",
    "afollow",
    "after_message",
    "definition",
    "follow",
    "guarded",
    "guarded_dispatch",
    "text_of",
    "tools",
    "usage_of",
]
