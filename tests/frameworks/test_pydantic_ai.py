"""Pydantic AI, over all three protocols and in its own process."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic import BaseModel
from pydantic_ai import Agent, ModelRetry, NativeOutput, PromptedOutput, ToolOutput
from pydantic_ai import messages as parts
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.exceptions import ModelConnectionError, ModelHTTPError
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ToolOrOutput
from pydantic_ai.tools import ToolDefinition

from pytest_tripwire import Harness, Task
from pytest_tripwire.models import Calls, Exchange, Propose, Say, Seen
from pytest_tripwire.models.faults import CutStream, Drop, MalformedArguments, NoUsage, Status
from pytest_tripwire.models.inprocess import native
from pytest_tripwire.timeline import ModelRequest

NEEDS = ("pydantic-ai-slim", "openai", "anthropic")

AT_ONCE = {"retry-after-ms": "1"}
KINDS = ("chat", "responses", "anthropic", "in-process")


class Verdict(BaseModel):
    """What a team may want in place of words."""

    resolved: bool
    note: str


@asynccontextmanager
async def model_of(kind: str, task: Task) -> Any:
    if kind == "in-process":
        yield task.model.pydantic_ai()
    elif kind == "anthropic":
        url = task.model.base_url("anthropic")
        async with AsyncAnthropic(base_url=url, api_key="any") as client:
            provider = AnthropicProvider(anthropic_client=client)
            yield AnthropicModel(task.model.name, provider=provider)
    else:
        shape = OpenAIChatModel if kind == "chat" else OpenAIResponsesModel
        async with AsyncOpenAI(base_url=task.model.base_url("openai"), api_key="any") as client:
            yield shape(task.model.name, provider=OpenAIProvider(openai_client=client))


def telling(function: Callable[..., Any]) -> Callable[..., Any]:
    """What a tool raises would end the run; the model is told of it, as it might know better."""

    @functools.wraps(function)
    def told(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TimeoutError as error:
            return f"TimeoutError: {error}"

    return told


def agent_of(kind: str, way: str, *, used: list[int], output: Any = str) -> Any:
    """An agent; `used` gets the tokens that the framework has counted."""

    async def agent(task: Task) -> Any:
        tools = [telling(each) for each in task.tools.values()]
        async with model_of(kind, task) as model:
            support = Agent(model, tools=tools, instructions="Help.", output_type=output)
            result = await support.run(
                task.prompt, event_stream_handler=listen if way == "streamed" else None
            )
        used.append(result.usage.total_tokens)
        return result.output

    return agent


async def listen(_: Any, events: Any) -> None:
    async for _event in events:
        pass


WAYS = [(kind, way) for kind in KINDS for way in ("run", "streamed")]


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


def test_a_sync_agent_is_contained(play: Any) -> None:
    def agent(task: Task) -> str:
        tools = list(task.tools.values())
        with asyncio.Runner() as runner:
            # Else the framework makes a loop of its own, and leaves it open.
            asyncio.set_event_loop(runner.get_loop())
            return Agent(task.model.pydantic_ai(), tools=tools).run_sync(task.prompt).output

    play(agent, "empty-search")


def test_run_stream_takes_the_words_beside_a_call_for_the_answer() -> None:
    # So the loop is over before it has begun, and the verdict is that nothing was tried.
    async def agent(task: Task) -> str:
        support = Agent(task.model.pydantic_ai(), tools=list(task.tools.values()))
        async with support.run_stream(task.prompt) as result:
            return await result.get_output()

    run = Harness("empty-search", agent).run()

    assert run.cell.state == "inconclusive"
    assert [each.turn for each in run.events if isinstance(each, ModelRequest)] == [0]


@pytest.mark.filterwarnings("ignore:Failed to extract usage")
@pytest.mark.parametrize(("kind", "way"), WAYS)
def test_whatever_goes_wrong_has_an_end_and_a_name(
    ends: Any, fault: Any, kind: str, way: str
) -> None:
    ends(agent_of(kind, way, used=[]), fault)


@pytest.mark.parametrize("way", ["run", "streamed"])
@pytest.mark.parametrize("kind", ["chat", "responses", "anthropic"])
def test_hidden_retries_cause_no_wrong_turn(play: Any, kind: str, way: str) -> None:
    busy = Status(turn=0, status=429, headers=AT_ONCE)
    broken = Status(turn=1, status=500, attempts=(1, 2), headers=AT_ONCE)

    struck = play(agent_of(kind, way, used=[]), "empty-search", faults=[busy, broken])

    assert struck.requests == len(struck.moves) + 3


@pytest.mark.parametrize("way", ["run", "streamed"])
@pytest.mark.parametrize("form", [ToolOutput, NativeOutput, PromptedOutput])
def test_a_structured_answer_is_one(play: Any, form: Any, way: str) -> None:
    agent = agent_of("in-process", way, used=[], output=form(Verdict))

    played = play(agent, "empty-search", persona="compliant")

    assert isinstance(played.run.answer, Verdict)


# -- the model in the agent's process


def both(seen: Seen) -> Calls | Say:
    """Search twice in one message, then speak."""
    if seen.turn:
        return Say(text="That is all that there is to say.")
    return Calls(proposals=(Propose(role="search"), Propose(role="search")))


NOTE = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
PARAMETERS = ModelRequestParameters(
    function_tools=[ToolDefinition(name="search_orders")],
    output_mode="tool",
    output_tools=[ToolDefinition(name="note", parameters_json_schema=NOTE)],
)
Exchanges = Callable[..., Exchange]
ASKED = [parts.ModelRequest.user_text_prompt("Where is it?", instructions="Help.")]


def answered(exchange: Exchange, messages: Any = ASKED, **settings: Any) -> parts.ModelResponse:
    model = native("pydantic_ai", exchange)
    return asyncio.run(
        model_request(
            model, messages, model_settings=settings or None, model_request_parameters=PARAMETERS
        )
    )


async def streamed(exchange: Exchange, into: list[Any]) -> parts.ModelResponse:
    model = native("pydantic_ai", exchange)
    request = model_request_stream(model, ASKED, model_request_parameters=PARAMETERS)
    async with request as response:
        async for event in response:
            into.append(event)  # noqa: PERF401 - what came before an error counts
        return response.get()


def names(response: parts.ModelResponse) -> list[str]:
    return [each.tool_name for each in response.tool_calls]


def test_parallel_calls_come_together_and_their_results_are_the_next_turn(
    exchange: Exchanges,
) -> None:
    found = exchange(both)

    first = answered(found)
    results = [
        parts.ToolReturnPart(
            tool_name=each.tool_name, content="none", tool_call_id=each.tool_call_id
        )
        for each in first.tool_calls
    ]
    last = answered(found, [*ASKED, first, parts.ModelRequest(parts=results)])

    assert names(first) == ["search_orders", "search_orders"]
    assert len({each.tool_call_id for each in first.tool_calls}) == 2
    assert last.text == "That is all that there is to say."


def test_a_stream_adds_up_to_the_whole(exchange: Exchanges) -> None:
    events: list[Any] = []

    whole = answered(exchange(both))
    total = asyncio.run(streamed(exchange(both), events))

    assert len(events) > 3
    assert total.tool_calls == whole.tool_calls
    assert total.usage == whole.usage


@pytest.mark.parametrize(
    ("settings", "called"),
    [
        ({"parallel_tool_calls": False}, ["search_orders"]),
        ({"tool_choice": "auto"}, ["search_orders"] * 2),
        ({"tool_choice": "none"}, []),
        ({"tool_choice": []}, []),
        ({"tool_choice": "required"}, ["search_orders"] * 2),
        ({"tool_choice": ["note"]}, ["note"]),
        ({"tool_choice": ToolOrOutput(function_tools=["search_orders"])}, ["search_orders"] * 2),
    ],
)
def test_what_the_request_lets_the_model_call_is_honoured(
    exchange: Exchanges, settings: dict[str, Any], called: list[str]
) -> None:
    assert names(answered(exchange(both), **settings)) == called


def test_a_usage_that_nobody_reports_is_not_made_up(exchange: Exchanges) -> None:
    whole = answered(exchange(both, NoUsage()))
    total = asyncio.run(streamed(exchange(both, NoUsage()), []))

    for response in (whole, total):
        assert response.usage.total_tokens == 0
        assert response.usage.unmeasured_requests == 1


@pytest.mark.parametrize("status", [400, 401, 429, 503])
def test_an_error_response_is_the_error_of_the_framework(exchange: Exchanges, status: int) -> None:
    fault = Status(status=status, message="no more", headers={"retry-after": "7"})

    with pytest.raises(ModelHTTPError, match="no more") as caught:
        answered(exchange(both, fault))

    assert caught.value.status_code == status
    assert caught.value.headers == {"retry-after": "7"}


@pytest.mark.parametrize("fault", [Drop(), CutStream()], ids=["dropped", "cut"])
def test_a_lost_response_is_a_lost_connection(exchange: Exchanges, fault: Any) -> None:
    with pytest.raises(ModelConnectionError, match="lost"):
        answered(exchange(both, fault))


def test_a_stream_that_is_cut_has_begun(exchange: Exchanges) -> None:
    events: list[Any] = []

    with pytest.raises(ModelConnectionError, match="lost"):
        asyncio.run(streamed(exchange(both, CutStream(after=2)), events))

    assert [each.event_kind for each in events] == ["part_start"]


def test_arguments_that_are_no_json_arrive_as_they_are(exchange: Exchanges) -> None:
    for each in answered(exchange(both, MalformedArguments())).tool_calls:
        with pytest.raises(json.JSONDecodeError):
            json.loads(each.args)


def test_all_words_of_a_prompt_are_heard(server: Any) -> None:
    found = server(both)

    for words in (["Where is it? ", parts.TextContent(content="Hurry.")], "Where is it? Hurry."):
        asked = parts.ModelRequest(parts=[parts.UserPromptPart(content=words)])
        answered(found.exchange, [asked])

    one, two = (each.conversation for each in found.noted)
    assert one.thread == two.thread


def test_an_answer_that_the_framework_wants_again_is_the_next_turn(server: Any) -> None:
    def search_orders() -> str:
        return "none"

    found = server(lambda _: Say(text="It is on its way."))
    support = Agent(native("pydantic_ai", found.exchange), tools=[search_orders])
    heard: list[str] = []

    @support.output_validator
    def once_more(words: str) -> str:
        heard.append(words)
        if len(heard) < 2:
            raise ModelRetry("Say it again.")
        return words

    asyncio.run(support.run("Where is it?"))

    assert [each.conversation.turn for each in found.noted] == [0, 1]


def test_instructions_tell_conversations_apart(server: Any) -> None:
    found = server(both)

    for words in ("Help.", "Help.", "Hinder."):
        request = parts.ModelRequest.user_text_prompt("Where is it?", instructions=words)
        answered(found.exchange, [request])

    one, same, other = (each.conversation.thread for each in found.noted)
    assert one == same != other
