"""The parts of the adapter for Pydantic AI, each by itself."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pydantic_ai import Agent, DeferredToolRequests
from pydantic_ai import messages as parts
from pydantic_ai.exceptions import (
    ConcurrencyLimitExceeded,
    FallbackExceptionGroup,
    ModelConnectionError,
    ModelHTTPError,
    ModelRequestTimeout,
    ModelTimeoutError,
    UnexpectedModelBehavior,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import ExternalToolset
from pydantic_ai.usage import RequestUsage

from pytest_tripwire.adapters import Described
from pytest_tripwire.adapters.pydantic_ai import Tripwire, tools
from pytest_tripwire.adapters.pydantic_ai.delegates import delegates_of
from pytest_tripwire.adapters.pydantic_ai.metered import Metered, usage_of
from pytest_tripwire.breaker import Breaker, BreakerEvent, ToolSpec, Usage
from pytest_tripwire.timeline import Decided

NEEDS = ("pydantic-ai-slim",)

OTHER: Agent[None, str] = Agent(name="other")


# -- tools


class Desk:
    def __init__(self) -> None:
        self.asked: list[Any] = []

    async def acall(self, name: str, arguments: Any, **told: Any) -> Any:
        self.asked.append((name, dict(arguments), told))
        return "done"


def calling(*given: Any) -> FunctionModel:
    def answer(messages: list[Any], _info: Any) -> parts.ModelResponse:
        number = sum(isinstance(each, parts.ModelResponse) for each in messages)
        if number == len(given):
            return parts.ModelResponse(parts=[parts.TextPart("Done.")])
        call = parts.ToolCallPart("find", given[number], tool_call_id=f"call-{number}")
        return parts.ModelResponse(parts=[call])

    return FunctionModel(answer)


FIND = Described(name="find", description="Find it.", parameters={"type": "object"})


def test_a_tool_tells_its_caller_who_calls_and_by_which_id() -> None:
    desk = Desk()
    agent = Agent(calling({"order": "A-1"}), name="clerk", tools=tools(desk, [FIND]))

    asyncio.run(agent.run("Go"))

    assert desk.asked == [("find", {"order": "A-1"}, {"call_id": "call-0", "agent": "clerk"})]


def test_arguments_that_are_no_object_are_told_to_the_model() -> None:
    desk = Desk()
    agent = Agent(calling("[1]", '{"order": "A-1"}'), tools=tools(desk, [FIND]))

    asyncio.run(agent.run("Go"))

    assert [each[1] for each in desk.asked] == [{"order": "A-1"}]


def test_an_external_tool_has_no_body_to_be_asked_for() -> None:
    external = ExternalToolset([ToolDefinition(name="find")])
    agent = Agent(calling({}), toolsets=[external], output_type=[str, DeferredToolRequests])

    with Breaker().run() as run:
        result = asyncio.run(agent.run("Go", capabilities=[Tripwire(run)]))

    assert isinstance(result.output, DeferredToolRequests)


def test_a_read_that_settles_a_write_is_no_call_of_the_agents() -> None:
    events, found = list[BreakerEvent](), list[str]()

    def find(order: str) -> dict[str, str]:
        found.append(order)
        return {"id": "R-1"}

    def pay(order: str) -> None:
        raise TimeoutError(order)

    write = ToolSpec(name="pay", effect="write", identity=("order",), result_id="id")
    specs = {
        "pay": ToolSpec(**{**{n: getattr(write, n) for n in write.__struct_fields__}, **READ_BY}),
        "find": ToolSpec(name="find", effect="read"),
    }
    breaker = Breaker(on_event=events.append)
    with breaker.run() as run:
        for _ in range(2):
            capability = Tripwire(run, specs)
            agent = Agent(paying(), tools=[find, pay])
            try:
                asyncio.run(agent.run("Go", capabilities=[capability]))
            except TimeoutError:
                continue

    assert found == ["A-1"]
    assert {each.tool for each in events if isinstance(each, Decided)} == {"pay"}


READ_BY = {"reconcile": "find"}


def paying() -> FunctionModel:
    def answer(messages: list[Any], _info: Any) -> parts.ModelResponse:
        if len(messages) > 1:
            return parts.ModelResponse(parts=[parts.TextPart("Done.")])
        return parts.ModelResponse(parts=[parts.ToolCallPart("pay", {"order": "A-1"})])

    return FunctionModel(answer)


# -- agents that a function runs


async def by_its_module(what: str) -> str:
    return (await OTHER.run(what)).output


def mentions(what: str) -> str:
    return f"{OTHER.name}: {what}"


def decorated(function: Any) -> Any:
    async def around(*args: Any) -> Any:
        return await function(*args)

    return around


class Holder:
    def __init__(self) -> None:
        self.agents = {"other": OTHER}

    async def ask(self, what: str) -> str:
        return (await self.agents["other"].run(what)).output


async def by_default(what: str, agent: Any = OTHER) -> str:
    return (await agent.run(what)).output


async def of_any(agent: Any, what: str) -> str:
    return (await agent.run(what)).output


@pytest.mark.parametrize(
    "function",
    [
        by_its_module,
        decorated(by_its_module),
        Holder().ask,
        by_default,
        functools.partial(of_any, OTHER),
        OTHER.run,
    ],
    ids=["module", "decorated", "held", "default", "partial", "its own run"],
)
def test_an_agent_that_a_function_runs_is_seen(function: Any) -> None:
    assert delegates_of(function) == [OTHER]


@pytest.mark.parametrize("function", [mentions, OTHER.render_description, of_any, None, len])
def test_no_agent_is_seen_where_none_is_run(function: Any) -> None:
    assert delegates_of(function) == []


# -- model requests


class Told:
    """What a run is told of requests."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

    def before_model(self) -> Any:
        return Allowed()

    def after_model(self, usage: Usage, *_: Any) -> None:
        self.heard.append(usage)

    def model_failed(self) -> None:
        self.heard.append("failed")


class Allowed:
    allowed = True


def asked(error: BaseException) -> list[Any]:
    def answer(*_: Any) -> Any:
        raise error

    told: Any = Told()
    model = Metered(FunctionModel(answer), told)
    messages = [parts.ModelRequest.user_text_prompt("Go")]
    with pytest.raises(type(error)):
        asyncio.run(model.request(messages, None, ModelRequestParameters()))
    return list(told.heard)


NOTHING: dict[str, BaseException] = {
    "never sent": ModelConnectionError("m", "down", phase="connect"),
    "refused": ModelHTTPError(429, "m"),
    "not let through": ConcurrencyLimitExceeded("full"),
    "none of several": FallbackExceptionGroup("all", [ModelHTTPError(500, "m")]),
}
PERHAPS: dict[str, BaseException] = {
    "cut off": asyncio.CancelledError(),
    "timed out": ModelTimeoutError("m", "late", phase="read"),
    "too late for the settings": ModelRequestTimeout("m", 1),
    "broke off": ModelConnectionError("m", "reset"),
    "in a stream": ModelHTTPError(529, "m", in_stream=True),
    "nobody could read it": UnexpectedModelBehavior("odd"),
    "one of several": FallbackExceptionGroup(
        "all", [ModelHTTPError(500, "m"), ModelTimeoutError("m", "late")]
    ),
}


@pytest.mark.parametrize("error", NOTHING.values(), ids=NOTHING)
def test_a_request_that_was_refused_or_never_sent_cost_nothing(error: BaseException) -> None:
    assert asked(error) == ["failed"]


@pytest.mark.parametrize("error", PERHAPS.values(), ids=PERHAPS)
def test_nobody_knows_what_any_other_request_cost(error: BaseException) -> None:
    assert asked(error) == [Usage()]


class Opening(FunctionModel):
    """A model whose stream breaks while it opens."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(stream_function=pieces)
        self._error = error

    @asynccontextmanager
    async def request_stream(self, *_: Any, **_more: Any) -> AsyncIterator[Any]:
        raise self._error
        yield


async def pieces(*_: Any) -> AsyncIterator[str]:
    yield "one "
    yield "two"


async def opened(model: Any, told: Any, stops: int | None = None) -> None:
    """Read a stream, or no more than so many events of it."""
    messages = [parts.ModelRequest.user_text_prompt("Go")]
    streaming = Metered(model, told).request_stream(messages, None, ModelRequestParameters())
    async with streaming as stream:
        number = 0
        async for _ in stream:
            number += 1
            if number == stops:
                break


@pytest.mark.parametrize(
    ("error", "costs"),
    [
        (asyncio.CancelledError(), Usage()),
        (ModelTimeoutError("m", "late"), Usage()),
        (ConnectionRefusedError("gone"), "failed"),
    ],
    ids=["cut off", "timed out", "failed"],
)
def test_a_stream_that_breaks_while_it_opens_is_settled(error: BaseException, costs: Any) -> None:
    told: Any = Told()

    with pytest.raises(type(error)):
        asyncio.run(opened(Opening(error), told))

    assert told.heard == [costs]


def test_nobody_knows_what_a_stream_costs_in_the_end_that_is_left_early() -> None:
    left, read = Told(), Told()

    asyncio.run(opened(FunctionModel(stream_function=pieces), left, stops=1))
    asyncio.run(opened(FunctionModel(stream_function=pieces), read))

    assert left.heard == [Usage()]
    assert read.heard[0].completion_tokens > 0


def test_a_usage_is_known_as_far_as_it_is_said() -> None:
    said = RequestUsage(input_tokens=9, output_tokens=2, cache_read_tokens=4)
    silent = RequestUsage(input_tokens=9, unmeasured_requests=1)

    assert usage_of(parts.ModelResponse(parts=[], usage=said)) == Usage(
        prompt_tokens=9, completion_tokens=2, cached_tokens=4
    )
    assert usage_of(parts.ModelResponse(parts=[], usage=silent)) == Usage()
    assert usage_of(parts.ModelResponse(parts=[], usage=RequestUsage())) == Usage()
