"""One model request without HTTP, in the terms of a wire protocol all the same: what a framework
can turn into such a request needs no second reader.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import msgspec

from pytest_tripwire.models.answer import Answer
from pytest_tripwire.models.exchange import Exchange, Given
from pytest_tripwire.models.request_error import RequestError
from pytest_tripwire.models.tokens import Usage
from pytest_tripwire.models.wire.dialect import Asked, Dialect
from pytest_tripwire.timeline.loops import trio_module


class LostConnectionError(Exception):
    """What a connection that a fault ends comes to where there is none."""

    def __init__(self) -> None:
        super().__init__("the connection to the scripted model was lost, as planned")


#: Turns a failed request into the exception that a framework's own models raise for it.
Translate: TypeAlias = Callable[[RequestError | LostConnectionError], Exception]


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to one request, and how a framework may take it.

    Args:
        asked: the request.
        given: what it gets.
        dialect: writes it.
        failed: translates what goes wrong on the way.
    """

    asked: Asked
    given: Given
    dialect: Dialect
    failed: Translate

    @property
    def answer(self) -> Answer:
        """What the model says and calls."""
        return self.given.answer

    @property
    def usage(self) -> Usage | None:
        """What is reported of its size; None for nothing."""
        return self.given.usage

    def body(self) -> dict[str, Any]:
        """The response's body."""
        return self.dialect.render(self.asked, self.answer, self.usage)

    def events(self) -> Iterator[dict[str, Any]]:
        """The bodies of a stream's events. Raises the framework's error where it is cut."""
        cut = self.given.delivery.cut
        for number, each in enumerate(self.dialect.stream(self.asked, self.answer, self.usage)):
            if number == cut:
                break
            if each.data != "[DONE]":
                yield msgspec.json.decode(each.data)
        if cut is not None:
            raise self.failed(LostConnectionError())


class Direct:
    """Asks an exchange in the terms of a dialect.

    Args:
        exchange: decides the answers.
        dialect: reads the requests and writes the answers.
        failed: translates what goes wrong.
    """

    def __init__(self, exchange: Exchange, dialect: Dialect, failed: Translate) -> None:
        self._exchange = exchange
        self._dialect = dialect
        self._failed = failed

    def ask(self, body: dict[str, Any], *, stream: bool = False) -> Reply:
        """The answer to a request. Raises the framework's error."""
        reply = self._reply(body, stream=stream)
        if seconds := _delay(reply):
            time.sleep(seconds)  # real time, as the time-outs of agents are
        return self._arrived(reply, stream=stream)

    async def aask(self, body: dict[str, Any], *, stream: bool = False) -> Reply:
        """The same for async code, under asyncio or trio."""
        reply = self._reply(body, stream=stream)
        if seconds := _delay(reply):
            await (trio_module() or asyncio).sleep(seconds)
        return self._arrived(reply, stream=stream)

    def _reply(self, body: dict[str, Any], *, stream: bool) -> Reply | RequestError:
        try:
            asked = self._dialect.parse(body)
            # A framework takes the usage of a stream as it comes; nobody has to ask for it.
            asked = msgspec.structs.replace(asked, stream=stream, usage_in_stream=True)
            given = self._exchange.answer(asked.conversation)
        except RequestError as error:
            return error
        asked = msgspec.structs.replace(asked, conversation=given.conversation)
        return Reply(asked=asked, given=given, dialect=self._dialect, failed=self._failed)

    def _arrived(self, reply: Reply | RequestError, *, stream: bool) -> Reply:
        if isinstance(reply, RequestError):
            raise self._failed(reply) from reply
        delivery = reply.given.delivery
        if delivery.drop or (delivery.cut is not None and not stream):
            raise self._failed(LostConnectionError())
        return reply


def _delay(reply: Reply | RequestError) -> float:
    return reply.delay if isinstance(reply, RequestError) else reply.given.delivery.delay


def function(name: str, description: str | None, parameters: Any) -> dict[str, Any]:
    """A tool in the form of Chat Completions."""
    inner = {"name": name, "description": description or "", "parameters": parameters}
    return {"type": "function", "function": inner}


def call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    """A call of a tool in the form of Chat Completions."""
    inner = {"name": name, "arguments": arguments}
    return {"id": call_id, "type": "function", "function": inner}


def without_blanks(body: dict[str, Any]) -> dict[str, Any]:
    """A body without the fields that nobody has set."""
    return {name: value for name, value in body.items() if value not in (None, [], "")}
