"""The scripted model: from one request to its answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeAlias

import msgspec

from pytest_tripwire.models.answer import Answer, BoundCall, harmless, speak
from pytest_tripwire.models.call_ids import make_call_id, read_call_id
from pytest_tripwire.models.casting import Casting, casting
from pytest_tripwire.models.conversation import HARMLESS, Conversation
from pytest_tripwire.models.forced import call_of_other, last_words
from pytest_tripwire.models.roads import road
from pytest_tripwire.models.script import (
    Binder,
    Calls,
    Move,
    Propose,
    Say,
    Script,
    Seen,
    ToolResult,
)

#: How many moves before a turn went out spoilt, so that the script is that many turns behind.
Lost: TypeAlias = Callable[[int], int]


class Actor(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A script, and what binds it to the agent's tools.

    Args:
        script: a pure function.
        binder: knows the agent's tools; a `Casting` knows parts that several of them play.
        roles: the roles that the script may propose. A request that offers none of their
            tools is none of the script's, but may be a router's, and then it is passed, as is an
            agent that lacks the tools of a move. Empty: only one that offers no tool at all is.
        lost: how many moves before a turn were lost on the way.
    """

    script: Script
    binder: Binder
    roles: frozenset[str] = frozenset()
    lost: Lost = lambda _turn: 0

    def answer(self, conversation: Conversation) -> Answer:
        """The answer to one request.

        Raises whatever the script or the binder raises, `TypeError` when the script
        returns no move, and `RequestError` for a schema that has no small value.
        """
        if not self.concerns(conversation):
            if way := self._road(conversation):
                return way
            quiet = self.words(HARMLESS, conversation)
            return msgspec.structs.replace(quiet, auxiliary=True)
        if rest := self._rest(conversation):
            # What is said beside a move was said with its first call.
            rest = msgspec.structs.replace(rest, says="")
            return self._call(rest, conversation, conversation.turn - 1)
        move = self._move(conversation.seen())
        if isinstance(move, Say):
            return self._say(move, conversation)
        return self._call(move, conversation, conversation.turn)

    def concerns(self, conversation: Conversation) -> bool:
        """Whether a request is the script's to answer. Raises what the binder raises."""
        if not self.roles:
            return bool(conversation.offered)
        return not self.played().isdisjoint(conversation.offered)

    def played(self) -> frozenset[str]:
        """The agent's tools that a role plays. Raises what the binder raises."""
        return frozenset(name for role in self.roles for name in self._cast.tools_of(role))

    @cached_property
    def _cast(self) -> Casting:
        return casting(self.binder)

    def words(self, text: str, conversation: Conversation) -> Answer:
        """An answer of words alone, which makes nothing happen: a request that wants a tool called
        gets them through one that no role plays, if it has one. Raises as `speak` does, and what
        the binder raises.
        """
        quiet = speak(text, conversation)
        # Without roles nobody knows which tools do nothing.
        if not (conversation.choice.forced and self.roles):
            return quiet
        wanted = conversation.choice.tool
        return last_words(Say(text=text), conversation, wanted, self.played()) or quiet

    def owes(self, conversation: Conversation) -> bool:
        """Whether a request only fetches a call that is left of the latest move. Raises as `answer`
        does.
        """
        return self.concerns(conversation) and self._rest(conversation) is not None

    # -- what the script wants

    def _move(self, seen: Seen) -> Move:
        move = self.script(self._behind(seen))
        if not isinstance(move, Say | Calls):
            raise TypeError(
                f"the script returned {move!r} at turn {seen.turn}: "
                "return Calls or Say at every turn"
            )
        return move

    def _behind(self, seen: Seen) -> Seen:
        """What the script sees, which knows nothing of moves that were lost."""
        if not (lost := self.lost(seen.turn)):
            return seen
        results, all_results = (
            tuple(self._told(each) for each in told) for told in (seen.results, seen.all_results)
        )
        return Seen(turn=seen.turn - lost, results=results, all_results=all_results)

    def _told(self, result: ToolResult) -> ToolResult:
        """A result of the script's own turn. What no tool could take was refused by nobody."""
        own = read_call_id(result.call_id)
        if own is None:
            return result
        lost = self.lost(own.turn)
        return ToolResult(
            call_id=make_call_id(own.key, own.turn - lost, own.index),
            text=result.text,
            refused=result.refused and self.lost(own.turn + 1) == lost,
        )

    def _rest(self, conversation: Conversation) -> Calls | None:
        """The latest move, if the request takes one call at a time and some of it is left."""
        turn = conversation.turn
        if not (conversation.one_call and conversation.made and turn):
            return None
        if self.lost(turn) > self.lost(turn - 1):
            return None
        move = self._move(msgspec.structs.replace(conversation.seen(), turn=turn - 1))
        if not isinstance(move, Calls) or len(move.proposals) <= conversation.made:
            return None
        return move

    def _last_calls(self, turn: int, role: str) -> Propose | None:
        """The latest proposal before `turn`, of that role where one is given."""
        for earlier in range(turn - 1, -1, -1):
            move = self._move(Seen(turn=earlier))
            for each in reversed(move.proposals if isinstance(move, Calls) else ()):
                if role in ("", each.role):
                    return each
        return None

    # -- what the request lets it do

    def _say(self, move: Say, conversation: Conversation) -> Answer:
        if not conversation.choice.forced:
            return speak(move.text, conversation)
        return self._made_to(move, conversation)

    def _made_to(self, move: Move, conversation: Conversation) -> Answer:
        """What a model does that is made to call a tool when the script wants something else: a
        tool that no role plays is told the words, else the model repeats itself.
        """
        tool = conversation.choice.tool
        words = move if isinstance(move, Say) else Say(text=move.says)
        if other := last_words(words, conversation, tool, self.played()):
            return other
        role = next((r for r in self.roles if tool in self._cast.tools_of(r)), "")
        again = self._last_calls(conversation.turn, role)
        if again is None and role:
            again = Propose(role=role)
        if again is None:
            return harmless(conversation)
        answer = self._bound(Calls(proposals=(again,)), conversation, conversation.turn, 0)
        return msgspec.structs.replace(answer, forced=True)

    def _call(self, move: Calls, conversation: Conversation, turn: int) -> Answer:
        parts = [self._wanted(each, conversation) for each in move.proposals]
        names = tuple(dict.fromkeys(name for part in parts for name in part.tools))
        elsewhere = not all(part.offered for part in parts)
        if elsewhere and (way := self._road(conversation)):
            return way
        if withheld := _obstacle(parts, conversation):
            quiet = harmless(conversation)
            return msgspec.structs.replace(quiet, withheld=withheld, wanted=names)
        wanted = conversation.choice.tool
        if wanted and wanted not in names:
            answer = self._made_to(move, conversation)
            withheld = call_of_other(names, wanted)
            return msgspec.structs.replace(answer, withheld=withheld, wanted=names)
        begin = conversation.made if turn < conversation.turn else 0
        return self._bound(move, conversation, turn, begin)

    def _road(self, conversation: Conversation) -> Answer | None:
        return road(conversation, self._cast.roads())

    def _wanted(self, proposal: Propose, conversation: Conversation) -> _Wanted:
        """The tool that a proposal comes to; all that play its part where none is offered."""
        tool = self._tool(proposal, conversation)
        tools = (tool,) if tool else self._cast.tools_of(proposal.role)
        return _Wanted(role=proposal.role, tools=tools, offered=tool is not None)

    def _tool(self, proposal: Propose, conversation: Conversation) -> str | None:
        """The one that the request names, if it plays the part, else one of those offered."""
        named = conversation.offered & {conversation.choice.tool}
        cast, role, slots = self._cast, proposal.role, proposal.slots
        by_name = cast.tool_for(role, slots, named) if named else None
        return by_name or cast.tool_for(role, slots, conversation.offered)

    def _bound(self, move: Calls, conversation: Conversation, turn: int, begin: int) -> Answer:
        """The calls of a move, from place `begin` on, as far as the request takes them."""
        bound = []
        for index, each in enumerate(move.proposals):
            tool = self._tool(each, conversation) or self._cast.tools_of(each.role)[0]
            bound.append(
                BoundCall(
                    call_id=make_call_id(conversation.key, turn, index),
                    tool=tool,
                    arguments=self._cast.arguments_for(each.role, each.slots, tool),
                )
            )
        wanted = conversation.choice.tool
        calls = [each for each in bound[begin:] if not wanted or each.tool == wanted]
        return Answer(move=move, calls=tuple(calls[:1] if conversation.one_call else calls))


class _Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What a proposal comes to in a request: a tool that it offers, or those that it lacks."""

    role: str
    tools: tuple[str, ...]
    offered: bool


def _obstacle(parts: Sequence[_Wanted], conversation: Conversation) -> str:
    missing = dict.fromkeys(
        f"{' or '.join(f'`{tool}`' for tool in part.tools)} (role `{part.role}`)"
        for part in parts
        if not part.offered
    )
    if missing:
        offered = ", ".join(sorted(conversation.offered)) or "none"
        return (
            f"the script wants {', '.join(missing)}, but the request offers: {offered}. "
            "Bind the role to a tool that the agent offers, or let the agent offer it"
        )
    if not conversation.may_call:
        tools = dict.fromkeys(tool for part in parts for tool in part.tools)
        return (
            f"the script wants to call {', '.join(tools)}, but the request sets "
            "tool_choice to none. Let the agent leave tool_choice out where tools may be called"
        )
    return ""
