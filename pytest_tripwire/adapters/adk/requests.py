"""Model requests of the kit's agents, counted and paid for."""

from __future__ import annotations

import asyncio
from typing import Any

from pytest_tripwire.breaker.budget import Usage
from pytest_tripwire.breaker.conversation import hears
from pytest_tripwire.guard import BreakerRun

#: What goes wrong on the way to a provider: of Python itself, of httpx, aiohttp, and the clients.
_LOST = frozenset(
    {
        "ConnectionError",
        "TimeoutError",
        "TransportError",
        "ClientConnectionError",
        "APIConnectionError",
    }
)
#: And what of it comes before anything was sent.
_NEVER_SENT = frozenset(
    {
        "ConnectionRefusedError",
        "ConnectError",
        "ConnectTimeout",
        "PoolTimeout",
        "UnsupportedProtocol",
        "ClientConnectorError",
    }
)


class StoppedError(RuntimeError):
    """Ends the kit's run before its next model request, as the breaker has stopped."""


class Requests:
    """Brackets model requests by callbacks of the kit's.

    Args:
        run: whose requests they are.
    """

    def __init__(self, run: BreakerRun) -> None:
        self.run = run
        #: The tasks in which a request is under way.
        self._asking: set[Any] = set()

    def opened(self, callback_context: Any, llm_request: Any) -> None:
        """Before a request. Raises StoppedError if it must not be sent."""
        del callback_context
        hears(_asked_first(llm_request.contents))
        self._pay_for_the_cut_off()
        verdict = self.run.before_model()
        if not verdict.allowed:
            raise StoppedError(verdict.message)
        self._asking.add(asyncio.current_task())

    def paid(self, callback_context: Any, llm_response: Any) -> None:
        """After one, or after a piece of its answer."""
        del callback_context
        if not llm_response.partial:
            self._asking.discard(asyncio.current_task())
            parts = llm_response.content.parts if llm_response.content else None
            text = "".join(each.text or "" for each in parts or [])
            self.run.after_model(usage_of(llm_response), text, llm_response.model_version)

    def failed(self, callback_context: Any, llm_request: Any, error: Exception) -> None:
        """After one that has raised."""
        del callback_context, llm_request
        self._asking.discard(asyncio.current_task())
        if _is_lost(error):
            self.run.after_model(Usage())
        else:
            self.run.model_failed()

    def _pay_for_the_cut_off(self) -> None:
        """The kit tells nobody of a request that was cancelled, or whose answer somebody has
        replaced. It may have been answered all the same, and what it has cost is unknown.
        """
        here = asyncio.current_task()
        for task in [each for each in self._asking if each is here or each.done()]:
            self._asking.discard(task)
            self.run.after_model(Usage())


def _is_lost(error: Exception) -> bool:
    """Whether a request was sent and its answer was lost, so that nobody knows what it has cost. An
    error that the provider has answered, or one in how it was asked, has cost nothing. The kit asks
    by many libraries, whose errors of the connection are told by their names.
    """
    names = {kind.__name__ for each in (error, error.__cause__) for kind in type(each).__mro__}
    return bool(names & _LOST) and not names & _NEVER_SENT


def _asked_first(contents: Any) -> str:
    """What a user has said first of all."""
    said = (each.parts or [] for each in contents if each.role == "user")
    texts = ("".join(part.text or "" for part in parts) for parts in said)
    return next((each for each in texts if each), "")


def usage_of(response: Any) -> Usage:
    """What a request used; thoughts are paid for as words are."""
    used = response.usage_metadata
    if used is None or not used.total_token_count:
        return Usage()
    return Usage(
        prompt_tokens=used.prompt_token_count,
        completion_tokens=(used.candidates_token_count or 0) + (used.thoughts_token_count or 0),
        cached_tokens=used.cached_content_token_count,
    )
