"""The real OpenAI SDK against the scripted model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import openai
import pytest

from pytest_tripwire.models import Calls, Move, Propose, Say, Seen

Body = Callable[..., dict[str, Any]]
Run = Callable[..., Any]


def result_of(call: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call.id, "content": f"nothing for {call.id}"}


def loop(client: openai.OpenAI, body: dict[str, Any]) -> tuple[list[list[Any]], str]:
    """The smallest agent: the calls of each turn, and the final answer."""
    calls = []
    while True:
        message = client.chat.completions.create(**body).choices[0].message
        if not message.tool_calls:
            return calls, message.content or ""
        calls.append(message.tool_calls)
        body["messages"] += [message, *(result_of(call) for call in message.tool_calls)]


@pytest.fixture
def connect() -> Iterator[Callable[..., openai.OpenAI]]:
    clients: list[openai.OpenAI] = []

    def client(url: str, **options: Any) -> openai.OpenAI:
        clients.append(openai.OpenAI(base_url=url, api_key="any", **options))
        return clients[-1]

    yield client
    for made in clients:
        made.close()


def test_a_sync_loop_runs_the_script_to_its_end(run: Run, ask: Body, connect: Any) -> None:
    running = run()

    calls, answer = loop(connect(running.url), ask())

    assert [turn[0].function.name for turn in calls] == ["search_orders"] * 2
    assert [json.loads(turn[0].function.arguments)["query"] for turn in calls] == [
        "order 0",
        "order 1",
    ]
    assert answer == "2 results"
    assert [(seen.turn, seen.repeat, seen.auxiliary) for seen in running.observed] == [
        (0, False, False),
        (1, False, False),
        (2, False, False),
    ]
    assert len({seen.conversation for seen in running.observed}) == 1


def test_an_async_loop_runs_the_script_to_its_end(run: Run, ask: Body) -> None:
    running = run()

    async def agent() -> str | None:
        body = ask()
        async with openai.AsyncOpenAI(base_url=running.url, api_key="any") as client:
            while True:
                completion = await client.chat.completions.create(**body)
                message = completion.choices[0].message
                if not message.tool_calls:
                    return message.content
                body["messages"] += [message, *(result_of(call) for call in message.tool_calls)]

    assert asyncio.run(agent()) == "2 results"


def test_parallel_calls_have_ids_of_one_turn(run: Run, ask: Body, connect: Any) -> None:
    def both(seen: Seen) -> Move:
        if seen.turn == 0:
            roles = ("search", "write", "search")
            return Calls(proposals=tuple(Propose(role=role) for role in roles), says="On it.")
        return Say(text=" ".join(result.call_id for result in seen.results))

    (calls,), answer = loop(connect(run(script=both).url), ask())

    assert [call.function.name for call in calls] == [
        "search_orders",
        "refund_order",
        "search_orders",
    ]
    assert [call.id.rsplit("_", 2)[1:] for call in calls] == [["0", "0"], ["0", "1"], ["0", "2"]]
    assert answer == " ".join(call.id for call in calls)


def test_a_response_has_what_strict_frameworks_ask_for(run: Run, ask: Body) -> None:
    status, body = run().post(ask(model="gpt-x"))

    call = body["choices"][0]["message"]["tool_calls"][0]
    assert (status, body["object"], body["model"]) == (200, "chat.completion", "gpt-x")
    assert body["choices"][0]["finish_reason"] == "tool_calls"
    assert (call["type"], bool(call["id"])) == ("function", True)
    assert body["usage"]["total_tokens"] == (
        body["usage"]["prompt_tokens"] + body["usage"]["completion_tokens"]
    )


def test_equal_requests_get_equal_responses_from_any_server(run: Run, ask: Body) -> None:
    assert run().post(ask()) == run().post(ask())


def test_observer_and_agent_keep_the_same_books(run: Run, ask: Body) -> None:
    running = run()
    usage = running.post(ask())[1]["usage"]

    (seen,) = running.observed
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (
        seen.prompt_tokens,
        seen.completion_tokens,
    )
    assert running.post(ask(prompt="Refund A-1" * 40))[1]["usage"]["prompt_tokens"] > (
        seen.prompt_tokens
    )


class LosesAnswers(httpx2.BaseTransport):
    """Loses the first answer to every turn, after the server gave it."""

    def __init__(self) -> None:
        self.inner = httpx2.HTTPTransport()
        self.requests = 0

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        response = self.inner.handle_request(request)
        self.requests += 1
        if self.requests % 2 == 0:
            return response
        response.close()
        return httpx2.Response(500, headers={"retry-after-ms": "1"}, request=request)

    def close(self) -> None:
        self.inner.close()


def test_a_retry_of_the_sdk_gets_the_same_move(run: Run, ask: Body, connect: Any) -> None:
    running = run()
    client = connect(running.url, http_client=httpx2.Client(transport=LosesAnswers()))

    calls, answer = loop(client, ask())

    assert (len(calls), answer) == (2, "2 results")
    assert [(seen.turn, seen.repeat) for seen in running.observed] == [
        (0, False),
        (0, True),
        (1, False),
        (1, True),
        (2, False),
        (2, True),
    ]
    assert running.observed[0].move == running.observed[1].move


def test_a_conversation_that_is_begun_anew_is_no_retry(run: Run, ask: Body, connect: Any) -> None:
    running = run()
    client = connect(running.url)

    loop(client, ask())
    loop(client, ask())

    assert [seen.turn for seen in running.observed] == [0, 1, 2] * 2
    assert not any(seen.repeat for seen in running.observed)


def test_a_trimmed_history_goes_on_where_it_was(run: Run, ask: Body, connect: Any) -> None:
    running = run()
    client = connect(running.url)
    body = ask()
    message = client.chat.completions.create(**body).choices[0].message
    first = [message, result_of(message.tool_calls[0])]
    message = client.chat.completions.create(**ask(*first)).choices[0].message
    second = [message, result_of(message.tool_calls[0])]

    trimmed = client.chat.completions.create(**ask(*second)).choices[0].message

    assert trimmed.content == "1 results"
    assert running.observed[-1].turn == 2


def test_the_script_sees_a_refusal(run: Run, ask: Body) -> None:
    def heeds(seen: Seen) -> Move:
        if any(result.refused for result in seen.results):
            return Say(text="I stop.")
        return Calls(proposals=(Propose(role="write"),))

    running = run(script=heeds)
    message = running.post(ask())[1]["choices"][0]["message"]
    refusal = {
        "role": "tool",
        "tool_call_id": message["tool_calls"][0]["id"],
        "content": [{"type": "text", "text": '{"refused": true, "reason": "denied"}'}],
    }

    answer = running.post(ask(message, refusal))[1]["choices"][0]["message"]

    assert answer["content"] == "I stop."


def test_fifty_conversations_at_once_do_not_mix(run: Run, ask: Body, connect: Any) -> None:
    def echo(seen: Seen) -> Move:
        if seen.turn < 3:
            return Calls(proposals=(Propose(role="search", slots={"turn": seen.turn}),))
        return Say(text=seen.all_results[0].call_id)

    running = run(script=echo)
    client = connect(running.url, max_retries=0)

    def converse(number: int) -> tuple[str, str, list[int]]:
        calls, answer = loop(client, ask(prompt=f"Refund number {number}"))
        turns = [json.loads(turn[0].function.arguments)["turn"] for turn in calls]
        return calls[0][0].id, answer, turns

    with ThreadPoolExecutor(50) as pool:
        outcomes = list(pool.map(converse, range(50)))

    assert all(first == answer for first, answer, _ in outcomes)
    assert all(turns == [0, 1, 2] for *_, turns in outcomes)
    assert len({answer for _, answer, _ in outcomes}) == 50
    assert running.server.requests == 200
    assert not running.server.exhausted
    assert len({(seen.conversation, seen.turn) for seen in running.observed}) == 200
    assert not any(seen.repeat for seen in running.observed)
