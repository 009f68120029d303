"""One model request, whatever protocol it came by: which conversation, and how far it is.

Nothing here counts requests. SDKs send a request again when it fails, and agents trim
their histories, so the request itself has to say everything.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import msgspec

from pytest_tripwire.models.call_ids import OwnId, is_road_id, read_call_id
from pytest_tripwire.models.choice import AUTO, Choice
from pytest_tripwire.models.results import read_result
from pytest_tripwire.models.script import Seen, ToolResult

#: What the scripted model says where nothing of its script is called for.
HARMLESS = "There is nothing more to do."

#: Characters of a result that is kept as it is.
_SHORT = 1000


class Message(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """One message of a request.

    Args:
        role: who speaks; `tool` is a tool's result.
        text: all of its text.
        call_ids: the calls that an assistant proposes, or the one that a result answers.
    """

    role: Literal["system", "user", "assistant", "tool"]
    text: str = ""
    call_ids: tuple[str, ...] = ()

    @cached_property
    def own_ids(self) -> tuple[OwnId, ...]:
        """Those of them that the scripted model made."""
        if self.role not in ("assistant", "tool"):
            return ()
        return tuple(own for call_id in self.call_ids if (own := read_call_id(call_id)))


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """What one request says about its conversation.

    Args:
        key: digest of system prompt, offered tools and first user message.
        turn: moves that the scripted model already made in it, from 0.
        offered: names of the tools that the model may call.
        thread: digest of system prompt and first user message alone; tells a conversation whose
            tools change from another one.
        opening: digest of the first user message alone.
        counted: those of the moves before `turn` that are only counted, as no own id tells of any:
            what an agent wrote in the model's name before it asked is among them.
        made: calls of the scripted model's latest move, if the request shows them last.
        unanswered: ids of calls that the request shows without a result.
        unasked: ids of results whose call the request does not show.
        results: tool results that answer the latest move.
        all_results: every tool result that the request shows.
        choice: what the request lets the model call.
        one_call: whether the request forbids several calls in one message.
        tools: JSON schema of each offered tool's arguments, by name, in the request's order.
        schema: the JSON schema that the answer's text has to satisfy, where one is given.
        model: the model that the request names.
        prompt_tokens: size of the prompt in tokens.
    """

    key: str
    turn: int
    offered: frozenset[str]
    thread: str = ""
    opening: str = ""
    counted: int = 0
    made: int = 0
    unanswered: tuple[str, ...] = ()
    unasked: tuple[str, ...] = ()
    results: tuple[ToolResult, ...] = ()
    all_results: tuple[ToolResult, ...] = ()
    choice: Choice = AUTO
    one_call: bool = False
    tools: Mapping[str, Mapping[str, Any]] = {}
    schema: Mapping[str, Any] | None = None
    model: str = ""
    prompt_tokens: int = 0

    @property
    def may_call(self) -> bool:
        """False when the request forbids tool calls."""
        return self.choice.kind != "none"

    def begun_at(self, written: int) -> Conversation:
        """The same where the first `written` of the counted moves are none of the model's."""
        turn = self.turn - min(written, self.counted)
        results = self.results if turn else ()
        return msgspec.structs.replace(self, turn=turn, results=results)

    def outlined(self) -> Conversation:
        """The same with a digest in place of each long result, so that it can be kept."""
        results, all_results = map(_outlines, (self.results, self.all_results))
        return msgspec.structs.replace(self, results=results, all_results=all_results)

    def seen(self) -> Seen:
        """The part that a script may look at, without what only led to another agent."""
        results, all_results = (
            tuple(each for each in given if not is_road_id(each.call_id))
            for given in (self.results, self.all_results)
        )
        return Seen(turn=self.turn, results=results, all_results=all_results)


def read_conversation(messages: Sequence[Message], offered: Iterable[str]) -> Conversation:
    """The conversation that `messages` belong to, in a request that offers these tools."""
    names = frozenset(offered)
    latest, position = _latest_move(messages)
    # Moves of words alone carry no id, so they are counted from the last move that does.
    spoken = _spoken(messages[position:], ids_survive=latest >= 0)
    asked, answered = _ids(messages, "assistant"), _ids(messages, "tool")
    return Conversation(
        key=_key(messages, names),
        turn=latest + 1 + len(spoken),
        offered=names,
        thread=_digest([_system_prompt(messages), _first_user(messages)]),
        opening=_digest([_first_user(messages)]),
        counted=len(spoken) if latest < 0 else 0,
        made=0 if spoken else _calls_of(messages, latest),
        unanswered=tuple(each for each in asked if each not in answered),
        unasked=tuple(each for each in answered if each not in asked),
        results=_results(messages[position + spoken[-1] :])
        if spoken
        else _answers(messages, latest),
        all_results=_results(messages),
    )


def _latest_move(messages: Sequence[Message]) -> tuple[int, int]:
    """The highest turn in any own id, and where the messages after that move begin."""
    latest, position = -1, 0
    for index, message in enumerate(messages):
        turn = max((own.turn for own in message.own_ids), default=-1)
        if turn >= max(latest, 0):
            latest, position = turn, index + 1
    return latest, position


def _spoken(messages: Sequence[Message], *, ids_survive: bool) -> list[int]:
    """Places of the moves that carry no id of ours. Agents also write in the model's name: what it
    said to their routers, and, where our ids come back as they were, calls of other ids. A call
    that only led to another agent is no move either.
    """
    return [
        place
        for place, message in enumerate(messages)
        if message.role == "assistant"
        and message.text.strip() != HARMLESS
        and not (ids_survive and message.call_ids)
        and not _is_road(message)
    ]


def _is_road(message: Message) -> bool:
    return bool(message.call_ids) and all(map(is_road_id, message.call_ids))


def _ids(messages: Sequence[Message], role: str) -> dict[str, None]:
    """Call ids in messages of a role, each once, in order."""
    return dict.fromkeys(each for m in messages if m.role == role for each in m.call_ids)


def _calls_of(messages: Sequence[Message], turn: int) -> int:
    """How many calls our move of that turn has, as far as its ids tell."""
    own = (each for message in messages for each in message.own_ids if each.turn == turn)
    return max((each.index + 1 for each in own), default=0)


def _answers(messages: Sequence[Message], turn: int) -> tuple[ToolResult, ...]:
    # By id rather than by place: some agents split parallel calls into pairs.
    return _results(m for m in messages if any(own.turn == turn for own in m.own_ids))


def _results(messages: Iterable[Message]) -> tuple[ToolResult, ...]:
    return tuple(
        read_result("".join(message.call_ids), message.text)
        for message in messages
        if message.role == "tool"
    )


def _outlines(results: tuple[ToolResult, ...]) -> tuple[ToolResult, ...]:
    replace = msgspec.structs.replace
    return tuple(
        replace(each, text=_digest([each.text])) if len(each.text) > _SHORT else each
        for each in results
    )


def _key(messages: Sequence[Message], offered: frozenset[str]) -> str:
    scope = _digest([_system_prompt(messages), *sorted(offered)])
    # A trimmed history may have lost the first user message; an own id of the same
    # agent still says what it was.
    for message in reversed(messages):
        for own in message.own_ids:
            if own.key.startswith(scope):
                return own.key
    return scope + _digest([_first_user(messages)])


def _first_user(messages: Sequence[Message]) -> str:
    return next((message.text for message in messages if message.role == "user"), "")


def _system_prompt(messages: Sequence[Message]) -> str:
    # The leading ones only: reminders that come later must not change the key.
    texts = []
    for message in messages:
        if message.role != "system":
            break
        texts.append(message.text)
    return "\n".join(texts)


def _digest(parts: list[str]) -> str:
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()[:8]
