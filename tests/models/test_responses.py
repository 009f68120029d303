"""The real OpenAI SDK against the scripted model, by the Responses protocol."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import openai
import pydantic
import pytest

from pytest_tripwire.models import Calls, Move, Propose, Say, Seen
from pytest_tripwire.models.faults import MalformedArguments, NoUsage

Body = Callable[..., dict[str, Any]]
Run = Callable[..., Any]
Agent = Callable[[Any, dict[str, Any]], tuple[list[list[Any]], str]]


def calls_of(response: Any) -> list[Any]:
    return [item for item in response.output if item.type == "function_call"]


def result_of(call: Any) -> dict[str, Any]:
    output = f"nothing for {call.call_id}"
    return {"type": "function_call_output", "call_id": call.call_id, "output": output}


def plain(client: Any, body: dict[str, Any]) -> Any:
    return client.responses.create(**body)


def streamed(client: Any, body: dict[str, Any]) -> Any:
    with client.responses.stream(**body) as stream:
        return stream.get_final_response()


def by_history(
    client: Any, body: dict[str, Any], ask_for: Callable[..., Any] = plain
) -> tuple[list[list[Any]], str]:
    """The smallest agent that sends its whole history: the calls of each turn, and the answer."""
    turns: list[list[Any]] = []
    while True:
        response = ask_for(client, body)
        if not (calls := calls_of(response)):
            return turns, response.output_text
        turns.append(calls)
        results = [result_of(call) for call in calls]
        body = {**body, "input": [*body["input"], *response.output, *results]}


def by_previous(
    client: Any, body: dict[str, Any], ask_for: Callable[..., Any] = plain
) -> tuple[list[list[Any]], str]:
    """The smallest agent that goes on from a response, and says its instructions only once."""
    turns: list[list[Any]] = []
    while True:
        response = ask_for(client, body)
        if not (calls := calls_of(response)):
            return turns, response.output_text
        turns.append(calls)
        kept = {name: body[name] for name in body if name != "instructions"}
        results = [result_of(call) for call in calls]
        body = {**kept, "previous_response_id": response.id, "input": results}


AGENTS = pytest.mark.parametrize("agent", [by_history, by_previous])
ROADS = pytest.mark.parametrize("ask_for", [plain, streamed])


@pytest.fixture
def tools() -> list[dict[str, Any]]:
    parameters: dict[str, Any] = {"type": "object", "properties": {}}
    return [
        {"type": "function", "name": name, "parameters": parameters, "strict": False}
        for name in ("search_orders", "refund_order")
    ]


@pytest.fixture
def ask(tools: list[dict[str, Any]]) -> Body:
    """A request body with the shop's tools; keywords change it."""

    def body(*history: Any, prompt: str = "Refund A-1", **more: Any) -> dict[str, Any]:
        given = [{"role": "user", "content": prompt}, *history]
        fixed = {"model": "any", "instructions": "You are support.", "tools": tools}
        return {**fixed, "input": given, **more}

    return body


@pytest.fixture
def connect() -> Iterator[Callable[..., openai.OpenAI]]:
    clients: list[openai.OpenAI] = []

    def client(url: str, **options: Any) -> openai.OpenAI:
        clients.append(openai.OpenAI(base_url=url, api_key="any", **options))
        return clients[-1]

    yield client
    for made in clients:
        made.close()


@ROADS
@AGENTS
def test_a_loop_runs_the_script_to_its_end(
    run: Run, ask: Body, connect: Any, agent: Any, ask_for: Any
) -> None:
    running = run()

    calls, answer = agent(connect(running.url), ask(), ask_for)

    assert [turn[0].name for turn in calls] == ["search_orders"] * 2
    assert [json.loads(turn[0].arguments)["query"] for turn in calls] == ["order 0", "order 1"]
    assert answer == "2 results"
    assert [(seen.turn, seen.repeat, seen.auxiliary) for seen in running.observed] == [
        (0, False, False),
        (1, False, False),
        (2, False, False),
    ]


def test_both_roads_and_chat_completions_are_one_conversation(
    run: Run, ask: Body, connect: Any
) -> None:
    running = run()
    client = connect(running.url)

    by_history(client, ask())
    by_previous(client, ask())
    wrapped = [{"type": "function", "function": tool} for tool in ask()["tools"]]
    system = {"role": "system", "content": ask()["instructions"]}
    client.chat.completions.create(model="any", messages=[system, *ask()["input"]], tools=wrapped)

    assert len({seen.conversation for seen in running.observed}) == 1
    assert {len(noted.conversation.unasked) for noted in running.server.noted} == {0}
    assert {len(noted.conversation.unanswered) for noted in running.server.noted} == {0}


def test_async_loops_run_the_script_to_its_end(run: Run, ask: Body) -> None:
    running = run()

    async def agent(*, stream: bool) -> str:
        body = ask()
        async with openai.AsyncOpenAI(base_url=running.url, api_key="any") as client:
            while True:
                if stream:
                    async with client.responses.stream(**body) as events:
                        response: Any = await events.get_final_response()
                else:
                    response = await client.responses.create(**body)
                if not (calls := calls_of(response)):
                    return str(response.output_text)
                results = [result_of(call) for call in calls]
                body = {**body, "previous_response_id": response.id, "input": results}

    assert asyncio.run(agent(stream=False)) == "2 results"
    assert asyncio.run(agent(stream=True)) == "2 results"


@AGENTS
def test_parallel_calls_have_ids_of_one_turn(
    run: Run, ask: Body, connect: Any, agent: Agent
) -> None:
    def both(seen: Seen) -> Move:
        if seen.turn == 0:
            roles = ("search", "write", "search")
            return Calls(proposals=tuple(Propose(role=role) for role in roles), says="On it.")
        return Say(text=" ".join(result.call_id for result in seen.results))

    running = run(script=both)
    (calls,), answer = agent(connect(running.url), ask())

    assert [call.name for call in calls] == ["search_orders", "refund_order", "search_orders"]
    assert [call.call_id.rsplit("_", 2)[1:] for call in calls] == [
        ["0", "0"],
        ["0", "1"],
        ["0", "2"],
    ]
    assert len({call.id for call in calls}) == 3
    assert answer == " ".join(call.call_id for call in calls)


@AGENTS
def test_one_call_at_a_time_goes_through_a_move_in_order(
    run: Run, ask: Body, connect: Any, agent: Agent
) -> None:
    def three(seen: Seen) -> Move:
        if seen.turn:
            return Say(text=str(len(seen.results)))
        wanted = [Propose(role="search", slots={"n": n}) for n in range(3)]
        return Calls(proposals=tuple(wanted), says="One by one.")

    running = run(script=three)
    calls, answer = agent(connect(running.url), ask(parallel_tool_calls=False))

    assert [[json.loads(call.arguments)["n"] for call in turn] for turn in calls] == [[0], [1], [2]]
    assert [turn[0].call_id.rsplit("_", 2)[1:] for turn in calls] == [
        ["0", "0"],
        ["0", "1"],
        ["0", "2"],
    ]
    assert answer == "3"


def test_words_stand_before_the_calls(run: Run, ask: Body, connect: Any) -> None:
    running = run(script=lambda _: Calls(proposals=(Propose(role="search"),), says="On it."))

    response = connect(running.url).responses.create(**ask())

    assert [item.type for item in response.output] == ["message", "function_call"]
    assert response.output_text == "On it."


# -- what the model may call


def test_tool_choice_none_gets_words(run: Run, ask: Body, connect: Any) -> None:
    running = run()

    response = connect(running.url).responses.create(**ask(tool_choice="none"))

    assert calls_of(response) == []
    assert "tool_choice" in running.server.withheld[0]


@pytest.mark.parametrize(
    "choice",
    [
        {"type": "function", "name": "refund_order"},
        {
            "type": "allowed_tools",
            "mode": "required",
            "tools": [{"type": "function", "name": "refund_order"}],
        },
        "required",
    ],
    ids=["named", "allowed", "required"],
)
def test_a_model_that_has_to_call_does(run: Run, ask: Body, connect: Any, choice: Any) -> None:
    def pays(seen: Seen) -> Move:
        return Say(text="Done.") if seen.turn else Calls(proposals=(Propose(role="write"),))

    running = run(script=pays, roles=("search", "write"))
    client = connect(running.url)
    response = client.responses.create(**ask(tool_choice=choice))
    (call,) = calls_of(response)
    (again,) = calls_of(
        client.responses.create(
            **ask(*response.output, result_of(call), tool_choice=choice),
        )
    )

    assert (call.name, again.name) == ("refund_order", "refund_order")
    assert call.call_id != again.call_id


def test_only_allowed_tools_are_offered(run: Run, ask: Body, connect: Any) -> None:
    allowed = {
        "type": "allowed_tools",
        "mode": "auto",
        "tools": [{"type": "function", "name": "x"}],
    }
    running = run()

    assert calls_of(connect(running.url).responses.create(**ask(tool_choice=allowed))) == []
    assert running.server.noted[0].conversation.offered == frozenset()


def test_tools_of_the_provider_are_offered_by_nobody(
    run: Run, ask: Body, connect: Any, tools: list[Any]
) -> None:
    running = run()
    builtin = {"type": "web_search"}

    response = connect(running.url).responses.create(**ask(tools=[builtin, *tools]))

    assert [call.name for call in calls_of(response)] == ["search_orders"]
    offered = running.server.noted[0].conversation.offered
    assert offered == frozenset({"search_orders", "refund_order"})


# -- answers that have a shape


class Verdict(pydantic.BaseModel):
    route: str
    score: int


def test_a_structured_answer_is_parsed(run: Run, ask: Body, connect: Any) -> None:
    client = connect(run(script=lambda _: Say(text="words")).url)

    parsed = client.responses.parse(**ask(text_format=Verdict))
    with client.responses.stream(**ask(text_format=Verdict)) as stream:
        gathered = stream.get_final_response()
    loose = client.responses.create(**ask(text={"format": {"type": "json_object"}}))

    assert parsed.output_parsed == gathered.output_parsed == Verdict(route="", score=0)
    assert loose.output_text == "{}"


def test_an_endless_schema_is_the_requests_fault(run: Run, ask: Body, connect: Any) -> None:
    form = {"type": "json_schema", "name": "answer", "schema": {"$ref": "#"}}
    running = run()

    with pytest.raises(openai.BadRequestError) as caught:
        connect(running.url).responses.create(**ask(tools=[], text={"format": form}))

    assert caught.value.param == "text.format"
    assert running.server.error is None


@AGENTS
def test_spoilt_arguments_go_out_as_they_are(
    run: Run, ask: Body, connect: Any, agent: Agent
) -> None:
    running = run(faults=(MalformedArguments(turn=0),))

    calls, answer = agent(connect(running.url), ask())

    (spoilt,) = running.server.noted[0].answer.calls
    sound = [f'{{"role":"search","query":"order {n}"}}' for n in range(2)]
    assert [turn[0].arguments for turn in calls] == [spoilt.text, *sound]
    assert spoilt.text not in sound
    assert answer == "3 results"


# -- books


def test_observer_and_agent_keep_the_same_books(run: Run, ask: Body, connect: Any) -> None:
    running = run()

    usage = plain(connect(running.url), ask()).usage

    (seen,) = running.observed
    assert (usage.input_tokens, usage.output_tokens) == (
        seen.prompt_tokens,
        seen.completion_tokens,
    )
    assert usage.total_tokens == usage.input_tokens + usage.output_tokens
    assert usage.input_tokens_details.cached_tokens == 0
    assert usage.output_tokens_details.reasoning_tokens == 0


@ROADS
def test_usage_may_be_unknown(run: Run, ask: Body, connect: Any, ask_for: Any) -> None:
    running = run(faults=(NoUsage(),))

    assert ask_for(connect(running.url), ask()).usage is None


def test_what_was_said_before_a_response_is_paid_for(run: Run, ask: Body, connect: Any) -> None:
    running = run()

    by_previous(connect(running.url), ask())

    sizes = [seen.prompt_tokens for seen in running.observed]
    assert sizes == sorted(set(sizes))


def test_instructions_and_tools_are_paid_for(run: Run, ask: Body, connect: Any) -> None:
    count = connect(run().url).responses.input_tokens.count

    whole = count(**ask()).input_tokens
    assert count(**ask(instructions=None)).input_tokens < whole
    assert count(**ask(tools=ask()["tools"][:1])).input_tokens < whole


def test_tokens_are_counted_without_asking_the_script(run: Run, ask: Body, connect: Any) -> None:
    running = run()
    client = connect(running.url)

    counted = client.responses.input_tokens.count(**ask())
    response = client.responses.create(**ask())
    more = client.responses.input_tokens.count(**ask(previous_response_id=response.id))

    assert counted.object == "response.input_tokens"
    assert counted.input_tokens == running.observed[0].prompt_tokens
    assert more.input_tokens > counted.input_tokens
    assert running.server.requests == 1


def test_equal_requests_get_equal_bytes_from_any_server(run: Run, ask: Body, connect: Any) -> None:
    def content(client: Any, **more: Any) -> bytes:
        raw = client.responses.with_raw_response.create(**ask(**more))
        return bytes(raw.http_response.read())

    first, second = connect(run().url), connect(run().url)

    assert content(first) == content(first) == content(second)
    assert content(first, stream=True) == content(second, stream=True)


def test_a_response_repeats_its_request(run: Run, ask: Body, connect: Any) -> None:
    client = connect(run().url)
    said = {
        "instructions": "Be brief.",
        "temperature": 0.5,
        "top_p": 0.9,
        "metadata": {"team": "shop"},
        "max_output_tokens": 99,
        "truncation": "auto",
        "tool_choice": "required",
        "parallel_tool_calls": False,
        "store": False,
        "text": {"format": {"type": "text"}, "verbosity": "low"},
    }

    told = json.loads(client.responses.with_raw_response.create(**ask(**said)).content)
    bare = json.loads(client.responses.with_raw_response.create(input="Hello").content)

    assert {name: told[name] for name in said} == said
    assert told["tools"] == ask()["tools"]
    assert (told["object"], told["status"], told["model"]) == ("response", "completed", "any")
    assert (bare["instructions"], bare["tools"], bare["tool_choice"]) == (None, [], "auto")
    assert (bare["store"], bare["parallel_tool_calls"], bare["metadata"]) == (True, True, {})
    assert (bare["error"], bare["incomplete_details"]) == (None, None)
    assert bare["text"] == {"format": {"type": "text"}}
    assert bare["previous_response_id"] is None


# -- going on from a response


def test_responses_of_distinct_histories_have_distinct_ids(
    run: Run, ask: Body, connect: Any
) -> None:
    client = connect(run(script=lambda _: Say(text="Yes.")).url)
    bodies = [
        ask(),
        ask(prompt="Refund B-2"),
        ask(instructions="You are billing."),
        ask({"role": "assistant", "content": "Hm."}),
        ask(store=False),
        ask(tools=ask()["tools"][:1]),
    ]

    ids = [client.responses.create(**body).id for body in bodies]
    again = [client.responses.create(**body).id for body in bodies]
    bodies = [{"previous_response_id": ids[n], "input": "Go on"} for n in (0, 3)]
    onward = [client.responses.create(**body).id for body in bodies]

    assert again == ids
    assert len(set(ids + onward)) == len(ids) + 2


def test_another_answer_to_the_same_request_is_another_response(
    run: Run, ask: Body, connect: Any
) -> None:
    texts = iter([None, "The run was stopped."])
    client = connect(run(observe=lambda _: next(texts)).url)

    first, second = (client.responses.create(**ask()) for _ in range(2))

    assert second.output_text == "The run was stopped."
    assert first.id != second.id


def test_a_conversation_branches_from_an_earlier_response(
    run: Run, ask: Body, connect: Any
) -> None:
    running = run()
    client = connect(running.url)
    first = plain(client, ask())
    (call,) = calls_of(first)
    by_previous(client, ask(previous_response_id=first.id, input=[result_of(call)]))
    observed = len(running.observed)

    other = {**result_of(call), "output": "something else"}
    again = plain(client, ask(previous_response_id=first.id, input=[other]))

    assert again.previous_response_id == first.id
    assert calls_of(again)[0].call_id.endswith("_1_0")
    assert running.observed[observed].turn == 1
    noted = running.server.noted[-1].conversation
    assert [result.text for result in noted.results] == ["something else"]


def test_a_new_question_goes_on_from_a_final_answer(run: Run, ask: Body, connect: Any) -> None:
    running = run(script=lambda seen: Say(text=f"answer {seen.turn}"))
    client = connect(running.url)

    first = plain(client, ask(prompt="First?"))
    second = client.responses.create(
        input="Second?", previous_response_id=first.id, tools=ask()["tools"]
    )

    assert second.output_text == "answer 1"
    assert len({seen.conversation for seen in running.observed}) == 1


def test_other_instructions_make_another_conversation(run: Run, ask: Body, connect: Any) -> None:
    running = run()
    client = connect(running.url)

    first = plain(client, ask())
    (call,) = calls_of(first)
    taken_over = {"instructions": "You are billing.", "previous_response_id": first.id}
    plain(client, ask(**taken_over, input=[result_of(call)]))

    one, two = running.observed
    assert one.conversation != two.conversation
    assert (one.turn, two.turn) == (0, 1)


@pytest.mark.parametrize("stored", [True, False, None])
def test_a_response_that_is_not_stored_is_not_found(
    run: Run,
    ask: Body,
    connect: Any,
    stored: bool | None,  # noqa: FBT001 - a parameter of the test
) -> None:
    running = run()
    client = connect(running.url)
    response = plain(client, ask(store=stored))
    (call,) = calls_of(response)
    body = ask(previous_response_id=response.id, input=[result_of(call)])

    if stored is not False:
        assert calls_of(plain(client, body))
        return
    with pytest.raises(openai.BadRequestError) as caught:
        plain(client, body)

    assert caught.value.code == "previous_response_not_found"
    assert caught.value.param == "previous_response_id"
    assert response.id in caught.value.message
    assert len(running.observed) == 1


# -- retries


class LosesAnswers(httpx2.BaseTransport):
    """Loses the first answer to every turn, after the server gave it."""

    def __init__(self) -> None:
        self.inner = httpx2.HTTPTransport()
        self.requests = 0
        self.lost: list[bytes] = []

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        response = self.inner.handle_request(request)
        self.requests += 1
        if self.requests % 2 == 0:
            return response
        self.lost.append(response.read())
        response.close()
        return httpx2.Response(500, headers={"retry-after-ms": "1"}, request=request)

    def close(self) -> None:
        self.inner.close()


@AGENTS
def test_a_retry_of_the_sdk_gets_the_same_response(
    run: Run, ask: Body, connect: Any, agent: Agent
) -> None:
    running = run()
    transport = LosesAnswers()
    client = connect(running.url, http_client=httpx2.Client(transport=transport))

    calls, answer = agent(client, ask())

    assert (len(calls), answer) == (2, "2 results")
    assert [(seen.turn, seen.repeat) for seen in running.observed] == [
        (0, False),
        (0, True),
        (1, False),
        (1, True),
        (2, False),
        (2, True),
    ]
    items = [json.loads(body)["output"][0] for body in transport.lost[:2]]
    assert [item["call_id"] for item in items] == [turn[0].call_id for turn in calls]


@AGENTS
def test_conversations_at_once_do_not_mix(run: Run, ask: Body, connect: Any, agent: Agent) -> None:
    running = run()
    client = connect(running.url, max_retries=0)

    def converse(number: int) -> tuple[int, str]:
        calls, answer = agent(client, ask(prompt=f"Refund number {number}"))
        return len(calls), answer

    with ThreadPoolExecutor(20) as pool:
        outcomes = list(pool.map(converse, range(20)))

    assert outcomes == [(2, "2 results")] * 20
    assert len({seen.conversation for seen in running.observed}) == 20
    assert len({(seen.conversation, seen.turn) for seen in running.observed}) == 60
