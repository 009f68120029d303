"""Model requests of agents of the OpenAI Agents SDK: what they cost, by the model that was really
asked, and what those give back that failed.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import httpx2
import openai
import pytest
from agents import (
    Agent,
    ModelProvider,
    ModelRetrySettings,
    ModelSettings,
    OpenAIChatCompletionsModel,
    RunConfig,
    Usage,
    function_tool,
    retry_policies,
)
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call

from pytest_tripwire.adapters.openai_agents import guarded, metered
from pytest_tripwire.breaker import Breaker, Interrupted, RunBudget, tool_spec

from .openai_agents_kit import WAYS, go

NEEDS = ("openai-agents",)

USED = Usage(requests=1, input_tokens=1_000_000, output_tokens=0, total_tokens=1_000_000)
#: US dollars for a million tokens of prompt and of completion.
PRICES = {"cheap": (1, 1), "dear": (100, 100)}


def said(words: str) -> list[Any]:
    return [assistant_message(words)]


BYE = said("Goodbye.")


@function_tool
@tool_spec(effect="read")
def look(order: str) -> str:
    """Look at an order."""
    return f"{order}: open"


LOOK = [function_call("look", {"order": "A-1"}, call_id="call-1")]


class Named(ScriptedModel):
    """A model with a name, as those of a provider have one."""

    def __init__(self, model: str, steps: Sequence[Any]) -> None:
        super().__init__(steps, default_usage=USED)
        self.model = model


class Shelf(ModelProvider):
    """Gives models by their names."""

    def __init__(self, *models: Named) -> None:
        self._models = {each.model: each for each in models}
        self.closed = False

    def get_model(self, model_name: str | None) -> Named:
        return self._models[model_name or "cheap"]

    async def aclose(self) -> None:
        self.closed = True


def down() -> openai.InternalServerError:
    request = httpx2.Request("POST", "http://127.0.0.1/v1/responses")
    return openai.InternalServerError(
        "down", response=httpx2.Response(503, request=request), body=None
    )


def unsent() -> openai.APIConnectionError:
    error = openai.APIConnectionError(request=httpx2.Request("POST", "http://127.0.0.1"))
    error.__cause__ = httpx2.ConnectError("nobody listens")
    return error


def lost() -> openai.APITimeoutError:
    return openai.APITimeoutError(httpx2.Request("POST", "http://127.0.0.1/v1/responses"))


def config(**options: Any) -> RunConfig:
    return RunConfig(tracing_disabled=True, **options)


def clerk(model: Any, **options: Any) -> Any:
    return Agent[None](name="clerk", tools=[look], model=model, **options)


def spending(dollars: int = 1000) -> Any:
    budget = RunBudget(max_model_cost_usd=Decimal(dollars))
    return Breaker(budget=budget, prices=PRICES).run()


def spent(run: Any) -> Any:
    """US dollars that were spent, or are held for requests that nothing was heard of."""
    (line,) = run.budgets()
    return line.spent


# -- which model was asked


@WAYS
@pytest.mark.parametrize("own", ["instance", "name", "none"])
@pytest.mark.parametrize("other", ["instance", "name"])
def test_the_model_of_the_run_outweighs_the_agents_own_in_the_price(
    own: str, other: str, way: str
) -> None:
    cheap, dear = Named("cheap", [BYE]), Named("dear", [BYE])
    agent = clerk({"instance": cheap, "name": "cheap", "none": None}[own])
    asked = {"instance": dear, "name": "dear"}[other]

    with spending() as run:
        settings = config(model=asked, model_provider=Shelf(cheap, dear))
        asyncio.run(go(guarded(agent, run), run_config=settings, way=way))

    assert spent(run) == 100
    assert cheap.calls == ()


@pytest.mark.parametrize("own", ["instance", "name", "none"])
def test_the_agents_own_model_tells_the_price_where_no_other_is_asked(own: str) -> None:
    cheap = Named("cheap", [BYE])
    agent = clerk({"instance": cheap, "name": "cheap", "none": None}[own])

    with spending() as run:
        asyncio.run(go(guarded(agent, run), run_config=config(model_provider=Shelf(cheap))))

    assert spent(run) == 1


def test_each_of_two_agents_side_by_side_is_paid_by_its_own_model() -> None:
    def inner(model: str) -> Any:
        agent = Agent[None](name=model, tools=[look], model=Named(model, [LOOK, said(model)]))
        return agent.as_tool(f"ask_{model}", "Ask.")

    both = [
        function_call(f"ask_{model}", {"input": "Look."}, call_id=f"call-{model}")
        for model in PRICES
    ]
    front = Agent[None](
        name="front", tools=[inner(each) for each in PRICES], model=Named("cheap", [both, BYE])
    )

    with spending() as run:
        asyncio.run(go(guarded(front, run), run_config=config()))

    assert spent(run) == 2 + 2 + 200


# -- requests that failed


def failing(error: Exception) -> Named:
    """A model that answers once and then fails, as often as it is asked."""
    return Named("cheap", [LOOK, error])


@WAYS
def test_a_request_that_the_provider_refuses_gives_back_what_was_held(way: str) -> None:
    run = spending()

    with pytest.raises(openai.InternalServerError):
        asyncio.run(go(guarded(clerk(failing(down())), run), run_config=config(), way=way))

    assert spent(run) == 1
    assert run.close() is None


@WAYS
def test_a_request_that_was_never_sent_gives_back_what_was_held(way: str) -> None:
    run = spending()

    with pytest.raises(openai.APIConnectionError):
        asyncio.run(go(guarded(clerk(failing(unsent())), run), run_config=config(), way=way))

    assert spent(run) == 1
    assert run.close() is None


async def cut_off(call: Any) -> Any:
    """Somebody ends the task that waits for the answer."""
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(0)
    return call


@WAYS
@pytest.mark.parametrize(
    "ends",
    [lost(), RuntimeError("no JSON"), ModelStep.respond(cut_off)],
    ids=["lost", "odd", "cut"],
)
def test_a_request_that_may_have_been_answered_has_cost_nobody_knows_what(
    ends: Any, way: str
) -> None:
    run = spending()

    # A stream that is cut off ends without a word.
    with contextlib.suppress(openai.APITimeoutError, RuntimeError, asyncio.CancelledError):
        asyncio.run(
            go(guarded(clerk(Named("cheap", [LOOK, ends])), run), run_config=config(), way=way)
        )

    record = run.close()
    assert record is not None
    assert record.reason == "cost_unknown"


@WAYS
@pytest.mark.parametrize("given", ["model", "name"])
def test_a_model_of_the_runs_own_gives_back_too_where_it_is_metered(given: str, way: str) -> None:
    model = failing(down())
    shelf = Shelf(model)
    settings = config(model=model if given == "model" else "cheap", model_provider=shelf)
    run = spending()

    with pytest.raises(openai.InternalServerError):
        asyncio.run(go(guarded(clerk("dear"), run), run_config=metered(settings), way=way))

    assert spent(run) == 1
    assert settings.model_provider is shelf
    asyncio.run(metered(settings).model_provider.aclose())
    assert shelf.closed


@WAYS
def test_a_request_that_the_sdk_sends_again_is_one_turn_and_paid_once(way: str) -> None:
    again = ModelRetrySettings(
        max_retries=1,
        backoff={"initial_delay": 0, "max_delay": 0},
        policy=retry_policies.http_status([503]),
    )
    model = Named("cheap", [LOOK, down(), BYE])

    with spending() as run:
        agent = clerk(model, model_settings=ModelSettings(retry=again))
        asyncio.run(go(guarded(agent, run), run_config=config(), way=way))

    assert spent(run) == 2
    assert run.stats().turns == 2
    assert len(model.calls) == 3


def test_a_team_that_begins_again_after_failures_is_not_stopped_for_them() -> None:
    """Each of them held what a request costs, and a budget for three is not used up by them."""
    model = Named("cheap", [LOOK, *[down()] * 5, BYE])

    async def stubborn(agent: Any) -> Any:
        for _ in range(5):
            with pytest.raises(openai.InternalServerError):
                await go(agent, run_config=config())
        return await go(agent, run_config=config())

    with spending(3) as run:
        result = asyncio.run(stubborn(guarded(clerk(model), run)))

    assert result.final_output == "Goodbye."


# -- the wrapped model is the team's own to all who ask


def test_a_guarded_agents_model_is_still_of_its_kind() -> None:
    client = openai.AsyncOpenAI(api_key="none", base_url="http://127.0.0.1:9")
    model = OpenAIChatCompletionsModel("cheap", client)

    with Breaker().run() as run:
        clone = guarded(clerk(model), run)
        uncounted = guarded(clerk(model), run, count_model=False)

    assert isinstance(clone.model, OpenAIChatCompletionsModel)
    assert clone.model.model == "cheap"
    assert clone.model._client is client  # noqa: SLF001 - any attribute of it
    assert uncounted.model is model


@pytest.mark.parametrize("other", [Named("odd", [LOOK, BYE]), ScriptedModel([LOOK, BYE])])
def test_where_no_price_is_known_of_the_model_that_was_asked_none_is_made_up(other: Any) -> None:
    other.set_default_usage(USED)

    with pytest.raises(Interrupted) as caught, spending() as run:
        asyncio.run(go(guarded(clerk("cheap"), run), run_config=config(model=other)))

    assert caught.value.reason == "cost_unknown"
