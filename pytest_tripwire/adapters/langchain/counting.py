"""Requests of LangChain's models that a run is told of, at the place where they are sent."""

from __future__ import annotations

from threading import Lock
from typing import Any, TypeVar
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler, BaseCallbackManager
from langchain_core.exceptions import ModelError
from langchain_core.language_models import BaseChatModel

from pytest_tripwire.adapters.langchain.heard import first_of
from pytest_tripwire.adapters.langchain.paying import pay, unanswered
from pytest_tripwire.breaker.budget import Usage
from pytest_tripwire.breaker.conversation import hears
from pytest_tripwire.guard import BreakerRun

ChatModel = TypeVar("ChatModel")


class RunStoppedError(ModelError):
    """The breaker lets no further request be sent. It is no use trying again; why the run was
    stopped is told by the `Interrupted` that it raises on its way out.
    """


class ModelCounter(BaseCallbackHandler):
    """Has a run count the requests of whatever it is a callback of: a model, or all models of a
    graph, as in `graph.invoke(state, {"callbacks": [ModelCounter(run)]})`. Where it meets another
    one of the same run, both count as one.

    Args:
        run: is told. A request that it does not allow raises RunStoppedError and is not sent.
        listens: whether the messages of a request tell what the agent was asked first; False where
            somebody else tells it.
    """

    raise_error = True
    run_inline = True

    def __init__(self, run: BreakerRun, *, listens: bool = True) -> None:
        self._run, self._listens = run, listens
        self._open: set[UUID] = set()
        self._lock = Lock()

    def __eq__(self, other: object) -> bool:
        # The framework leaves out a callback that is there already.
        return isinstance(other, ModelCounter) and other._run is self._run

    def __hash__(self) -> int:
        return hash((ModelCounter, id(self._run)))

    def on_chat_model_start(
        self, _model: Any, messages: list[list[Any]], *, run_id: UUID, **_named: Any
    ) -> None:
        """Open a turn."""
        if self._listens and messages:
            hears(first_of(messages[0]))
        self._begin(run_id)

    def on_llm_start(self, *_given: Any, run_id: UUID, **_named: Any) -> None:
        """The same for a model that only completes text."""
        self._begin(run_id)

    def on_llm_end(self, response: Any, *, run_id: UUID, **_named: Any) -> None:
        """Pay for the request."""
        if self._ended(run_id):
            pay(self._run, _message_of(response))

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_named: Any) -> None:
        """Give back what was held, if the request cannot have cost anything; else pay for it."""
        if self._ended(run_id):
            unanswered(self._run, error)

    def left(self) -> None:
        """The requests that are under way were left alone; nobody knows what they have cost."""
        while self._open:
            self._open.pop()
            self._run.after_model(Usage())

    def _begin(self, run_id: UUID) -> None:
        verdict = self._run.before_model()
        if not verdict.allowed:
            raise RunStoppedError(verdict.message)
        with self._lock:
            self._open.add(run_id)

    def _ended(self, run_id: UUID) -> bool:
        with self._lock:
            begun = run_id in self._open
            self._open.discard(run_id)
        return begun


def guarded_model(model: ChatModel, run: BreakerRun) -> ChatModel:
    """A copy of a chat model whose every request `run` counts, wherever it is used: in a graph that
    is built by hand, in a chain, in a middleware.

    Args:
        model: a chat model of LangChain's; it stays as it is.
        run: is told. A request that it does not allow raises RunStoppedError and is not sent.

    Raises:
        TypeError: it is no chat model.
    """
    if not isinstance(model, BaseChatModel):
        raise TypeError(
            f"a {type(model).__name__} is no chat model. Give the model itself, before its tools "
            'are bound, or count all models of a graph: {"callbacks": [ModelCounter(run)]}'
        )
    copy: ChatModel = counted(model, ModelCounter(run))
    return copy


class _Late:
    """A model that is made only when it is asked, such as one of `init_chat_model` whose name comes
    with the request: what is bound to it tells of its requests.
    """

    def __init__(self, model: Any, counter: ModelCounter) -> None:
        self._model, self._callbacks = model, [counter]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def bind_tools(self, *given: Any, **named: Any) -> Any:
        """The model with tools."""
        return self._model.bind_tools(*given, **named).with_config(callbacks=self._callbacks)

    def bind(self, **named: Any) -> Any:
        """The model with settings."""
        return self._model.bind(**named).with_config(callbacks=self._callbacks)


def counted(model: Any, counter: ModelCounter) -> Any:
    """An agent's model that tells `counter` of its requests."""
    if not isinstance(model, BaseChatModel):
        return _Late(model, counter)
    own = model.callbacks
    if isinstance(own, BaseCallbackManager):
        callbacks: Any = own.copy()
        callbacks.add_handler(counter)
    else:
        callbacks = [*(own or []), counter]
    return model.model_copy(update={"callbacks": callbacks})


def _message_of(response: Any) -> Any:
    """The message that a request was answered by; None where there is only text."""
    first = next((each for row in response.generations for each in row), None)
    return getattr(first, "message", None)
