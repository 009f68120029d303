"""Answers model requests in neutral terms: what the HTTP server and models in the agent's own
process have in common.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias

import msgspec

from pytest_tripwire.models.actor import Actor
from pytest_tripwire.models.answer import Answer, harmless
from pytest_tripwire.models.conversation import HARMLESS, Conversation
from pytest_tripwire.models.counters import Counters, Noted, Observed
from pytest_tripwire.models.faults import Delivery, Plan
from pytest_tripwire.models.request_error import RequestError
from pytest_tripwire.models.tokens import Usage

Observe: TypeAlias = Callable[[Observed], str | None]


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """What a request gets.

    Args:
        conversation: the request's, as the answer takes it.
        answer: what the model says and calls.
        usage: what is reported of its size; None for nothing.
        delivery: how it gets to the client.
    """

    conversation: Conversation
    answer: Answer
    usage: Usage | None
    delivery: Delivery


class Exchange:
    """Called from many threads at once.

    Args:
        actor: decides the answers.
        observe: see `ModelServer`.
        counters: what to remember.
        plan: what goes wrong.
    """

    def __init__(self, *, actor: Actor, observe: Observe, counters: Counters, plan: Plan) -> None:
        self._actor = msgspec.structs.replace(actor, lost=plan.lost_before)
        self._observe = observe
        self._counters = counters
        self._plan = plan

    def answer(
        self, conversation: Conversation, *, retry: bool = False, usage: bool = True
    ) -> Given:
        """Answer a request. `retry`: the client says that it sends it again. `usage`: the response
        is to tell its size.

        Raises:
            RequestError: it gets an error; what the script, its binder or observer raised is its
                cause, and kept.
        """
        noted = self._counters.admit(self._placed(conversation), retry=retry, usage=usage)
        try:
            return self._given(noted)
        except RequestError as error:
            self._counters.end(noted, told=f"{error.status}")
            raise
        except BaseException as error:  # the harness raises it on its own thread
            self._counters.remember(error)
            raise RequestError(500, _failure(error)) from error

    def _placed(self, conversation: Conversation) -> Conversation:
        # What the binder raises is told where the answer is made.
        with suppress(Exception):
            if self._actor.concerns(conversation):
                return self._counters.place(conversation)
        return conversation

    def _given(self, noted: Noted) -> Given:
        conversation = noted.conversation
        rest = self._actor.owes(conversation)
        struck = self._plan.at(None if rest else conversation.turn, noted.attempt)
        struck.check()
        if struck.delivery.drop:
            # Nobody hears the answer, so the script is not asked and nobody pays.
            self._counters.end(noted, told="no byte")
            quiet = harmless(conversation)
            return Given(
                conversation=conversation, answer=quiet, usage=None, delivery=struck.delivery
            )
        answer = struck.alter(self._answer(conversation))
        observed = self._counters.observe(conversation, answer, retry=noted.retry)
        text = self._observe(observed)
        if text is not None:
            answer = self._actor.words(text, conversation)
        cut = struck.delivery.cut is not None
        played = self._actor.played()
        self._counters.end(noted, answer=answer, told="a part" if cut else "", played=played)
        # The tokens as observed, even for a text put in place of the move: the agent's
        # books and the observer's have to agree.
        usage = Usage(prompt=observed.prompt_tokens, completion=observed.completion_tokens)
        return Given(
            conversation=conversation,
            answer=answer,
            usage=struck.count(usage),
            delivery=struck.delivery,
        )

    def _answer(self, conversation: Conversation) -> Answer:
        if self._counters.exhausted:
            return self._actor.words(HARMLESS, conversation)
        return self._actor.answer(conversation)


def _failure(error: BaseException) -> str:
    return (
        f"the scripted model failed with {type(error).__name__}: {error}. "
        "Correct the script, its binder or its observer; ModelServer.error has the traceback"
    )
