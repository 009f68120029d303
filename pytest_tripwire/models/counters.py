"""What a model server remembers from one request to the next, behind one lock."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import TypeAlias

import msgspec

from pytest_tripwire.models.answer import Answer
from pytest_tripwire.models.conversation import Conversation
from pytest_tripwire.models.script import Move

#: Reasons that are kept, and the characters of each.
_MOST_REFUSALS = 100
_LONGEST_REFUSAL = 1000

#: Where in which conversation a request is.
_Place: TypeAlias = tuple[str, int, int]


class Observed(msgspec.Struct, frozen=True, kw_only=True):
    """One model request and its answer, for those who keep the books.

    Args:
        conversation: key of the conversation; tells parallel agents apart.
        turn: moves that the scripted model made in it before, from 0.
        move: the move that goes out, unless the observer puts a text in its place.
        prompt_tokens: size of the request in tokens.
        completion_tokens: size of the answer in tokens.
        auxiliary: whether the request is none of the script's, like a router's.
        repeat: whether this turn was answered before, and the client says that it only tries the
            same request again.
        withheld: why the script's own move is not given; empty when it is.
        calls: the tools that the answer calls, each as often as it does.
    """

    conversation: str
    turn: int
    move: Move
    prompt_tokens: int
    completion_tokens: int
    auxiliary: bool
    repeat: bool
    withheld: str = ""
    calls: tuple[str, ...] = ()


class Noted(msgspec.Struct, frozen=True, kw_only=True):
    """One model request as the server saw it, for those who look for what is wrong with an agent.

    Args:
        number: its place among all model requests, from 1.
        conversation: what it says, once it is answered in outline.
        attempt: how often this turn of the conversation was asked for, this time included.
        retry: whether the client says that it sends it again.
        answer: what the model answered; None if the request got an error, or no byte.
        told: what went wrong with the response, in a few words; empty for nothing.
        usage: whether the response was to tell its size.
        played: the agent's tools that a role plays, as far as they were looked up.
    """

    number: int
    conversation: Conversation
    attempt: int = 1
    retry: bool = False
    answer: Answer | None = None
    told: str = ""
    usage: bool = True
    played: frozenset[str] = frozenset()


class Counters:
    """Counts requests, and remembers the first error.

    Args:
        max_requests: model requests that get the script's answers.
        time_is_up: whether the server has answered for as long as it may.
    """

    def __init__(self, max_requests: int, time_is_up: Callable[[], bool] = lambda: False) -> None:
        self._max_requests = max_requests
        self._time_is_up = time_is_up
        self._late = False
        self._lock = threading.Lock()
        self._answered: set[_Place] = set()
        self._attempts: Counter[_Place] = Counter()
        self._written: dict[str, int] = {}
        self._noted: list[Noted] = []
        self._withheld: dict[str, None] = {}
        self._refusals: dict[str, None] = {}
        self._closed = False
        self.requests = 0
        self.error: BaseException | None = None

    @property
    def exhausted(self) -> bool:
        """Whether there were more requests, or later ones, than allowed."""
        return self._late or self.requests > self._max_requests

    @property
    def auxiliary(self) -> int:
        """Requests that were none of the script's."""
        with self._lock:
            return sum(each.answer is not None and each.answer.auxiliary for each in self._noted)

    @property
    def noted(self) -> tuple[Noted, ...]:
        """Every model request, in order."""
        with self._lock:
            return tuple(self._noted)

    @property
    def closed(self) -> bool:
        """Whether the server was stopped."""
        return self._closed

    @property
    def withheld(self) -> tuple[str, ...]:
        """Why moves were not given, each reason once, in order."""
        with self._lock:
            return tuple(self._withheld)

    @property
    def refusals(self) -> tuple[str, ...]:
        """What requests were turned down for, each message once, the latest last."""
        with self._lock:
            return tuple(self._refusals)

    def refuse(self, message: str) -> None:
        """Keep why a request was turned down: the latest reasons, and no longer than people read,
        as what is wrong with a request may be long.
        """
        kept = message if len(message) <= _LONGEST_REFUSAL else f"{message[:_LONGEST_REFUSAL]}..."
        with self._lock:
            self._refusals.pop(kept, None)
            self._refusals[kept] = None
            if len(self._refusals) > _MOST_REFUSALS:
                del self._refusals[next(iter(self._refusals))]

    def place(self, conversation: Conversation) -> Conversation:
        """The conversation without what was written in the model's name before the model was first
        asked: a greeting, or an example. It is known by the user's first words alone, as a system
        prompt may tell the time.
        """
        with self._lock:
            written = self._written.setdefault(conversation.opening, conversation.counted)
        return conversation.begun_at(written)

    def admit(self, conversation: Conversation, *, retry: bool, usage: bool = True) -> Noted:
        """Count a request; returns it as far as it is known."""
        place = _place(conversation)
        with self._lock:
            self.requests += 1
            self._attempts[place] += 1
            self._late = self._late or self._time_is_up()
            noted = Noted(
                number=self.requests,
                conversation=conversation,
                attempt=self._attempts[place],
                retry=retry,
                usage=usage,
            )
            self._noted.append(noted)
            return noted

    def end(
        self,
        noted: Noted,
        *,
        answer: Answer | None = None,
        told: str = "",
        played: frozenset[str] = frozenset(),
    ) -> None:
        """Note what became of a request. Of long results a digest is kept: a history comes again
        with each request, and one may be megabytes long.
        """
        outlined = noted.conversation.outlined()
        ended = msgspec.structs.replace(
            noted, conversation=outlined, answer=answer, told=told, played=played
        )
        with self._lock:
            self._noted[noted.number - 1] = ended

    def observe(self, conversation: Conversation, answer: Answer, *, retry: bool) -> Observed:
        """Count an answer; returns what there is to know about it. A conversation that is begun
        anew is no repeat: it is asked for, and paid for, like any other.
        """
        place = _place(conversation)
        with self._lock:
            repeat = retry and place in self._answered
            self._answered.add(place)
            if answer.withheld:
                self._withheld.setdefault(answer.withheld)
        return Observed(
            conversation=conversation.key,
            turn=conversation.turn,
            move=answer.move,
            prompt_tokens=conversation.prompt_tokens,
            completion_tokens=answer.tokens(),
            auxiliary=answer.auxiliary,
            repeat=repeat,
            withheld=answer.withheld,
            calls=tuple(call.tool for call in answer.calls),
        )

    def remember(self, error: BaseException) -> None:
        """Keep the first error: what follows it is mostly its consequence."""
        with self._lock:
            self.error = self.error or error

    def close(self) -> bool:
        """Mark the server as stopped; returns False when it was before."""
        with self._lock:
            closed, self._closed = self._closed, True
            return not closed


def _place(conversation: Conversation) -> _Place:
    # The calls of one move may be fetched one at a time: by requests of their own.
    return (conversation.key, conversation.turn, conversation.made)
