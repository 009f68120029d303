"""Decides what the scripted model answers to one request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from pytest_tripwire.models.call_ids import make_call_id
from pytest_tripwire.models.conversation import Conversation
from pytest_tripwire.models.request_error import RequestError
from pytest_tripwire.models.script import Binder, Calls, Move, Say, Script
from pytest_tripwire.models.tokens import count_tokens
from pytest_tripwire.world.schema import SchemaError, smallest

HARMLESS = "There is nothing more to do."


class BoundCall(msgspec.Struct, frozen=True, kw_only=True):
    """A proposal turned into a call of one of the agent's own tools."""

    call_id: str
    tool: str
    arguments: Mapping[str, Any]


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What goes out for one request.

    Args:
        move: the move; a `Say` already fits the schema that the request gives.
        calls: the move's proposals, bound.
        auxiliary: whether the request was none of the script's, like a router's.
        withheld: why the script's own move was not given; empty when it was.
    """

    move: Move
    calls: tuple[BoundCall, ...] = ()
    auxiliary: bool = False
    withheld: str = ""

    @property
    def text(self) -> str:
        """What the model says, alone or beside its calls."""
        return self.move.text if isinstance(self.move, Say) else self.move.says

    def tokens(self) -> int:
        """Size of the answer in tokens."""
        calls = [(call.tool, call.arguments) for call in self.calls]
        return count_tokens(self.text) + sum(count_tokens(msgspec.json.encode(c)) for c in calls)


class Actor(msgspec.Struct, frozen=True, kw_only=True):
    """The scripted model: a script, and what binds it to the agent's tools.

    Args:
        script: a pure function.
        binder: knows the agent's tools.
        roles: the roles that the script may propose. A request that offers none of their
            tools is none of the script's. Empty: only one that offers no tool at all is.
    """

    script: Script
    binder: Binder
    roles: frozenset[str] = frozenset()

    def answer(self, conversation: Conversation) -> Answer:
        """The answer to one request.

        Raises whatever the script or the binder raises, `TypeError` when the script
        returns no move, and `RequestError` for a schema that has no small value.
        """
        if not self._concerns(conversation):
            return msgspec.structs.replace(harmless(conversation), auxiliary=True)
        move = self.script(conversation.seen())
        if isinstance(move, Say):
            return speak(move.text, conversation)
        if not isinstance(move, Calls):
            raise TypeError(
                f"the script returned {move!r} at turn {conversation.turn}: "
                "return Calls or Say at every turn"
            )
        return self._call(move, conversation)

    def _concerns(self, conversation: Conversation) -> bool:
        if not self.roles:
            return bool(conversation.offered)
        tools = {self.binder.tool_name(role) for role in self.roles}
        return not tools.isdisjoint(conversation.offered)

    def _call(self, move: Calls, conversation: Conversation) -> Answer:
        tools = {p.role: self.binder.tool_name(p.role) for p in move.proposals}
        if withheld := _obstacle(tools, conversation):
            return msgspec.structs.replace(harmless(conversation), withheld=withheld)
        calls = tuple(
            BoundCall(
                call_id=make_call_id(conversation.key, conversation.turn, index),
                tool=tools[proposal.role],
                arguments=self.binder.arguments(proposal.role, proposal.slots),
            )
            for index, proposal in enumerate(move.proposals)
        )
        return Answer(move=move, calls=calls)


def harmless(conversation: Conversation) -> Answer:
    """An answer that makes nothing happen. Raises `RequestError` as `speak` does."""
    return speak(HARMLESS, conversation)


def speak(text: str, conversation: Conversation) -> Answer:
    """An answer of words: `text`, or the smallest JSON where the request gives a schema.

    Raises `RequestError` when no small value satisfies the schema.
    """
    if conversation.schema is None or _is_object(text):
        return Answer(move=Say(text=text))
    try:
        value = smallest(conversation.schema)
    except SchemaError as error:
        raise RequestError(400, str(error), param="response_format") from error
    return Answer(move=Say(text=msgspec.json.encode(value).decode()))


def _is_object(text: str) -> bool:
    # A script that writes JSON itself knows the schema better than we do.
    try:
        return isinstance(msgspec.json.decode(text), dict)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False


def _obstacle(tools: Mapping[str, str], conversation: Conversation) -> str:
    missing = [
        f"`{tool}` (role `{role}`)"
        for role, tool in tools.items()
        if tool not in conversation.offered
    ]
    if missing:
        offered = ", ".join(sorted(conversation.offered)) or "none"
        return (
            f"the script wants {', '.join(missing)}, but the request offers: {offered}. "
            "Bind the role to a tool that the agent offers, or let the agent offer it"
        )
    if not conversation.may_call:
        return (
            f"the script wants to call {', '.join(tools.values())}, but the request sets "
            "tool_choice to none. Let the agent leave tool_choice out where tools may be called"
        )
    return ""
