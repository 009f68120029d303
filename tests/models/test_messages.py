"""The real Anthropic SDK against the scripted model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import httpx2
import pydantic
import pytest

from pytest_tripwire.harness import Harness
from pytest_tripwire.models import Calls, Move, Propose, Say, Seen
from pytest_tripwire.models.faults import CutStream, MalformedArguments, NoUsage, Status

Run = Callable[..., Any]
Connect = Callable[..., anthropic.Anthropic]
Talk = Callable[[anthropic.Anthropic, dict[str, Any]], Any]

NAMES = ("search_orders", "refund_order")
#: On loopback there is nothing to encrypt, and to load the authorities for it takes long.
PLAIN = {"verify": False}


def asking(*history: dict[str, Any], prompt: str = "Refund A-1", **more: Any) -> dict[str, Any]:
    """What to call the SDK with; keywords change it."""
    schema = {"type": "object", "properties": {}}
    return {
        "model": "any",
        "max_tokens": 1000,
        "system": "You are support.",
        "messages": [{"role": "user", "content": prompt}, *history],
        "tools": [{"name": name, "input_schema": schema} for name in NAMES],
        **more,
    }


def calls_of(message: Any) -> list[Any]:
    return [block for block in message.content if block.type == "tool_use"]


def answered(message: Any, text: str = "nothing") -> list[dict[str, Any]]:
    """A message of the model's, and results for all of its calls."""
    results = [
        {"type": "tool_result", "tool_use_id": call.id, "content": text}
        for call in calls_of(message)
    ]
    return [
        {"role": "assistant", "content": message.content},
        {"role": "user", "content": results},
    ]


def plain(client: anthropic.Anthropic, body: dict[str, Any]) -> Any:
    return client.messages.create(**body)


def streamed(client: anthropic.Anthropic, body: dict[str, Any]) -> Any:
    with client.messages.stream(**body) as stream:
        return stream.get_final_message()


def in_beta(client: anthropic.Anthropic, body: dict[str, Any]) -> Any:
    return client.beta.messages.create(**body)


def loop(client: anthropic.Anthropic, body: dict[str, Any], talk: Talk = plain) -> tuple[Any, str]:
    """The smallest agent: the calls of each turn, and the final answer."""
    turns = []
    while True:
        message = talk(client, body)
        if message.stop_reason != "tool_use":
            return turns, "".join(block.text for block in message.content)
        turns.append(calls_of(message))
        body["messages"] += answered(message)


def both_then_ids(seen: Seen) -> Move:
    """Three calls in one message, then the ids that were answered."""
    if seen.turn == 0:
        roles = ("search", "write", "search")
        return Calls(proposals=tuple(Propose(role=role) for role in roles), says="On it.")
    return Say(text=" ".join(result.call_id for result in seen.results))


def write_once(seen: Seen) -> Move:
    return Say(text="Done.") if seen.turn else Calls(proposals=(Propose(role="write"),))


@pytest.fixture
def connect() -> Iterator[Connect]:
    clients: list[anthropic.Anthropic] = []

    def client(running: Any, **options: Any) -> anthropic.Anthropic:
        made = {"http_client": httpx2.Client(**PLAIN), "max_retries": 0, **options}
        url = running.server.base_url("anthropic")
        clients.append(anthropic.Anthropic(base_url=url, api_key="any", **made))
        return clients[-1]

    yield client
    for made in clients:
        made.close()


# -- loops


@pytest.mark.parametrize("talk", [plain, streamed, in_beta])
def test_a_loop_runs_the_script_to_its_end(run: Run, connect: Connect, talk: Talk) -> None:
    running = run()

    turns, answer = loop(connect(running), asking(), talk)

    assert [turn[0].name for turn in turns] == ["search_orders"] * 2
    assert [turn[0].input["query"] for turn in turns] == ["order 0", "order 1"]
    assert answer == "2 results"
    assert [(seen.turn, seen.repeat, seen.auxiliary) for seen in running.observed] == [
        (0, False, False),
        (1, False, False),
        (2, False, False),
    ]
    assert len({seen.conversation for seen in running.observed}) == 1


def test_async_loops_run_the_script_to_its_end(run: Run) -> None:
    running = run()

    async def agent(*, stream: bool) -> str:
        body = asking()
        async with anthropic.AsyncAnthropic(
            base_url=running.server.base_url("anthropic"),
            api_key="any",
            http_client=httpx2.AsyncClient(**PLAIN),
        ) as client:
            while True:
                if stream:
                    async with client.messages.stream(**body) as events:
                        message = await events.get_final_message()
                else:
                    message = await client.messages.create(**body)
                if message.stop_reason == "end_turn":
                    return message.content[0].text
                body["messages"] += answered(message)

    assert asyncio.run(agent(stream=False)) == "2 results"
    assert asyncio.run(agent(stream=True)) == "2 results"


@pytest.mark.parametrize("stream", [False, True])
def test_the_sdks_own_loop_runs_the_script_to_its_end(
    run: Run,
    connect: Connect,
    stream: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    asked = []

    @anthropic.beta_tool
    def search_orders(role: str, query: str) -> str:
        """Search for orders."""
        asked.append((role, query))
        return "nothing"

    body = {**asking(), "tools": [search_orders]}
    runner = connect(run()).beta.messages.tool_runner(**body, stream=stream)
    last = runner.until_done()

    assert asked == [("search", "order 0"), ("search", "order 1")]
    assert last.content[0].text == "2 results"


def test_a_stream_comes_in_the_providers_events(run: Run, connect: Connect) -> None:
    client = connect(run(script=both_then_ids))

    with client.messages.create(**asking(), stream=True) as stream:
        events = list(stream)

    kinds = [event.type for event in events if event.type != "content_block_delta"]
    block = ["content_block_start", "content_block_stop"]
    assert kinds == ["message_start", *block * 4, "message_delta", "message_stop"]
    begun = [event.content_block for event in events if event.type == "content_block_start"]
    assert [block.type for block in begun] == ["text", "tool_use", "tool_use", "tool_use"]
    assert [block.input for block in begun[1:]] == [{}, {}, {}]
    start, end = events[0].message, events[-2]
    assert (start.stop_reason, end.delta.stop_reason) == (None, "tool_use")
    assert start.usage.output_tokens == 1
    assert end.usage.input_tokens == start.usage.input_tokens > 0
    assert end.usage.output_tokens > 1


# -- several calls


@pytest.mark.parametrize("talk", [plain, streamed])
def test_parallel_calls_have_ids_of_one_turn(run: Run, connect: Connect, talk: Talk) -> None:
    client, body = connect(run(script=both_then_ids)), asking()
    message = talk(client, body)

    (turn,), answer = loop(client, body, talk)

    assert message.content[0].text == "On it."
    assert [call.name for call in turn] == ["search_orders", "refund_order", "search_orders"]
    assert [call.id.rsplit("_", 2)[1:] for call in turn] == [["0", "0"], ["0", "1"], ["0", "2"]]
    assert answer == " ".join(call.id for call in turn)


@pytest.mark.parametrize("kind", ["auto", "any"])
def test_calls_come_one_by_one_where_several_are_forbidden(
    run: Run, connect: Connect, kind: str
) -> None:
    client = connect(run(script=both_then_ids))
    choice = {"type": kind, "disable_parallel_tool_use": True}
    body, ids, messages = asking(tool_choice=choice), [], []
    for _ in range(3):
        message = client.messages.create(**body)
        (call,) = calls_of(message)
        ids.append(call.id)
        messages.append(message.id)
        body["messages"] += answered(message)
    last = client.messages.create(**{**body, "tool_choice": {"type": "auto"}})

    assert [each.rsplit("_", 2)[1:] for each in ids] == [["0", "0"], ["0", "1"], ["0", "2"]]
    assert last.content[0].text == " ".join(ids)
    # Frameworks that keep messages by id would lose all but one of equal ids.
    assert len({*messages, last.id}) == 4


# -- tool_choice


def test_auto_lets_the_model_talk_and_any_does_not(run: Run, connect: Connect) -> None:
    client = connect(run(script=write_once, roles=("search", "write")))
    history = answered(client.messages.create(**asking(tool_choice={"type": "any"})))

    free = client.messages.create(**asking(*history, tool_choice={"type": "auto"}))
    made = client.messages.create(**asking(*history, tool_choice={"type": "any"}))

    assert free.content[0].text == "Done."
    assert [(made.stop_reason, call.name) for call in calls_of(made)] == [
        ("tool_use", "refund_order")
    ]


def test_a_named_tool_is_the_only_one_called(run: Run, connect: Connect) -> None:
    client = connect(run(script=both_then_ids, roles=("search", "write")))
    named = {"type": "tool", "name": "refund_order"}

    message = client.messages.create(**asking(tool_choice=named))

    assert [call.name for call in calls_of(message)] == ["refund_order"]


def test_none_withholds_the_calls(run: Run, connect: Connect) -> None:
    running = run(script=write_once)

    message = connect(running).messages.create(**asking(tool_choice={"type": "none"}))

    assert (message.stop_reason, calls_of(message)) == ("end_turn", [])
    assert "tool_choice to none" in running.server.withheld[0]


# -- words in a shape


class Verdict(pydantic.BaseModel):
    refunded: bool
    reason: str


def test_words_take_the_shape_that_the_request_asks_for(run: Run, connect: Connect) -> None:
    client = connect(run(script=write_once))
    history = answered(client.messages.create(**asking()))

    parsed = client.messages.parse(**asking(*history), output_format=Verdict)
    in_beta = client.beta.messages.parse(**asking(*history), output_format=Verdict)
    with client.messages.stream(**asking(*history), output_format=Verdict) as stream:
        told = stream.get_final_message()

    assert parsed.parsed_output == Verdict(refunded=False, reason="")
    assert in_beta.parsed_output == told.parsed_output == parsed.parsed_output


# -- retries and errors


class LosesAnswers(httpx2.BaseTransport):
    """Loses the first answer to every turn, after the server gave it."""

    def __init__(self) -> None:
        self.inner = httpx2.HTTPTransport(**PLAIN)
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


@pytest.mark.parametrize("talk", [plain, streamed])
def test_a_retry_of_the_sdk_gets_the_same_move(run: Run, connect: Connect, talk: Talk) -> None:
    running = run()
    loses = httpx2.Client(transport=LosesAnswers())

    turns, answer = loop(connect(running, http_client=loses, max_retries=2), asking(), talk)

    assert (len(turns), answer) == (2, "2 results")
    assert [(seen.turn, seen.repeat) for seen in running.observed] == [
        (0, False),
        (0, True),
        (1, False),
        (1, True),
        (2, False),
        (2, True),
    ]
    assert running.observed[0].move == running.observed[1].move


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, anthropic.BadRequestError),
        (401, anthropic.AuthenticationError),
        (403, anthropic.PermissionDeniedError),
        (404, anthropic.NotFoundError),
        (429, anthropic.RateLimitError),
        (500, anthropic.InternalServerError),
        (529, anthropic.OverloadedError),
    ],
)
@pytest.mark.parametrize("talk", [plain, streamed])
def test_errors_are_the_sdks_own(
    run: Run, connect: Connect, talk: Talk, status: int, error: Any
) -> None:
    client = connect(run(faults=[Status(status=status, message="not now")]))

    with pytest.raises(error, match="not now") as caught:
        talk(client, asking())

    assert caught.value.status_code == status
    assert isinstance(caught.value.type, str)


def test_a_request_that_can_only_fail_is_not_tried_again(run: Run, connect: Connect) -> None:
    running = run()
    seen: list[int] = []
    counting = httpx2.Client(**PLAIN, event_hooks={"request": [lambda _: seen.append(1)]})
    client = connect(running, http_client=counting, max_retries=5)

    with pytest.raises(anthropic.NotFoundError, match="there is no model 'gpt'"):
        client.models.retrieve("gpt")

    assert len(seen) == 1


def test_a_cut_stream_is_no_answer(run: Run, connect: Connect) -> None:
    client = connect(run(faults=[CutStream(after=4)]))

    with pytest.raises((httpx2.HTTPError, anthropic.APIError)):
        streamed(client, asking())
    assert streamed(client, asking()).stop_reason == "tool_use"


# -- sizes


@pytest.mark.parametrize("talk", [plain, streamed])
def test_agent_and_observer_keep_the_same_books(run: Run, connect: Connect, talk: Talk) -> None:
    running = run()

    usage = talk(connect(running), asking()).usage

    (seen,) = running.observed
    assert (usage.input_tokens, usage.output_tokens) == (seen.prompt_tokens, seen.completion_tokens)
    assert (usage.cache_creation_input_tokens, usage.cache_read_input_tokens) == (0, 0)


def test_tokens_are_counted_without_asking_the_script(run: Run, connect: Connect) -> None:
    running = run()
    client, body = connect(running), asking()
    told = client.messages.create(**body).usage.input_tokens
    del body["max_tokens"]

    counted = client.messages.count_tokens(**body).input_tokens

    assert (counted, len(running.observed)) == (told, 1)


@pytest.mark.parametrize("talk", [plain, streamed, in_beta])
def test_a_missing_usage_is_unknown_and_breaks_no_client(
    run: Run, connect: Connect, talk: Talk
) -> None:
    message = talk(connect(run(faults=[NoUsage()])), asking())

    assert (message.usage.input_tokens, message.usage.output_tokens) == (None, None)
    assert calls_of(message)


# -- what cannot be a call


def test_broken_arguments_are_none_in_a_body_and_broken_in_a_stream(
    run: Run, connect: Connect
) -> None:
    client = connect(run(faults=[MalformedArguments()]))

    whole = client.messages.create(**asking())
    with client.messages.create(**asking(), stream=True) as stream:
        deltas = [event.delta for event in stream if event.type == "content_block_delta"]
    again = client.messages.create(**asking(*answered(whole)))

    assert [call.input for call in calls_of(whole)] == [{}]
    assert "".join(each.partial_json for each in deltas) == '"role":"search","query":"order 0"}'
    assert [call.input["query"] for call in calls_of(again)] == ["order 0"]


def test_no_client_completes_broken_arguments(run: Run, connect: Connect) -> None:
    (call,) = calls_of(streamed(connect(run(faults=[MalformedArguments()])), asking()))

    # The model makes the same call at the next turn: done here too, it would be done twice.
    assert not isinstance(call.input, dict)


# -- models, and where they are


def test_models_are_listed_as_the_provider_does(run: Run, connect: Connect) -> None:
    client = connect(run())

    (model,) = client.models.list()

    assert (model.id, model.type, model.lifecycle) == ("tripwire-scripted", "model", "active")
    assert client.models.retrieve(model.id) == model


def test_the_environment_leads_a_client_here(monkeypatch: pytest.MonkeyPatch) -> None:
    messages = []

    def agent(task: Any) -> str:
        for name, value in task.model.env.items():
            monkeypatch.setenv(name, value)
        with anthropic.Anthropic(http_client=httpx2.Client(**PLAIN)) as client:
            body = asking(tools=task.tools.schemas("anthropic"))
            messages.append(client.messages.create(**body))
        return "done"

    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "the-user's-own")
    Harness("empty-search", agent).run()

    assert [message.stop_reason for message in messages] == ["tool_use"]
