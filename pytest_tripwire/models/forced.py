"""What a model can do that has to call a tool and has nothing to call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from pytest_tripwire.models.answer import Answer, BoundCall, least
from pytest_tripwire.models.call_ids import make_call_id
from pytest_tripwire.models.conversation import Conversation
from pytest_tripwire.models.script import Say


def last_words(
    words: Say, conversation: Conversation, tool: str, played: AbstractSet[str]
) -> Answer | None:
    """The words as a call of a tool that no role plays: frameworks take structured answers that
    way. None if the request has no such tool.

    Args:
        words: what there is to say.
        conversation: the request.
        tool: the tool that the request wants called; empty for any.
        played: tools that a role plays.

    Raises:
        RequestError: no small value satisfies the schema of the tool's arguments.
    """
    names = [tool] if tool else list(reversed(list(conversation.tools)))
    for name in names:
        if name in conversation.tools and name not in played:
            call = BoundCall(
                call_id=make_call_id(conversation.key, conversation.turn, 0),
                tool=name,
                arguments=_saying(words.text, conversation.tools[name]),
            )
            return Answer(move=words, calls=(call,), forced=True)
    return None


def call_of_other(tools: Sequence[str], wanted: str) -> str:
    """Why a move is withheld whose tools are not the one that the request wants."""
    return (
        f"the script wants to call {', '.join(tools)}, but the request's tool_choice "
        f"names {wanted}. Let the agent leave tool_choice out, or name a tool only where the next "
        "step is certain"
    )


def _saying(text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The least arguments of a tool; its one plain text, if it has just one, holds the words."""
    value = least(schema, "tools")
    arguments = value if isinstance(value, dict) else {}
    empty = [name for name, each in arguments.items() if each == ""]
    return {**arguments, empty[0]: text} if len(empty) == 1 else arguments
