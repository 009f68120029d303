"""A model whose requests a run is told of, at the place where they are sent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from pydantic_ai.exceptions import AgentRunError
from pydantic_ai.messages import UserPromptPart
from pydantic_ai.models.wrapper import WrapperModel

from pytest_tripwire.adapters.unbilled import cost_nothing
from pytest_tripwire.breaker.budget import Usage
from pytest_tripwire.breaker.conversation import hears
from pytest_tripwire.guard import BreakerRun


class RunStoppedError(AgentRunError):
    """The breaker lets the agent send no further request. It ends the agent's run; why it was
    stopped is told by the `Interrupted` that the breaker's run raises on its way out.
    """


class Metered(WrapperModel):
    """Opens a turn before each request, and pays for it after.

    Args:
        wrapped: the model that is asked.
        run: is told.
    """

    def __init__(self, wrapped: Any, run: BreakerRun) -> None:
        super().__init__(wrapped)
        self._run = run

    async def request(self, messages: Any, *args: Any, **options: Any) -> Any:
        """The whole answer. Raises RunStoppedError if the run may not ask."""
        hears(asked_first(messages))
        self._open()
        try:
            response = await super().request(messages, *args, **options)
        except BaseException as error:
            self._unanswered(error)
            raise
        self._pay(response)
        return response

    @asynccontextmanager
    async def request_stream(self, messages: Any, *args: Any, **options: Any) -> AsyncIterator[Any]:
        """The answer in pieces. Raises RunStoppedError if the run may not ask."""
        hears(asked_first(messages))
        self._open()
        stream = None
        try:
            async with super().request_stream(messages, *args, **options) as stream:
                yield stream
        except BaseException as error:
            if stream is None:
                self._unanswered(error)
            raise
        finally:
            if stream is not None:
                self._pay(stream.get())

    def tells(self, run: BreakerRun) -> bool:
        """Whether this is the run that is told."""
        return run is self._run

    def _open(self) -> None:
        verdict = self._run.before_model()
        if not verdict.allowed:
            raise RunStoppedError(verdict.message)

    def _unanswered(self, error: BaseException) -> None:
        """Whatever was sent may have been answered, and billed, all the same."""
        if cost_nothing(error):
            self._run.model_failed()
        else:
            self._run.after_model(Usage())

    def _pay(self, response: Any) -> None:
        name = response.model_name or self.model_name
        provider = response.provider_name
        self._run.after_model(usage_of(response), response.text or "", name, provider)


def metered(model: Any, run: BreakerRun) -> Metered | None:
    """A model whose requests `run` is told of; None if it is told of them already."""
    inner = model
    while isinstance(inner, WrapperModel):
        if isinstance(inner, Metered) and inner.tells(run):
            return None
        inner = inner.wrapped
    return Metered(model, run)


def asked_first(messages: Any) -> str:
    """What a user has said first of all; empty where the messages do not hold it."""
    parts = (part for each in messages for part in each.parts)
    return next((str(each.content) for each in parts if isinstance(each, UserPromptPart)), "")


def usage_of(response: Any) -> Usage:
    """What a response says that it used; what it does not say is unknown. So is what a stream has
    used in the end that was left early.
    """
    used = response.usage
    if response.state in ("incomplete", "interrupted"):
        return Usage()
    if used.unmeasured_requests or not used.total_tokens:
        return Usage(cost_usd=used.cost)
    return Usage(
        prompt_tokens=used.input_tokens,
        completion_tokens=used.output_tokens,
        cost_usd=used.cost,
        cached_tokens=used.cache_read_tokens or None,
        cache_write_tokens=used.cache_write_tokens or None,
    )
