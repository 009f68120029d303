"""LangChain's agents, over all three protocols and in their own process."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain.messages import HumanMessage, SystemMessage, ToolMessage
from langchain.tools import tool
from langchain_anthropic import ChatAnthropic
from langchain_core import exceptions
from langchain_openai import ChatOpenAI
from langsmith import tracing_context
from pydantic import BaseModel

from pytest_tripwire import Task
from pytest_tripwire.models import Calls, Exchange, Propose, Say, Seen
from pytest_tripwire.models.faults import CutStream, Drop, MalformedArguments, NoUsage, Status
from pytest_tripwire.models.inprocess import native

NEEDS = ("langchain", "langgraph", "langchain-openai", "langchain-anthropic")

AT_ONCE = {"retry-after-ms": "1"}
KINDS = ("chat", "responses", "anthropic", "in-process")
WAYS = [(kind, way) for kind in KINDS for way in ("invoke", "ainvoke", "stream", "astream")]
STEPS = {"recursion_limit": 150}


class Verdict(BaseModel):
    """What a team may want in place of words."""

    resolved: bool
    note: str


@pytest.fixture(autouse=True)
def _untraced() -> Iterator[None]:
    # Whatever the environment says, a scripted run is nobody's trace.
    with tracing_context(enabled=False):
        yield


def model_of(kind: str, task: Task) -> Any:
    if kind == "in-process":
        return task.model.langchain()
    if kind == "anthropic":
        url = task.model.base_url("anthropic")
        return ChatAnthropic(model=task.model.name, base_url=url, api_key="any")
    return ChatOpenAI(
        model=task.model.name,
        base_url=task.model.base_url("openai"),
        api_key="any",
        use_responses_api=kind == "responses",
        # Without it a stream from a base URL of one's own reports no usage.
        stream_usage=True,
    )


def telling(function: Callable[..., Any]) -> Callable[..., Any]:
    """What a tool raises would end the run; the model is told of it, as it might know better."""

    @functools.wraps(function)
    def told(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TimeoutError as error:
            return f"TimeoutError: {error}"

    return told


def agent_of(kind: str, way: str, *, used: list[int], form: Any = None) -> Any:
    """An agent; `used` gets the tokens that its messages tell of."""

    def graph(task: Task) -> Any:
        tools = [telling(each) for each in task.tools.values()]
        return create_agent(
            model_of(kind, task), tools=tools, system_prompt="Help.", response_format=form
        )

    def told(ended: Any) -> Any:
        counted = [getattr(each, "usage_metadata", None) for each in ended["messages"]]
        used.append(sum(each["total_tokens"] for each in counted if each))
        return ended["structured_response"] if form else ended["messages"][-1].text

    def asked(task: Task) -> Any:
        return {"messages": [{"role": "user", "content": task.prompt}]}

    def sync(task: Task) -> Any:
        if way == "invoke":
            return told(graph(task).invoke(asked(task), STEPS))
        modes = ["values", "messages"]
        parts = list(graph(task).stream(asked(task), STEPS, stream_mode=modes))
        return told([each for mode, each in parts if mode == "values"][-1])

    async def asynchronous(task: Task) -> Any:
        if way == "ainvoke":
            return told(await graph(task).ainvoke(asked(task), STEPS))
        modes = ["values", "messages"]
        parts = [each async for each in graph(task).astream(asked(task), STEPS, stream_mode=modes)]
        return told([each for mode, each in parts if mode == "values"][-1])

    return asynchronous if way.startswith("a") else sync


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


@pytest.mark.parametrize("way", ["invoke", "astream"])
@pytest.mark.parametrize("kind", ["chat", "responses", "anthropic"])
def test_hidden_retries_cause_no_wrong_turn(play: Any, kind: str, way: str) -> None:
    busy = Status(turn=0, status=429, headers=AT_ONCE)
    broken = Status(turn=1, status=500, attempts=(1, 2), headers=AT_ONCE)

    struck = play(agent_of(kind, way, used=[]), "empty-search", faults=[busy, broken])

    assert struck.requests == len(struck.moves) + 3


@pytest.mark.parametrize("strategy", [ToolStrategy, ProviderStrategy])
@pytest.mark.parametrize("kind", KINDS)
def test_a_structured_answer_is_one(play: Any, kind: str, strategy: Any) -> None:
    agent = agent_of(kind, "invoke", used=[], form=strategy(Verdict))

    played = play(agent, "empty-search", persona="compliant")

    assert isinstance(played.run.answer, Verdict)


# -- the model in the agent's process


def both(seen: Seen) -> Calls | Say:
    """Search twice in one message, then speak."""
    if seen.turn:
        return Say(text="That is all that there is to say.")
    return Calls(proposals=(Propose(role="search"), Propose(role="search")))


@tool
def search_orders() -> str:
    """Search."""
    return "none"


@tool
def note(text: str) -> str:
    """A tool that no script knows."""
    return text


Exchanges = Callable[..., Exchange]
ASKED = [SystemMessage("Help."), HumanMessage("Where is it?")]


def bound(exchange: Exchange, **settings: Any) -> Any:
    return native("langchain", exchange).bind_tools([search_orders, note], **settings)


def names(message: Any) -> list[str]:
    return [each["name"] for each in message.tool_calls]


def test_parallel_calls_come_together_and_their_results_are_the_next_turn(
    exchange: Exchanges,
) -> None:
    model = bound(exchange(both))

    first = model.invoke(ASKED)
    results = [ToolMessage("none", tool_call_id=each["id"]) for each in first.tool_calls]
    last = model.invoke([*ASKED, first, *results])

    assert names(first) == ["search_orders", "search_orders"]
    assert len({each["id"] for each in first.tool_calls}) == 2
    assert last.text == "That is all that there is to say."


@pytest.mark.parametrize("way", ["stream", "astream"])
def test_a_stream_adds_up_to_the_whole(exchange: Exchanges, way: str) -> None:
    async def pieces() -> list[Any]:
        return [each async for each in bound(exchange(both)).astream(ASKED)]

    whole = bound(exchange(both)).invoke(ASKED)
    found = asyncio.run(pieces()) if way == "astream" else list(bound(exchange(both)).stream(ASKED))
    total = functools.reduce(lambda one, two: one + two, found)

    assert len(found) > 3
    assert total.tool_calls == whole.tool_calls
    assert total.usage_metadata == whole.usage_metadata
    assert total.response_metadata == whole.response_metadata


@pytest.mark.parametrize(
    ("settings", "called"),
    [
        ({"parallel_tool_calls": False}, ["search_orders"]),
        ({"tool_choice": "none"}, []),
        ({"tool_choice": "any", "parallel_tool_calls": False}, ["search_orders"]),
        ({"tool_choice": "note"}, ["note"]),
        ({"tool_choice": {"type": "function", "function": {"name": "note"}}}, ["note"]),
    ],
)
def test_what_the_request_lets_the_model_call_is_honoured(
    exchange: Exchanges, settings: dict[str, Any], called: list[str]
) -> None:
    assert names(bound(exchange(both), **settings).invoke(ASKED)) == called


@pytest.mark.parametrize("wanted", ["any", "required", True])
def test_a_model_that_has_to_call_a_tool_does(exchange: Exchanges, wanted: Any) -> None:
    def speak(_: Seen) -> Say:
        return Say(text="Something.")

    (call,) = bound(exchange(speak), tool_choice=wanted).invoke(ASKED).tool_calls

    assert (call["name"], call["args"]) == ("note", {"text": "Something."})


def test_a_model_takes_a_structure_without_an_agent(exchange: Exchanges) -> None:
    model = native("langchain", exchange(both)).with_structured_output(Verdict)

    assert isinstance(model.invoke(ASKED), Verdict)


def test_a_usage_that_nobody_reports_is_not_made_up(exchange: Exchanges) -> None:
    model = bound(exchange(both, NoUsage()))

    assert model.invoke(ASKED).usage_metadata is None
    assert all(each.usage_metadata is None for each in model.stream(ASKED))


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, exceptions.ModelInvalidRequestError),
        (401, exceptions.ModelAuthenticationError),
        (403, exceptions.ModelPermissionDeniedError),
        (404, exceptions.ModelNotFoundError),
        (429, exceptions.ModelRateLimitError),
        (503, exceptions.ModelAPIError),
    ],
)
def test_an_error_response_is_the_error_of_the_framework(
    exchange: Exchanges, status: int, kind: type[Exception]
) -> None:
    with pytest.raises(kind, match=f"{status}: no more") as caught:
        bound(exchange(both, Status(status=status, message="no more"))).invoke(ASKED)

    assert type(caught.value) is kind


@pytest.mark.parametrize("fault", [Drop(), CutStream()], ids=["dropped", "cut"])
def test_a_lost_response_is_a_lost_connection(exchange: Exchanges, fault: Any) -> None:
    with pytest.raises(exceptions.ModelConnectionError, match="lost"):
        bound(exchange(both, fault)).invoke(ASKED)


def test_a_stream_that_is_cut_has_begun(exchange: Exchanges) -> None:
    found: list[Any] = []

    with pytest.raises(exceptions.ModelConnectionError, match="lost"):
        found.extend(bound(exchange(both, CutStream(after=2))).stream(ASKED))

    assert len(found) == 2


def test_retries_of_the_framework_cause_no_wrong_turn(exchange: Exchanges) -> None:
    faults = [Status(turn=0, status=429), Drop(turn=0, attempts=(2,))]
    model = bound(exchange(both, *faults)).with_retry(
        retry_if_exception_type=(exceptions.ModelError,), wait_exponential_jitter=False
    )

    assert names(model.invoke(ASKED)) == ["search_orders", "search_orders"]


def test_arguments_that_are_no_json_are_told_apart(exchange: Exchanges) -> None:
    model = bound(exchange(both, MalformedArguments()))

    for message in (model.invoke(ASKED), functools.reduce(lambda a, b: a + b, model.stream(ASKED))):
        assert message.tool_calls == []
        assert [each["name"] for each in message.invalid_tool_calls] == ["search_orders"] * 2


def test_a_broken_call_that_an_agent_answers_is_one_that_was_made(server: Any) -> None:
    found = server(both, MalformedArguments())
    model = bound(found.exchange)

    first = model.invoke(ASKED)
    results = [
        ToolMessage("no JSON", tool_call_id=each["id"], status="error")
        for each in first.invalid_tool_calls
    ]
    again = model.invoke([*ASKED, first, *results])

    assert names(again) == ["search_orders", "search_orders"]
    assert found.noted[-1].conversation.unasked == ()
