"""What requests of LangChain's models have cost that ended in an error."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from langchain.messages import AIMessage, AIMessageChunk
from langchain_core.exceptions import ModelRefusalError
from langchain_core.outputs import ChatGenerationChunk
from pydantic import Field

from pytest_tripwire.adapters.langchain import RunStoppedError, guarded_model
from pytest_tripwire.breaker import Breaker, RunBudget
from pytest_tripwire.timeline import Reason

from .langchain_kit import (
    ASKED,
    ROADS,
    WAYS,
    Model,
    Shop,
    agent_of,
    asked,
    driven,
    untraced,  # noqa: F401 - a fixture
)

NEEDS = ("langchain", "langgraph")

USAGE = {"input_tokens": 1000, "output_tokens": 100, "total_tokens": 1100}


class Failing(Model):
    """A model whose requests end in an error."""

    error: Any = Field(default=None)

    def _generate(self, *_: Any, **__: Any) -> Any:
        raise self.error

    def _stream(self, *_: Any, **__: Any) -> Any:
        raise self.error


class Cut(Model):
    """A model whose stream breaks off half-way."""

    def _stream(self, *_: Any, **__: Any) -> Iterator[Any]:
        yield ChatGenerationChunk(message=AIMessageChunk("half of"))
        raise ConnectionResetError("reset")


def failing(error: BaseException) -> Failing:
    return Failing(messages=iter([]), error=error)


def refused() -> Any:
    error = RuntimeError("overloaded")
    vars(error).update(status_code=529)
    return error


def begun() -> Any:
    budget = RunBudget(max_model_cost_usd=Decimal(1))
    return Breaker(budget=budget, prices={"m": (Decimal(100), Decimal(100))}).run()


@pytest.mark.parametrize("error", [TimeoutError("late"), ValueError("no JSON")], ids=repr)
@pytest.mark.parametrize("way", WAYS)
def test_a_request_that_may_have_been_billed_ends_a_run_with_a_limit(
    way: str, error: Exception
) -> None:
    run = begun()

    with pytest.raises(type(error)):
        driven(agent_of(run, Shop(), model=failing(error)), ASKED, way)

    assert run.last_reason == Reason.COST_UNKNOWN


@pytest.mark.parametrize("road", ROADS)
def test_no_request_is_sent_after_one_whose_cost_nobody_knows(road: str) -> None:
    run = begun()

    with pytest.raises(TimeoutError):
        asked(guarded_model(failing(TimeoutError("late")), run), road)
    with pytest.raises(RunStoppedError):
        asked(guarded_model(failing(TimeoutError("late")), run), road)


@pytest.mark.parametrize("road", ["stream", "astream"])
def test_a_stream_that_broke_off_may_have_been_billed(road: str) -> None:
    run = begun()

    with pytest.raises(ConnectionResetError):
        asked(guarded_model(Cut(messages=iter([])), run), road)

    assert run.last_reason == Reason.COST_UNKNOWN


@pytest.mark.parametrize("error", [refused(), ConnectionRefusedError("down")], ids=repr)
@pytest.mark.parametrize("road", ROADS)
def test_one_that_was_refused_or_never_sent_has_cost_nothing(road: str, error: Exception) -> None:
    run = begun()

    for _ in range(3):
        with pytest.raises(type(error)):
            asked(guarded_model(failing(error), run), road)

    (line,) = run.budgets()
    assert (run.mode, line.spent, line.remaining) == ("open", 0, 1)


def cut_at_its_length() -> Any:
    """As OpenAI's client raises it of an answer in full that is no JSON."""
    details = SimpleNamespace(cached_tokens=None)
    usage = SimpleNamespace(
        prompt_tokens=1000, completion_tokens=100, prompt_tokens_details=details
    )
    error = RuntimeError("length")
    vars(error).update(completion=SimpleNamespace(usage=usage, model="m"))
    return error


def declined() -> Any:
    said = AIMessage("I will not.", usage_metadata=USAGE, response_metadata={"model_name": "m"})
    return ModelRefusalError(raw_message=said)


@pytest.mark.parametrize("error", [cut_at_its_length(), declined()], ids=["length", "refusal"])
@pytest.mark.parametrize("way", WAYS)
def test_what_an_error_says_that_was_used_is_paid_for(way: str, error: Exception) -> None:
    run = begun()

    with pytest.raises(type(error)):
        driven(agent_of(run, Shop(), model=failing(error)), ASKED, way)

    (line,) = run.budgets()
    assert run.mode == "open"
    assert (line.spent, line.remaining) == pytest.approx((0.11, 0.89))
