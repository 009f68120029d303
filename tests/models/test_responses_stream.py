"""A streamed Responses response is the plain one in pieces."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import openai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.models import Calls, ModelServer, Move, Propose, Say, Seen
from pytest_tripwire.models.faults import CutStream
from pytest_tripwire.models.wire.responses import Responses
from pytest_tripwire.models.wire.sse import Event

Run = Callable[..., Any]
TOOLS = [{"type": "function", "name": name} for name in ("search", "write")]
BODY = {"input": "Refund A-1", "tools": TOOLS, "stream": True}

MOVES: st.SearchStrategy[Move] = st.builds(lambda text: Say(text=text), st.text()) | st.builds(
    lambda proposals, says: Calls(proposals=tuple(proposals), says=says),
    st.lists(
        st.builds(
            lambda role, slots: Propose(role=role, slots=slots),
            st.sampled_from(["search", "write"]),
            st.dictionaries(st.text(), st.text() | st.integers(0, 9) | st.none(), max_size=3),
        ),
        min_size=1,
        max_size=3,
    ),
    st.text(),
)


class Plain:
    """Tools named after their roles."""

    def tool_name(self, role: str) -> str:
        return role

    def arguments(self, role: str, slots: Any) -> dict[str, Any]:
        return {"role": role, **slots}


def said(move: Move) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The plain body of a move, and the events of its stream."""

    def script(_seen: Seen) -> Move:
        return move

    dialect = Responses()
    asked = dialect.parse(BODY)
    server = ModelServer(script=script, binder=Plain(), observe=lambda _seen: None)
    given = server.exchange.answer(asked.conversation)
    plain = dialect.render(asked, given.answer, given.usage)
    return plain, [data_of(each) for each in dialect.stream(asked, given.answer, given.usage)]


def data_of(sent: Event) -> dict[str, Any]:
    data = json.loads(sent.data)
    assert sent.event == data["type"]
    return dict(data)


def gathered(events: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The output that the pieces of a stream add up to."""
    output: list[dict[str, Any]] = []
    for each in events:
        match each["type"]:
            case "response.output_item.added":
                assert each["output_index"] == len(output)
                output.append(each["item"])
            case "response.content_part.added":
                content = output[each["output_index"]]["content"]
                assert each["content_index"] == len(content)
                content.append(each["part"])
            case "response.output_text.delta":
                part = output[each["output_index"]]["content"][each["content_index"]]
                part["text"] += each["delta"]
            case "response.function_call_arguments.delta":
                output[each["output_index"]]["arguments"] += each["delta"]
            case "response.output_item.done":
                output[each["output_index"]]["status"] = each["item"]["status"]
    return output


@settings(max_examples=40)
@given(move=MOVES)
def test_a_stream_adds_up_to_the_plain_response(move: Move) -> None:
    plain, events = said(move)

    assert [each["sequence_number"] for each in events] == list(range(len(events)))
    assert events[-1]["type"] == "response.completed"
    assert events[-1]["response"] == plain
    assert gathered(events) == plain["output"]


@settings(max_examples=40)
@given(move=MOVES)
def test_what_is_done_is_whole(move: Move) -> None:
    plain, events = said(move)

    items = [each["item"] for each in events if each["type"] == "response.output_item.done"]
    assert items == plain["output"]
    for each in events:
        item = plain["output"][each.get("output_index", 0)]
        if "item_id" in each:
            assert each["item_id"] == item["id"]
        if each["type"] == "response.output_text.done":
            assert each["text"] == item["content"][0]["text"]
        if each["type"] == "response.content_part.done":
            assert each["part"] == item["content"][0]
        if each["type"] == "response.function_call_arguments.done":
            assert (each["name"], each["arguments"]) == (item["name"], item["arguments"])
    kinds = Counter(each["type"] for each in events)
    assert kinds["response.output_text.done"] == kinds["response.content_part.done"]
    assert kinds["response.function_call_arguments.done"] + kinds[
        "response.output_text.done"
    ] == len(items)


def test_what_is_under_way_is_empty() -> None:
    _, events = said(Calls(proposals=(Propose(role="search"),), says="On it."))

    created, in_progress = events[:2]
    assert (created["type"], in_progress["type"]) == ("response.created", "response.in_progress")
    assert created["response"] == in_progress["response"]
    assert created["response"]["status"] == "in_progress"
    assert (created["response"]["output"], created["response"]["usage"]) == ([], None)
    message, call = (e["item"] for e in events if e["type"] == "response.output_item.added")
    assert (message["status"], message["content"]) == ("in_progress", [])
    assert (call["status"], call["arguments"]) == ("in_progress", "")


def test_words_and_arguments_come_in_the_order_of_the_protocol() -> None:
    _, events = said(Calls(proposals=(Propose(role="search"),), says="On it."))

    kinds = list(dict.fromkeys(each["type"].removeprefix("response.") for each in events))
    assert kinds == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "completed",
    ]


def test_the_sdk_reads_every_event_and_its_end(run: Run) -> None:
    running = run(script=lambda _: Calls(proposals=(Propose(role="search"),), says="On it."))
    tools: list[Any] = [{**each, "name": f"{each['name']}_order"} for each in TOOLS]
    tools[0]["name"] = "search_orders"
    with openai.OpenAI(base_url=running.url, api_key="any") as client:
        events = list(client.responses.create(input="Refund A-1", tools=tools, stream=True))
        plain = client.responses.create(input="Refund A-1", tools=tools)

    last = events[-1]
    assert [each.sequence_number for each in events] == list(range(len(events)))
    assert last.type == "response.completed"
    assert last.response == plain


def test_a_stream_that_is_cut_has_no_end(run: Run) -> None:
    running = run(faults=(CutStream(turn=0, after=2),))
    with openai.OpenAI(base_url=running.url, api_key="any", max_retries=0) as client:
        stream = client.responses.create(input="Hello", stream=True)
        events = [next(stream).type, next(stream).type]
        with pytest.raises(openai.APIConnectionError):
            next(stream)

    assert events == ["response.created", "response.in_progress"]
