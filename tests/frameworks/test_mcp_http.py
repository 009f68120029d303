"""The case's tools over the Model Context Protocol, by HTTP: a real client in the agent's place."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing
from typing import Any

import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from openai import AsyncOpenAI

from pytest_tripwire import Harness, Options, Run, Task
from pytest_tripwire.cases import CASE_IDS
from pytest_tripwire.serve.endpoint import OverHttp
from pytest_tripwire.serve.offered import Offered
from pytest_tripwire.timeline import Delivery

NEEDS = ["mcp", "openai"]

REFUND = {"order_id": "A-1001", "amount": 40.0, "reason": "broken", "request_id": "r-1"}


@asynccontextmanager
async def _session(url: str) -> AsyncIterator[ClientSession]:
    async with streamable_http_client(url) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        yield session


@pytest.fixture
def served() -> Iterator[tuple[Offered, OverHttp]]:
    """Tools that anybody can call, and where."""
    offered = Offered()
    endpoint = OverHttp(offered)
    endpoint.start()
    yield offered, endpoint
    endpoint.close()


Play = Callable[..., Run]


@pytest.fixture
def over_http(served: tuple[Offered, OverHttp]) -> Play:
    """Plays a case; what the agent does is given."""
    offered, endpoint = served

    def play(case: str, do: Callable[[Task, ClientSession], Any], **options: Any) -> Run:
        async def agent(task: Task) -> None:
            offered.replace(task.tools)
            async with _session(endpoint.url) as session:
                await do(task, session)

        return Harness(case, agent, options=Options(**options)).run()

    return play


def looping(lag: float = 0.0) -> Callable[[Task, ClientSession], Any]:
    """The plain loop, with the calls of one message side by side, so many real seconds apart."""

    async def loop(task: Task, session: ClientSession) -> None:
        tools = [
            {
                "type": "function",
                "function": {
                    "name": each.name,
                    "description": each.description,
                    "parameters": each.input_schema,
                },
            }
            for each in (await session.list_tools()).tools
        ]

        async def use(call: Any, place: int) -> dict[str, Any]:
            await asyncio.sleep(place * lag)
            arguments = json.loads(call.function.arguments)
            result = await session.call_tool(call.function.name, arguments)
            return {"role": "tool", "tool_call_id": call.id, "content": result.content[0].text}

        messages: list[Any] = [{"role": "user", "content": task.prompt}]
        url, key = task.model.base_url("openai"), task.model.api_key
        async with AsyncOpenAI(base_url=url, api_key=key) as client:
            for _ in range(60):
                reply = await client.chat.completions.create(
                    model=task.model.name, messages=messages, tools=tools
                )
                message = reply.choices[0].message
                messages.append(message.model_dump(exclude_none=True))
                calls = message.tool_calls or []
                messages += await asyncio.gather(*(use(c, n) for n, c in enumerate(calls)))
                if not calls:
                    return

    return loop


@pytest.mark.parametrize("case", CASE_IDS)
def test_every_case_is_contained_as_in_one_process(case: str, over_http: Play) -> None:
    run = over_http(case, looping())

    run.check()


@pytest.mark.parametrize("lag", [0.0, 0.05])
def test_time_passes_as_for_siblings_in_one_process(lag: float, over_http: Play) -> None:
    run = over_http("deadline/side-by-side", looping(lag))

    run.check()
    assert [each.at for each in run.events if isinstance(each, Delivery)] == [10.0, 30.0]


def test_a_call_that_comes_too_late_is_no_longer_waited_for(over_http: Play) -> None:
    run = over_http("deadline/side-by-side", looping(lag=0.6))

    assert [each.at for each in run.events if isinstance(each, Delivery)] == [10.0, 40.0]


def test_tools_have_their_names_words_and_schemas(over_http: Play) -> None:
    seen: list[tuple[Any, Any]] = []

    async def look(task: Task, session: ClientSession) -> None:
        tools = (await session.list_tools()).tools
        ours = [each["function"] for each in task.tools.schemas("openai")]
        theirs = [
            {"name": t.name, "description": t.description, "parameters": t.input_schema}
            for t in tools
        ]
        seen.append((ours, theirs))

    over_http("lost-write", look)

    ((ours, theirs),) = seen
    assert ours == theirs
    assert [each["name"] for each in theirs] == ["issue_refund", "get_refund"]


def test_errors_and_refusals_reach_the_model(over_http: Play) -> None:
    results: list[Any] = []

    async def pay_twice(_task: Task, session: ClientSession) -> None:
        for tool, arguments in (
            ("issue_refund", REFUND),
            ("issue_refund", REFUND),
            ("no_such_tool", {}),
        ):
            results.append(await session.call_tool(tool, arguments))

    run = over_http("lost-write", pay_twice)

    lost, refused, unknown = results
    assert (lost.is_error, lost.content[0].text) == (True, "TimeoutError: no answer within 30 s")
    assert not refused.is_error
    assert json.loads(refused.content[0].text)["refused"] is True
    assert unknown.is_error
    assert "there are: issue_refund, get_refund" in unknown.content[0].text
    assert run.reason == "unknown_side_effect"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "evil.example"}, 421),
        ({"Origin": "http://evil.example"}, 403),
    ],
)
def test_a_web_page_with_a_name_of_its_own_is_turned_away(
    headers: dict[str, str], status: int, served: tuple[Offered, OverHttp]
) -> None:
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "page", "version": "1"},
        },
    }
    said = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    address = served[1].url.split("/")[2]

    with closing(http.client.HTTPConnection(address, timeout=30)) as connection:
        connection.request("POST", "/mcp", json.dumps(body), {**said, **headers})
        assert connection.getresponse().status == status


def test_it_listens_on_this_machine_alone(served: tuple[Offered, OverHttp]) -> None:
    port = int(served[1].url.split(":")[2].partition("/")[0])

    with pytest.raises(OSError, match=r"refused|assign|unreachable|timed out"):
        socket.create_connection(("127.0.0.2", port), timeout=1)
