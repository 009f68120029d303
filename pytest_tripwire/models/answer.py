"""What the scripted model answers to one request, whatever protocol it came by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from pytest_tripwire.models.conversation import HARMLESS, Conversation
from pytest_tripwire.models.request_error import RequestError
from pytest_tripwire.models.script import Calls, Move, Say
from pytest_tripwire.models.tokens import count_tokens
from pytest_tripwire.world.schema import SchemaError, smallest


class BoundCall(msgspec.Struct, frozen=True, kw_only=True):
    """A proposal turned into a call of one of the agent's own tools.

    Args:
        call_id: the id that its result has to name.
        tool: name of the tool.
        arguments: by name.
        spoilt: the text that goes out in place of the arguments' JSON; empty for a sound call.
    """

    call_id: str
    tool: str
    arguments: Mapping[str, Any]
    spoilt: str = ""

    @property
    def text(self) -> str:
        """The arguments as they go out."""
        return self.spoilt or msgspec.json.encode(self.arguments).decode()


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What goes out for one request.

    Args:
        move: the move; a `Say` already fits the schema that the request gives.
        calls: the move's proposals, bound. A model that is forced to call a tool may have some
            beside a `Say`.
        auxiliary: whether the request was none of the script's, like a router's.
        road: whether its call only leads to the agent that has the tools.
        forced: whether the request's `tool_choice` made the model do what the script did not want.
        withheld: why the script's own move was not given; empty when it was.
        wanted: the tools that the withheld move would have called.
    """

    move: Move
    calls: tuple[BoundCall, ...] = ()
    auxiliary: bool = False
    road: bool = False
    forced: bool = False
    withheld: str = ""
    wanted: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What the model says, alone or beside its calls."""
        if isinstance(self.move, Calls):
            return self.move.says
        # Who is made to call a tool says there what there is to say.
        return "" if self.calls else self.move.text

    def tokens(self) -> int:
        """Size of the answer in tokens."""
        calls = [(call.tool, call.arguments) for call in self.calls]
        return count_tokens(self.text) + sum(count_tokens(msgspec.json.encode(c)) for c in calls)


def harmless(conversation: Conversation) -> Answer:
    """An answer that makes nothing happen. Raises `RequestError` as `speak` does."""
    return speak(HARMLESS, conversation)


def speak(text: str, conversation: Conversation) -> Answer:
    """An answer of words: `text`, or the smallest JSON where the request gives a schema.

    Raises `RequestError` when no small value satisfies the schema.
    """
    if conversation.schema is None or _is_object(text):
        return Answer(move=Say(text=text))
    value = least(conversation.schema, "response_format")
    return Answer(move=Say(text=msgspec.json.encode(value).decode()))


def least(schema: Mapping[str, Any], param: str) -> Any:
    """The smallest value of a schema that a request gives in `param`. Raises `RequestError` if no
    small value satisfies it.
    """
    try:
        return smallest(schema)
    except SchemaError as error:
        raise RequestError(400, str(error), param=param) from error


def _is_object(text: str) -> bool:
    # A script that writes JSON itself knows the schema better than we do.
    try:
        return isinstance(msgspec.json.decode(text), dict)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False
