"""How a model gets to the agent that has the tools: by hand-offs that play no part in the case."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_tripwire.models.answer import Answer, BoundCall, least
from pytest_tripwire.models.call_ids import make_road_id
from pytest_tripwire.models.conversation import HARMLESS, Conversation
from pytest_tripwire.models.script import Say


def road(conversation: Conversation, hand_offs: Iterable[str]) -> Answer | None:
    """A call of the first of these hand-offs that the request offers and that was not taken at this
    turn; None where there is none. It is no move of the script's, and its id says so.

    Raises:
        RequestError: no small value satisfies the schema of its arguments.
    """
    if not conversation.may_call:
        return None
    taken = {each.call_id for each in conversation.all_results}
    wanted = conversation.choice.tool
    for name in hand_offs:
        call_id = make_road_id(conversation.turn, name)
        if name not in conversation.offered or call_id in taken or wanted not in ("", name):
            continue
        value = least(conversation.tools.get(name, {}), "tools")
        arguments = value if isinstance(value, dict) else {}
        call = BoundCall(call_id=call_id, tool=name, arguments=arguments)
        return Answer(move=Say(text=HARMLESS), calls=(call,), auxiliary=True, road=True)
    return None
