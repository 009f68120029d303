"""The OpenAI Agents SDK, over both protocols of OpenAI's and in its own process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import openai
import pytest
from agents import (
    Agent,
    ModelRetrySettings,
    ModelSettings,
    ModelTracing,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    function_tool,
    handoff,
    retry_policies,
)
from openai import AsyncOpenAI
from pydantic import BaseModel

from pytest_tripwire import Task
from pytest_tripwire.models import Calls, Exchange, Propose, Say, Seen
from pytest_tripwire.models.faults import CutStream, Drop, MalformedArguments, NoUsage, Status
from pytest_tripwire.models.inprocess import native

NEEDS = ("openai-agents",)

AT_ONCE = {"retry-after-ms": "1"}
OVER_HTTP = {"chat": OpenAIChatCompletionsModel, "responses": OpenAIResponsesModel}

WAYS = [
    (kind, way) for kind in ("chat", "responses", "in-process") for way in ("run", "run_streamed")
]


class Verdict(BaseModel):
    """What a team may want in place of words."""

    resolved: bool
    note: str


def agent_of(kind: str, way: str, *, used: list[int], output: Any = None, **settings: Any) -> Any:
    """An agent; `used` gets the tokens that the SDK has counted."""
    given = ModelSettings(include_usage=True, **settings)

    async def agent(task: Task) -> Any:
        url = task.model.base_url("openai")
        async with AsyncOpenAI(base_url=url, api_key="any") as client:
            if kind == "in-process":
                model = task.model.openai_agents()
            else:
                model = OVER_HTTP[kind](model=task.model.name, openai_client=client)
            tools = [
                function_tool(tool, name_override=name, strict_mode=False)
                for name, tool in task.tools.items()
            ]
            support = Agent[None](
                name="support",
                instructions="Help.",
                tools=list(tools),
                model=model,
                model_settings=given,
                output_type=output,
            )
            run = {"max_turns": 60, "run_config": RunConfig(tracing_disabled=True)}
            if way == "run_streamed":
                result = Runner.run_streamed(support, task.prompt, **run)
                async for _ in result.stream_events():
                    pass
            else:
                result = await Runner.run(support, task.prompt, **run)
            used.append(result.context_wrapper.usage.total_tokens)
            return result.final_output

    return agent


@pytest.mark.parametrize("case", ["empty-search", "lost-write"])
@pytest.mark.parametrize(("kind", "way"), WAYS)
def test_a_stubborn_model_is_contained(play: Any, case: str, kind: str, way: str) -> None:
    play(agent_of(kind, way, used=[]), case)


@pytest.mark.parametrize(("kind", "way"), WAYS)
def test_a_compliant_model_comes_to_its_end_and_its_tokens_are_counted(
    play: Any, kind: str, way: str
) -> None:
    used: list[int] = []

    played = play(agent_of(kind, way, used=used), "empty-search", persona="compliant")

    assert used == [played.tokens]


@pytest.mark.parametrize(("kind", "way"), WAYS)
def test_whatever_goes_wrong_has_an_end_and_a_name(
    ends: Any, fault: Any, kind: str, way: str
) -> None:
    ends(agent_of(kind, way, used=[]), fault)


@pytest.mark.parametrize("kind", ["chat", "responses"])
def test_hidden_retries_cause_no_wrong_turn(play: Any, kind: str) -> None:
    busy = Status(turn=0, status=429, headers=AT_ONCE)
    broken = Status(turn=1, status=500, attempts=(1, 2), headers=AT_ONCE)

    struck = play(agent_of(kind, "run", used=[]), "empty-search", faults=[busy, broken])

    assert struck.requests == len(struck.moves) + 3


@pytest.mark.parametrize("way", ["run", "run_streamed"])
def test_retries_of_the_runner_cause_no_wrong_turn(play: Any, way: str) -> None:
    again = ModelRetrySettings(
        max_retries=3,
        backoff={"initial_delay": 0, "max_delay": 0},
        policy=retry_policies.any(
            retry_policies.http_status([429, 500]), retry_policies.network_error()
        ),
    )
    faults = [Status(turn=0, status=429), Status(turn=1, attempts=(1, 2)), Drop(turn=2)]
    agent = agent_of("in-process", way, used=[], retry=again)

    struck = play(agent, "empty-search", faults=faults)

    assert struck.requests == len(struck.moves) + 4


@pytest.mark.parametrize(("kind", "way"), WAYS)
def test_a_structured_answer_is_one(play: Any, kind: str, way: str) -> None:
    agent = agent_of(kind, way, used=[], output=Verdict)

    played = play(agent, "empty-search", persona="compliant")

    assert isinstance(played.run.answer, Verdict)


# -- the model in the agent's process


def both(seen: Seen) -> Calls | Say:
    """Search twice in one message, then speak."""
    if seen.turn:
        return Say(text="That is all that there is to say.")
    return Calls(proposals=(Propose(role="search"), Propose(role="search")))


@function_tool
def search_orders() -> str:
    """Search."""
    return "none"


@function_tool
def note(text: str) -> str:
    """A tool that no script knows."""
    return text


def request(words: str = "Where is it?", **settings: Any) -> dict[str, Any]:
    return {
        "system_instructions": "Help.",
        "input": words,
        "model_settings": ModelSettings(**settings),
        "tools": [search_orders, note],
        "output_schema": None,
        "handoffs": [],
        "tracing": ModelTracing.DISABLED,
        "previous_response_id": None,
        "conversation_id": None,
        "prompt": None,
    }


Exchanges = Callable[..., Exchange]


def answered(exchange: Exchange, **settings: Any) -> Any:
    model = native("openai_agents", exchange)
    return asyncio.run(model.get_response(**request(**settings)))


async def streamed(exchange: Exchange, into: list[Any]) -> None:
    events = native("openai_agents", exchange).stream_response(**request())
    async for event in events:
        into.append(event)  # noqa: PERF401 - what came before an error counts


def names(response: Any) -> list[str]:
    return [each.name for each in response.output if each.type == "function_call"]


def test_parallel_calls_come_together_with_ids_of_their_own(exchange: Exchanges) -> None:
    calls = answered(exchange(both)).output

    assert [each.name for each in calls] == ["search_orders", "search_orders"]
    assert len({each.call_id for each in calls}) == 2


def test_one_call_at_a_time_is_one_call(exchange: Exchanges) -> None:
    assert names(answered(exchange(both), parallel_tool_calls=False)) == ["search_orders"]


def test_no_tool_is_called_where_none_may_be(exchange: Exchanges) -> None:
    assert names(answered(exchange(both), tool_choice="none")) == []


def test_the_tool_that_is_wanted_is_called(exchange: Exchanges) -> None:
    def speak(_: Seen) -> Say:
        return Say(text="Something.")

    (call,) = answered(exchange(speak), tool_choice="note").output

    assert (call.name, call.arguments) == ("note", '{"text":"Something."}')


def test_a_hand_off_is_a_tool_as_any_other(exchange: Exchanges) -> None:
    def search(_: Seen) -> Calls:
        return Calls(proposals=(Propose(role="search"),))

    other = handoff(Agent(name="other"), tool_name_override="search_orders")
    asked = {**request(), "tools": [], "handoffs": [other]}

    response = asyncio.run(native("openai_agents", exchange(search)).get_response(**asked))

    assert names(response) == ["search_orders"]


def test_a_usage_that_nobody_reports_is_not_made_up(exchange: Exchanges) -> None:
    assert answered(exchange(both, NoUsage())).usage.total_tokens == 0


def test_a_conversation_goes_on_from_a_response(server: Any) -> None:
    found = server(both)
    model = native("openai_agents", found.exchange)

    async def twice() -> Any:
        first = await model.get_response(**request())
        results = [
            {"type": "function_call_output", "call_id": each.call_id, "output": "none"}
            for each in first.output
        ]
        later = request()
        return await model.get_response(
            **{**later, "input": results, "previous_response_id": first.response_id}
        )

    (message,) = asyncio.run(twice()).output

    assert message.content[0].text == "That is all that there is to say."
    assert found.noted[-1].conversation.unasked == ()


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, openai.BadRequestError),
        (401, openai.AuthenticationError),
        (403, openai.PermissionDeniedError),
        (404, openai.NotFoundError),
        (418, openai.APIStatusError),
        (429, openai.RateLimitError),
        (503, openai.InternalServerError),
    ],
)
def test_an_error_response_is_the_error_of_the_sdk(
    exchange: Exchanges, status: int, kind: type[openai.APIStatusError]
) -> None:
    fault = Status(status=status, message="no more", headers={"retry-after": "7"}, code="why")

    with pytest.raises(kind, match="no more") as caught:
        answered(exchange(both, fault))

    assert type(caught.value) is kind
    assert caught.value.status_code == status
    assert caught.value.code == "why"
    assert caught.value.response.headers["retry-after"] == "7"


@pytest.mark.parametrize("fault", [Drop(), CutStream()], ids=["dropped", "cut"])
def test_a_lost_response_is_a_lost_connection(exchange: Exchanges, fault: Any) -> None:
    with pytest.raises(openai.APIConnectionError, match="lost"):
        answered(exchange(both, fault))


def test_a_stream_that_is_cut_has_begun(exchange: Exchanges) -> None:
    events: list[Any] = []

    with pytest.raises(openai.APIConnectionError, match="lost"):
        asyncio.run(streamed(exchange(both, CutStream(after=2)), events))

    assert [each.type for each in events] == ["response.created", "response.in_progress"]


def test_arguments_that_are_no_json_arrive_as_they_are(exchange: Exchanges) -> None:
    for each in answered(exchange(both, MalformedArguments())).output:
        with pytest.raises(json.JSONDecodeError):
            json.loads(each.arguments)


def test_instructions_tell_conversations_apart(server: Any) -> None:
    found = server(both)
    model = native("openai_agents", found.exchange)

    for words in ("Help.", "Help.", "Hinder."):
        asyncio.run(model.get_response(**{**request(), "system_instructions": words}))

    one, same, other = (each.conversation.thread for each in found.noted)
    assert one == same != other
