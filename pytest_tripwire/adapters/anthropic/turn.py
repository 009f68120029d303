"""One message of the model: which calls it proposes, what it says, and what it has used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from typing import Any

from pytest_tripwire.breaker.budget import Usage
from pytest_tripwire.guard import BreakerRun

PROVIDER = "anthropic"


class Turn:
    """The calls of the message that is at hand. The runner tells a tool its input and nothing else;
    the message knows the id as well.

    Args:
        blocks: gives the content of the message, as far as it has arrived.
    """

    def __init__(self, blocks: Callable[[], Iterable[Any]]) -> None:
        self._blocks = blocks
        self._told: set[str] = set()

    def id_of(self, name: str, arguments: object) -> str | None:
        """The id of the call that a tool is run for; None if the message does not propose it.

        The runner hands over the message's own input, so that one is sure; where somebody has
        copied it, it is the first call of this name and these arguments that was not run yet.
        """
        calls = [each for each in tool_uses(self._blocks()) if field(each, "name") == name]
        same = [each for each in calls if field(each, "input") is arguments]
        alike = [each for each in calls if field(each, "input") == arguments]
        ids = [str(field(each, "id")) for each in same or alike]
        fresh = [each for each in ids if each not in self._told]
        # Who asks for the results of a message a second time presents its calls a second time.
        found = next(iter(fresh or ids), None)
        if found is not None:
            self._told.add(found)
        return found


#: The message whose tools are run by this thread or task.
TURN: ContextVar[Turn | None] = ContextVar("tripwire_anthropic_turn", default=None)


def call_id_of(name: str, given: object) -> str | None:
    """The id of the call that a tool of the runner is run for, where the run is followed."""
    turn = TURN.get()
    return turn.id_of(name, given) if turn is not None else None


def field(value: Any, name: str, default: Any = None) -> Any:
    """A field of a block, as the client has parsed it or as it stood in a saved conversation."""
    if isinstance(value, Mapping):
        return value.get(name, default)
    return getattr(value, name, default)


def tool_uses(blocks: Any) -> list[Any]:
    """The calls among the blocks of a message; a message that is a text has none."""
    if isinstance(blocks, str) or blocks is None:
        return []
    return [each for each in blocks if field(each, "type") == "tool_use"]


def text_of(message: Any) -> str:
    """What a message says, without its calls."""
    content = field(message, "content") or ()
    if isinstance(content, str):
        return content
    return "".join(str(field(each, "text", "")) for each in content if _is_text(each))


def _is_text(block: Any) -> bool:
    return bool(field(block, "type") == "text")


def usage_of(message: Any) -> Usage:
    """What a message has used. The provider counts what came from its cache, or went into it,
    apart from the prompt; unknown stays unknown.
    """
    used = field(message, "usage")
    fresh, written, read = (
        field(used, name)
        for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    )
    prompt = None if fresh is None else fresh + (written or 0) + (read or 0)
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=field(used, "output_tokens"),
        cached_tokens=read,
        cache_write_tokens=written,
    )


def after_message(run: BreakerRun, message: Any) -> None:
    """Pay for a request of your own that `run.before_model()` has opened.

    Args:
        run: whose request it was.
        message: the model's answer.
    """
    run.after_model(usage_of(message), text_of(message), field(message, "model"), PROVIDER)
