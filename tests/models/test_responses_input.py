"""What a Responses request says of its conversation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.models import (
    Asked,
    Calls,
    Conversation,
    Message,
    ModelServer,
    Move,
    Propose,
    RequestError,
    Say,
    Seen,
)
from pytest_tripwire.models.wire.chat import ChatCompletions
from pytest_tripwire.models.wire.responses import Responses
from pytest_tripwire.models.wire.responses.items import read_messages

TOOLS = [{"type": "function", "name": name} for name in ("search", "write")]
KEY = "0123456789abcdef"


def parse(given: Any, **more: Any) -> Asked:
    return Responses().parse({"input": given, "tools": TOOLS, **more})


def read(*items: dict[str, Any]) -> Conversation:
    return parse([{"role": "user", "content": "Refund A-1"}, *items]).conversation


def call(call_id: str) -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": "search", "arguments": "{}"}


def result(call_id: str, output: Any = "found") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def words(text: str = "On it.", **more: Any) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "role": "assistant", "content": content, **more}


REASONING = {"type": "reasoning", "id": "rs_1", "summary": []}


def test_a_text_is_what_a_list_with_it_is() -> None:
    text, easy = "Refund A-1", {"role": "user", "content": "Refund A-1"}
    parts = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}

    assert (
        parse(text).conversation.key
        == parse([easy]).conversation.key
        == parse([parts]).conversation.key
        != parse("Refund B-2").conversation.key
    )


def test_the_order_of_names_in_an_item_does_not_make_another_request() -> None:
    item = {"role": "user", "content": "Refund A-1"}
    digests = [parse([each]).echo["digest"] for each in (item, dict(reversed(item.items())))]

    assert digests[0] == digests[1] != parse("Refund A-1").echo["digest"]


@pytest.mark.parametrize("role", ["system", "developer"])
def test_instructions_and_leading_messages_of_the_system_make_the_system_prompt(role: str) -> None:
    user = {"role": "user", "content": "Refund A-1"}
    leading = [{"role": role, "content": "You are support."}, user]

    given = parse([user], instructions="You are support.").conversation.key
    assert parse(leading).conversation.key == given
    assert parse([user]).conversation.key != given
    assert parse(leading, instructions="Be brief.").conversation.key != given


def test_the_items_of_one_turn_are_one_move() -> None:
    turn = [REASONING, words(), call("a"), call("b")]

    assert read(*turn, result("a"), result("b")).turn == 1
    assert read(*turn, result("a"), result("b"), *turn, result("a"), result("b")).turn == 2


def test_calls_that_are_answered_one_by_one_are_as_many_moves() -> None:
    assert read(call("a"), result("a"), call("b"), result("b")).turn == 2


def test_two_turns_of_words_are_told_apart_by_their_ids() -> None:
    first, second, foreign = (f"msg_{KEY}_{turn}_{KEY}" for turn in (0, 1, "x"))

    assert read(words(id=first), words(id=second)).turn == 2
    assert read(words(id=first), words(id=first)).turn == 1
    assert read(words(id=foreign), words(id=first), words(id=foreign), words(id=second)).turn == 2


def test_a_call_of_our_own_ends_the_turn_before_it() -> None:
    own = f"call_{KEY}_1_0"

    assert read(words(id=f"msg_{KEY}_0_{KEY}"), call(own)).turn == 2
    assert read(words(id=f"msg_{KEY}_1_{KEY}"), call(own)).turn == 2


def test_a_reference_to_our_own_call_is_that_call() -> None:
    reference = {"type": "item_reference", "id": f"fc_{KEY}_3_0"}
    conversation = read(reference, result(f"call_{KEY}_3_0"))

    assert (conversation.turn, conversation.unasked, conversation.unanswered) == (4, (), ())
    assert read({"id": "msg_1"}).turn == 1


@pytest.mark.parametrize(
    "output",
    [
        "found A-1",
        [{"type": "input_text", "text": "found "}, {"type": "input_text", "text": "A-1"}],
        [
            {"type": "input_image", "image_url": "data:"},
            {"type": "input_text", "text": "found A-1"},
        ],
    ],
)
def test_results_are_read(output: Any) -> None:
    conversation = read(call("a"), result("a", output))

    assert [(each.call_id, each.text) for each in conversation.results] == [("a", "found A-1")]


def test_a_refusal_of_a_tool_is_seen() -> None:
    refused = [{"type": "input_text", "text": '{"refused": true}'}]

    assert read(call("a"), result("a", refused)).results[0].refused


def test_the_text_of_parts_is_joined() -> None:
    content = [{"type": "output_text", "text": "I can"}, {"type": "refusal", "refusal": "not."}]

    assert read_messages([words(), words("", content=content)]) == (
        Message(role="assistant", text="On it.I cannot."),
    )


def test_items_of_other_kinds_are_taken() -> None:
    steps: list[dict[str, Any]] = [
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        {"type": "custom_tool_call", "call_id": "c", "name": "sql", "input": "select"},
        {"type": "mcp_approval_response", "approval_request_id": "m", "approve": True},
        {"type": "custom_tool_call_output", "call_id": "c", "output": "rows"},
        {"type": "shell_call_output", "call_id": "s", "output": [{"stdout": "x"}]},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
    ]
    conversation = read(*steps)

    assert conversation.turn == 2
    assert [each.text for each in conversation.all_results] == ["rows", ""]
    assert conversation.unanswered == ()


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "input"),
        ({"input": []}, "input"),
        ({"input": None}, "input"),
        ({"input": 3}, "input"),
        ({"input": ["x"]}, "input[0]"),
        ({"input": [{"content": "x"}]}, "input[0].type"),
        ({"input": [{"type": 3, "role": "user", "content": "x"}]}, "input[0].type"),
        ({"input": [{"type": "nonsense"}]}, "input[0].type"),
        ({"input": [{"role": "tool", "content": "x"}]}, "input[0].role"),
        ({"input": [{"role": "user"}]}, "input[0].content"),
        ({"input": [{"role": "user", "content": [3]}]}, "input[0].content[0]"),
        ({"input": [call("a"), {**call("a"), "arguments": {}}]}, "input[1].arguments"),
        ({"input": [{"type": "function_call_output", "output": "x"}]}, "input[0].call_id"),
        ({"input": "x", "tools": [{"name": "search"}]}, "tools[0].type"),
        ({"input": "x", "tools": [{"type": "function", "function": {}}]}, "tools[0].name"),
        ({"input": "x", "tools": [TOOLS[0], {**TOOLS[0], "parameters": 3}]}, "tools[1].parameters"),
        ({"input": "x", "tool_choice": {"type": "file_search"}}, "tool_choice"),
        ({"input": "x", "text": {"format": "json"}}, "text.format"),
        ({"input": "x", "metadata": {"a": 1}}, "metadata[...]"),
        ({"input": "x", "temperature": "hot"}, "temperature"),
        ({"input": "x", "stream": 1}, "stream"),
        ({"input": "x", "background": True}, "background"),
        ({"input": "x", "conversation": "conv_1"}, "conversation"),
        ({"input": "x", "conversation": {"id": "conv_1"}}, "conversation"),
        ({"input": "x", "prompt": {"id": "pmpt_1"}}, "prompt"),
        ({"input": "x", "previous_response_id": "resp_1"}, "previous_response_id"),
        ({"previous_response_id": ""}, "previous_response_id"),
    ],
)
def test_what_the_provider_would_refuse_is_refused_by_its_place(
    body: dict[str, Any], param: str
) -> None:
    with pytest.raises(RequestError) as caught:
        Responses().parse(body)

    place = (caught.value.param or "").replace("input[...]", "input[0]")
    assert (caught.value.status, place.replace("content[...]", "content[0]")) == (400, param)


@pytest.mark.parametrize("name", ["background", "conversation", "prompt", "tools", "text", "store"])
def test_a_null_is_as_good_as_nothing(name: str) -> None:
    assert parse("x", **{name: None}).conversation.turn == 0


def test_previous_alone_may_leave_the_input_out() -> None:
    dialect = Responses()
    server = ModelServer(script=lambda _: Say(text="Yes."), binder=Plain(), observe=lambda _: None)
    asked = dialect.parse({"input": "Hello", "tools": TOOLS})
    given = server.exchange.answer(asked.conversation)
    body = dialect.render(asked, given.answer, given.usage)

    again = dialect.parse({"previous_response_id": body["id"], "tools": TOOLS})

    assert (again.conversation.turn, again.conversation.key) == (1, asked.conversation.key)


# -- by whatever road the history comes, it is the same


class Plain:
    """Tools named after their roles."""

    def tool_name(self, role: str) -> str:
        return role

    def arguments(self, role: str, slots: Any) -> dict[str, Any]:
        return {"role": role, **slots}


#: Calls of each turn; none for words alone, after which the user goes on.
STORIES = st.lists(st.integers(0, 3), min_size=1, max_size=5)


def scripted(story: list[int], *, says: str) -> ModelServer:
    def script(seen: Seen) -> Move:
        count = story[seen.turn] if seen.turn < len(story) else 0
        if not count:
            return Say(text=says or "Well.")
        return Calls(proposals=tuple(Propose(role="search") for _ in range(count)), says=says)

    return ModelServer(script=script, binder=Plain(), observe=lambda _seen: None)


def next_input(output: list[dict[str, Any]]) -> list[dict[str, Any]]:
    called = [result(item["call_id"]) for item in output if item["type"] == "function_call"]
    return called or [{"role": "user", "content": "And now?"}]


def played(
    story: list[int],
    *,
    chained: bool = False,
    one_call: bool = False,
    says: str = "",
    change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]] = list,
) -> list[Conversation]:
    """The conversations that the requests of an agent say, one for each request."""
    server, dialect = scripted(story, says=says), Responses()
    first = {"role": "user", "content": "Refund A-1"}
    fixed = {"tools": TOOLS, "parallel_tool_calls": not one_call}
    body: dict[str, Any] = {**fixed, "input": [first], "instructions": "You are support."}
    seen = []
    for _ in range(sum(max(1, n) for n in story) if one_call else len(story)):
        asked = dialect.parse(body)
        seen.append(asked.conversation)
        given = server.exchange.answer(asked.conversation)
        response = dialect.render(asked, given.answer, given.usage)
        output = change(response["output"])
        if chained:
            previous = {"previous_response_id": response["id"]}
            body = {**fixed, **previous, "input": next_input(output)}
        else:
            body = {**body, "input": [*body["input"], *output, *next_input(output)]}
    return seen


def without_our_ids(output: list[dict[str, Any]]) -> list[dict[str, Any]]:
    ids = ("id", "call_id")
    return [{n: f"x{v}" if n in ids else v for n, v in item.items()} for item in output]


def calls_first(output: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(output, key=lambda item: str(item["type"]))


def signature(conversation: Conversation) -> Any:
    results = [each.call_id for each in conversation.results]
    everything = [each.call_id for each in conversation.all_results]
    told = (conversation.unanswered, conversation.unasked)
    return (conversation.key, conversation.turn, conversation.made, results, everything, told)


@settings(max_examples=40)
@given(story=STORIES, one_call=st.booleans(), says=st.sampled_from(["", "On it."]))
def test_a_history_by_its_last_response_is_the_history(
    story: list[int],
    one_call: bool,  # noqa: FBT001 - Hypothesis draws it
    says: str,
) -> None:
    whole = played(story, one_call=one_call, says=says)
    chained = played(story, chained=True, one_call=one_call, says=says)

    assert [signature(each) for each in chained] == [signature(each) for each in whole]
    turns = [each.turn for each in whole]
    if not one_call:
        assert turns == list(range(len(story)))
    assert [each.unasked for each in whole] == [()] * len(whole)
    assert [each.unanswered for each in whole] == [()] * len(whole)


@settings(max_examples=40)
@given(story=STORIES, says=st.sampled_from(["", "On it."]))
def test_turns_are_counted_when_ids_are_not_ours(story: list[int], says: str) -> None:
    seen = played(story, says=says, change=without_our_ids)

    assert [each.turn for each in seen] == list(range(len(story)))


@settings(max_examples=40)
@given(story=STORIES, one_call=st.booleans())
def test_the_order_of_a_turns_items_does_not_matter(
    story: list[int],
    one_call: bool,  # noqa: FBT001 - Hypothesis draws it
) -> None:
    seen = played(story, one_call=one_call, says="On it.", change=calls_first)
    plain = played(story, one_call=one_call, says="On it.")

    assert [signature(each) for each in seen] == [signature(each) for each in plain]


@settings(max_examples=40)
@given(story=STORIES)
def test_chat_completions_reads_the_same_conversation(story: list[int]) -> None:
    server, chat = scripted(story, says=""), ChatCompletions()
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You are support."},
        {"role": "user", "content": "Refund A-1"},
    ]
    tools = [{"type": "function", "function": tool} for tool in TOOLS]
    seen = []
    for _ in story:
        asked = chat.parse({"messages": messages, "tools": tools})
        seen.append(asked.conversation)
        given = server.exchange.answer(asked.conversation)
        message = chat.render(asked, given.answer, given.usage)["choices"][0]["message"]
        calls = [each["id"] for each in message.get("tool_calls", [])]
        told = [{"role": "tool", "tool_call_id": each, "content": "found"} for each in calls]
        messages += [message, *(told or [{"role": "user", "content": "And now?"}])]

    assert [signature(each) for each in played(story)] == [signature(each) for each in seen]
