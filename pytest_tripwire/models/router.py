"""From a path and a body to a response: the model server without its sockets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from pytest_tripwire.models.answer import Actor, Answer, harmless, speak
from pytest_tripwire.models.conversation import Conversation
from pytest_tripwire.models.counters import Counters, Observed
from pytest_tripwire.models.dialect import Dialect
from pytest_tripwire.models.openai_shapes import models_body
from pytest_tripwire.models.request_error import RequestError
from pytest_tripwire.models.transport import HttpReply

MODELS_PATH = "/v1/models"


class Router:
    """Answers HTTP requests in the dialect of their path.

    Args:
        dialects: one or more; the first one also shapes errors of unknown paths.
        actor: decides the answers.
        observe: see `ModelServer`.
        counters: what to remember.
        max_body: bytes that the body of a request may have.
    """

    def __init__(
        self,
        *,
        dialects: Sequence[Dialect],
        actor: Actor,
        observe: Callable[[Observed], str | None],
        counters: Counters,
        max_body: int,
    ) -> None:
        self._dialects = {dialect.path: dialect for dialect in dialects}
        self._default = dialects[0]
        self._actor = actor
        self._observe = observe
        self._counters = counters
        self.max_body = max_body

    def respond(self, method: str, path: str, body: bytes, *, retry: bool) -> HttpReply:
        """Answer a request. `retry`: the client says that it sends it again. Raises
        `RequestError` to turn it down.
        """
        place = _place(path)
        self._check_route(method, place)
        if place == MODELS_PATH:
            return _reply(200, models_body())
        dialect = self._dialects[place]
        try:
            return _reply(200, self._complete(dialect, _decode(body), retry=retry))
        except RequestError:
            raise
        except BaseException as error:  # the harness raises it on its own thread
            self.crashed(error)
            raise RequestError(500, _failure(error)) from error

    def refuse(self, path: str, error: RequestError) -> HttpReply:
        """The response for a request that was turned down."""
        dialect = self._dialects.get(_place(path), self._default)
        self._counters.refuse(f"{error.status}, {error.message}")
        return _reply(error.status, dialect.error(error))

    def crashed(self, error: BaseException) -> None:
        """Remember an error that no response could tell."""
        self._counters.remember(error)

    def _check_route(self, method: str, place: str) -> None:
        methods = dict.fromkeys(self._dialects, "POST") | {MODELS_PATH: "GET"}
        served = ", ".join(f"{verb} {path}" for path, verb in methods.items())
        if place not in methods:
            raise RequestError(404, f"nothing is served at {place}: use one of {served}")
        if methods[place] != ("GET" if method == "HEAD" else method):
            raise RequestError(405, f"{method} is not served at {place}: use one of {served}")
        if self._counters.closed:
            raise RequestError(503, "this model server was stopped: start a new one")

    def _complete(self, dialect: Dialect, body: dict[str, Any], *, retry: bool) -> dict[str, Any]:
        conversation = _parse(dialect, body)
        answer = self._answer(conversation)
        observed = self._counters.observe(conversation, answer, retry=retry)
        text = self._observe(observed)
        if text is not None:
            answer = speak(text, conversation)
        # The tokens as observed, even for a text put in place of the move: the agent's
        # books and the observer's have to agree.
        return dialect.render(conversation, answer, observed.completion_tokens)

    def _answer(self, conversation: Conversation) -> Answer:
        if self._counters.admit():
            return self._actor.answer(conversation)
        return harmless(conversation)


def _place(path: str) -> str:
    return path.partition("?")[0].rstrip("/") or "/"


def _reply(status: int, body: dict[str, Any]) -> HttpReply:
    return HttpReply(status=status, body=msgspec.json.encode(body))


def _decode(body: bytes) -> dict[str, Any]:
    try:
        content = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RequestError(400, f"the body is not JSON ({error}): send a JSON object") from error
    if not isinstance(content, dict):
        raise RequestError(400, "the body is JSON but no object: send a JSON object")
    return content


def _parse(dialect: Dialect, body: dict[str, Any]) -> Conversation:
    try:
        return dialect.parse(body)
    except RecursionError as error:
        raise RequestError(400, "the body is nested too deeply: send it flatter") from error


def _failure(error: BaseException) -> str:
    return (
        f"the scripted model failed with {type(error).__name__}: {error}. "
        "Correct the script, its binder or its observer; ModelServer.error has the traceback"
    )
