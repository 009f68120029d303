"""Models whose requests are followed at the place where they are sent."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import AsyncIterator, Callable
from contextvars import ContextVar
from typing import Any

from agents import Model, ModelProvider, RunConfig

from pytest_tripwire.adapters.unbilled import cost_nothing
from pytest_tripwire.breaker.budget import Usage
from pytest_tripwire.guard import BreakerRun

#: The request that is under way in this task; the SDK asks the model in the task that tells hooks.
_REQUEST: ContextVar[Request | None] = ContextVar("tripwire_request", default=None)


class Request:
    """A model request for which a turn was opened.

    Args:
        owner: whoever has opened it.
        run: has reserved what it may cost.
        model: the model that is asked; None where that could not be seen.
    """

    def __init__(self, owner: object, run: BreakerRun, model: Any) -> None:
        self.owner, self.model = owner, model
        self._run = run

    def ended(self, error: BaseException) -> None:
        """It brought no answer. One that cannot have cost anything gives back what was reserved for
        it; any other may have been answered all the same, and what it cost is unknown.
        """
        if cost_nothing(error):
            self._run.model_failed()
        else:
            self._run.after_model(Usage())


def begun(request: Request) -> None:
    """`request` is the one that this task makes next."""
    _REQUEST.set(request)


def model_of(owner: object, agent: Any) -> str | None:
    """The name of the model that was asked last for an owner. The agent's own, where that could not
    be seen.
    """
    request = _REQUEST.get()
    seen = request is not None and request.owner is owner and request.model is not None
    return model_name(request.model if request is not None and seen else agent.model)


def model_name(model: Any) -> str | None:
    """The name of a model."""
    name = model if isinstance(model, str) else getattr(model, "model", None)
    return name if isinstance(name, str) else None


def asked_model() -> Any:
    """The model that the SDK is about to ask, called from a hook's own call. A run's settings may
    name another than the agent's, and no hook is told: it is looked for where the SDK has it.
    """
    here = inspect.currentframe()
    hook = None if here is None else here.f_back
    sdk = None if hook is None else hook.f_back
    found = None if sdk is None else sdk.f_locals.get("model")
    return found if isinstance(found, Model) else None


def metered(run_config: RunConfig | None = None) -> RunConfig:
    """Settings of a run of the SDK's whose own models are followed, as those of guarded agents are:
    a request that the provider refuses gives back what was held for it. For models that are given
    by name, by the agent or by the settings, and for a model of the settings.

    Args:
        run_config: the settings; they are not changed.
    """
    given = RunConfig() if run_config is None else run_config
    model = given.model
    return dataclasses.replace(
        given,
        model=followed(model) if isinstance(model, Model) else model,
        model_provider=_Follows(given.model_provider),
    )


def followed(model: Any) -> Any:
    """A model whose requests are followed; once is enough."""
    return model if type(model) is Followed else Followed(model)


class _Follows(ModelProvider):
    """Gives models whose requests are followed."""

    def __init__(self, provider: ModelProvider) -> None:
        self._provider = provider
        # By identity: the SDK releases each of the models once that it was given.
        self._known: dict[int, Followed] = {}

    def get_model(self, model_name: str | None) -> Any:
        model = self._provider.get_model(model_name)
        return self._known.setdefault(id(model), followed(model))

    async def aclose(self) -> None:
        await self._provider.aclose()


class Followed(Model):
    """Answers as another model does, of whose kind it is to all who ask."""

    def __init__(self, wrapped: Any) -> None:
        self._wrapped = wrapped

    def __getattr__(self, name: str) -> Any:
        if name == "_wrapped":
            raise AttributeError(name)
        return getattr(self._wrapped, name)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        # The SDK treats models of some kinds differently.
        return type(self._wrapped)

    async def get_response(self, *given: Any, **named: Any) -> Any:
        """The whole answer."""
        try:
            return await self._wrapped.get_response(*given, **named)
        except BaseException as error:
            _tell(error)
            raise

    async def stream_response(self, *given: Any, **named: Any) -> AsyncIterator[Any]:
        """The answer in pieces."""
        stream = self._wrapped.stream_response(*given, **named)
        close: Callable[[], Any] | None = getattr(stream, "aclose", None)
        try:
            async for event in stream:
                yield event
        except BaseException as error:
            _tell(error)
            raise
        finally:
            if close is not None:
                await close()

    def get_retry_advice(self, request: Any) -> Any:
        """Of the other model."""
        return self._wrapped.get_retry_advice(request)

    async def close(self) -> None:
        """Of the other model."""
        await self._wrapped.close()

    async def _cleanup_on_run_end(self, owner: object) -> None:
        await self._wrapped._cleanup_on_run_end(owner)  # noqa: SLF001 - the SDK calls it


def _tell(error: BaseException) -> None:
    request = _REQUEST.get()
    if request is not None:
        request.ended(error)
