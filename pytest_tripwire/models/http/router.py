"""From an HTTP request to a response: the model server without its sockets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any

import msgspec

from pytest_tripwire.models.counters import Counters
from pytest_tripwire.models.exchange import Exchange, Given
from pytest_tripwire.models.faults import Delivery
from pytest_tripwire.models.http.messages import HttpReply, HttpRequest
from pytest_tripwire.models.request_error import RequestError
from pytest_tripwire.models.wire.dialect import Asked, Dialect

MODELS_PATH = "/v1/models"

#: A header that only clients of this provider send, by provider.
_SIGNS = {"anthropic": "anthropic-version"}


class Router:
    """Answers HTTP requests in the dialect of their path.

    Args:
        dialects: one or more; the first one also shapes errors of unknown paths.
        exchange: decides the answers.
        counters: what to remember.
        max_body: bytes that the body of a request may have.
    """

    def __init__(
        self,
        *,
        dialects: Sequence[Dialect],
        exchange: Exchange,
        counters: Counters,
        max_body: int,
    ) -> None:
        self._dialects = dialects
        self._by_path = {dialect.path: dialect for dialect in dialects}
        self._counting = {each.count_path: each for each in dialects if each.count_path}
        self._exchange = exchange
        self._counters = counters
        self.max_body = max_body

    def respond(self, request: HttpRequest) -> HttpReply:
        """Answer a request. Raises `RequestError` to turn it down."""
        place = request.place
        self._check_route(request.method, place)
        if place == MODELS_PATH or place.startswith(f"{MODELS_PATH}/"):
            return _reply(self._models(request))
        body = _decode(request.body)
        if place in self._counting:
            asked = _guarded(self._counting[place].parse, body)
            tokens = asked.conversation.prompt_tokens
            return _reply(self._counting[place].count(tokens))
        return self._answered(self._by_path[place], body, retry=request.retry)

    def refuse(self, request: HttpRequest, error: RequestError) -> HttpReply:
        """The response for a request that was turned down, or that a fault struck."""
        if error.final:
            self._counters.refuse(f"{error.status}, {error.message}")
        # The same request gets the same error: a retry would only cost time.
        final = {"x-should-retry": "false"} if error.final else {}
        return HttpReply(
            status=error.status,
            body=msgspec.json.encode(self._dialect_of(request).error(error)),
            headers={**final, **error.headers},
            delivery=Delivery(delay=error.delay),
        )

    def crashed(self, error: BaseException) -> None:
        """Remember an error that no response could tell."""
        self._counters.remember(error)

    def _dialect_of(self, request: HttpRequest) -> Dialect:
        """Whose client sends a request, as far as it can be told."""
        known = {**self._by_path, **self._counting}.get(request.place)
        signed = (d for d in self._dialects if _SIGNS.get(d.provider) in request.headers)
        return known or next(signed, self._dialects[0])

    def _models(self, request: HttpRequest) -> dict[str, Any]:
        dialect = self._dialect_of(request)
        models = dialect.models()
        _, _, name = request.place.partition(f"{MODELS_PATH}/")
        if not name:
            return dialect.listed(models)
        for model in models:
            if name == model["id"]:
                return model
        raise RequestError(404, f"there is no model {name!r}: use {models[0]['id']!r}")

    def _check_route(self, method: str, place: str) -> None:
        methods = dict.fromkeys((*self._by_path, *self._counting), "POST")
        methods[MODELS_PATH] = "GET"
        served = ", ".join(f"{verb} {path}" for path, verb in methods.items())
        known = MODELS_PATH if place.startswith(f"{MODELS_PATH}/") else place
        if known not in methods:
            raise RequestError(404, f"nothing is served at {place}: use one of {served}")
        if methods[known] != ("GET" if method == "HEAD" else method):
            raise RequestError(405, f"{method} is not served at {place}: use one of {served}")
        if self._counters.closed:
            raise RequestError(503, "this model server was stopped: start a new one")

    def _answered(self, dialect: Dialect, body: dict[str, Any], *, retry: bool) -> HttpReply:
        asked = _guarded(dialect.parse, body)
        if asked.lacks:
            raise RequestError(400, asked.lacks)
        usage = asked.usage_in_stream or not asked.stream
        given = self._exchange.answer(asked.conversation, retry=retry, usage=usage)
        asked = msgspec.structs.replace(asked, conversation=given.conversation)
        try:
            return _written(dialect, asked, given)
        except Exception as error:
            self.crashed(error)
            raise RequestError(500, f"the answer could not be written: {error!r}") from error


def _written(dialect: Dialect, asked: Asked, given: Given) -> HttpReply:
    if not asked.stream:
        return _reply(dialect.render(asked, given.answer, given.usage), given)
    events = dialect.stream(asked, given.answer, given.usage)
    parts = tuple(each.encode() for each in events)
    return HttpReply(status=HTTPStatus.OK, parts=parts, delivery=given.delivery)


def _reply(body: dict[str, Any], given: Given | None = None) -> HttpReply:
    reply = HttpReply(status=HTTPStatus.OK, body=msgspec.json.encode(body))
    return msgspec.structs.replace(reply, delivery=given.delivery) if given else reply


def _decode(body: bytes) -> dict[str, Any]:
    try:
        content = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RequestError(400, f"the body is not JSON ({error}): send a JSON object") from error
    if not isinstance(content, dict):
        raise RequestError(400, "the body is JSON but no object: send a JSON object")
    return content


def _guarded(parse: Callable[[dict[str, Any]], Asked], body: dict[str, Any]) -> Asked:
    try:
        return parse(body)
    except RecursionError as error:
        raise RequestError(400, "the body is nested too deeply: send it flatter") from error
