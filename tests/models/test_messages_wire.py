"""Anthropic's Messages byte by byte: what is read of requests, and what goes out."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_tripwire.models import Calls, Conversation, Move, Propose, RequestError, Say, Seen
from pytest_tripwire.models.answer import Answer, BoundCall
from pytest_tripwire.models.choice import Choice
from pytest_tripwire.models.faults import NoUsage, Status
from pytest_tripwire.models.tokens import Usage
from pytest_tripwire.models.wire.messages import AnthropicMessages
from pytest_tripwire.models.wire.messages.threads import Thread, Threads

Run = Callable[..., Any]

PATH = "/v1/messages"
COUNT = "/v1/messages/count_tokens"
SIGN = {"anthropic-version": "2023-06-01"}
SCHEMA = {"type": "object", "properties": {}}
TOOLS = [{"name": name, "input_schema": SCHEMA} for name in ("search_orders", "refund_order")]


def asking(*history: Any, **more: Any) -> dict[str, Any]:
    """A request body; keywords change it, None leaves a part out."""
    body = {
        "model": "any",
        "max_tokens": 1000,
        "system": "You are support.",
        "messages": [{"role": "user", "content": "Refund A-1"}, *history],
        "tools": TOOLS,
        **more,
    }
    return {name: each for name, each in body.items() if each is not None}


def said(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def told(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(call_id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "search_orders", "input": {}}


def result(call_id: str, content: Any = "nothing", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


def read(*history: Any, **more: Any) -> Conversation:
    return AnthropicMessages().parse(asking(*history, **more)).conversation


def refused(*history: Any, **more: Any) -> str:
    with pytest.raises(RequestError) as caught:
        read(*history, **more)
    assert caught.value.status == 400
    return caught.value.message


def exchange(running: Any, body: Any, path: str = PATH) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=20)
    try:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request("POST", path, data, SIGN)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def post(running: Any, body: Any, path: str = PATH) -> tuple[int, Any]:
    status, answer = exchange(running, body, path)
    return status, json.loads(answer)


def error_of(reply: tuple[int, Any]) -> tuple[int, str, str]:
    status, body = reply
    assert (set(body), body["type"]) == ({"type", "error", "request_id"}, "error")
    return status, body["error"]["type"], body["error"]["message"]


# -- what is read of a request


def test_a_system_prompt_is_the_same_in_blocks() -> None:
    blocks = [text("You are "), {**text("support."), "cache_control": {"type": "ephemeral"}}]

    assert read(system=blocks).key == read().key
    assert read(system=None).key != read().key


def test_each_result_of_a_message_answers_its_own_call() -> None:
    ids = [f"call_{'a' * 16}_0_{index}" for index in range(3)]
    lists = [text("two "), {"type": "image", "source": {}}, text("parts")]
    results = [
        result(ids[0], "one"),
        result(ids[1], lists, is_error=True),
        {"type": "tool_result", "tool_use_id": ids[2]},
    ]

    seen = read(said(*map(use, ids)), told(*results, text("Go on."))).seen()

    assert [(each.call_id, each.text) for each in seen.results] == [
        (ids[0], "one"),
        (ids[1], "two parts"),
        (ids[2], ""),
    ]
    assert seen.turn == 1


def test_a_refusal_in_blocks_is_seen() -> None:
    call = f"call_{'a' * 16}_0_0"
    refusal = [text('{"refused": true, "reason": "denied"}')]

    (seen,) = read(said(use(call)), told(result(call, refusal))).results

    assert seen.refused


def test_words_beside_results_are_no_first_message_of_the_users() -> None:
    call = f"call_{'a' * 16}_3_0"
    trimmed = [said(use(call)), told(result(call))]

    whole = AnthropicMessages().parse(asking(messages=trimmed)).conversation

    assert (whole.turn, whole.unanswered, whole.unasked) == (4, (), ())
    again = AnthropicMessages().parse(asking(messages=[*trimmed, told(text("Refund A-1"))]))
    assert again.conversation.thread == read().thread


def test_neighbouring_messages_of_the_assistants_are_one_turn() -> None:
    call = f"call_{'a' * 16}_0_0"
    parts = [said(text("Let me see.")), said(use(call)), said(text("One moment."))]

    assert read(*parts, told(result(call))).turn == 1
    assert read(said(text("Hello,")), said(text(" there")), told(text("Hi"))).turn == 1
    assert read(said(text("Hello")), told(text("Hi")), said(text("Well")), told(text(""))).turn == 2


def test_what_is_not_for_the_scripted_model_is_passed_over() -> None:
    searched = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": {}}
    own = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    picture = {"type": "image", "source": {"type": "url", "url": "x"}, "text": "unsaid"}
    blocks = [thought, {"type": "redacted_thinking", "data": "x"}, own, searched, text("Well.")]
    fetch = {"type": "web_fetch_20260318", "name": "web_fetch"}

    plain = read(said(text("Well.")))
    busy = read(said(*blocks), tools=[*TOOLS, fetch], thinking={"type": "adaptive"})

    assert (busy.key, busy.turn, busy.unanswered) == (plain.key, plain.turn, ())
    assert busy.offered == {"search_orders", "refund_order"}
    assert read(messages=[told(picture, text("Refund A-1"))]).key == plain.key


@pytest.mark.parametrize(
    ("given", "choice", "one_call"),
    [
        (None, Choice(), False),
        ({"type": "auto"}, Choice(), False),
        ({"type": "auto", "disable_parallel_tool_use": True}, Choice(), True),
        ({"type": "any", "disable_parallel_tool_use": True}, Choice(kind="required"), True),
        ({"type": "none"}, Choice(kind="none"), False),
        ({"type": "tool", "name": "refund_order"}, Choice(kind="tool", tool="refund_order"), False),
    ],
)
def test_a_choice_of_tools_is_read(given: Any, choice: Choice, one_call: bool) -> None:  # noqa: FBT001
    found = read(tool_choice=given)

    assert (found.choice, found.one_call) == (choice, one_call)


@pytest.mark.parametrize("where", ["output_config", "output_format"])
def test_a_schema_of_the_answer_is_read_where_any_sdk_puts_it(where: str) -> None:
    form = {"type": "json_schema", "schema": {"type": "array"}}
    given = {"effort": "low", "format": form} if where == "output_config" else form

    assert read(**{where: given}).schema == {"type": "array"}
    assert read(output_config={"effort": "low"}).schema is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"messages": []}, "`messages` is empty"),
        ({"messages": None}, "`messages`"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "messages[0].role"),
        ({"messages": [{"role": "user"}]}, "`content`"),
        ({"messages": [{"role": "user", "content": [{"text": "x"}]}]}, "`type`"),
        ({"messages": [told({"type": "tool_result", "content": "x"})]}, "tool_use_id"),
        ({"messages": [told(result("1", [{"text": "x"}]))]}, "tool_result"),
        ({"messages": [told(result("1", 3))]}, "tool_result"),
        ({"max_tokens": -1}, "max_tokens"),
        ({"max_tokens": "9"}, "max_tokens"),
        ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "OpenAI"),
        ({"tools": [{"name": "f"}]}, "`input_schema`"),
        ({"tools": [{"type": "custom", "input_schema": SCHEMA}]}, "`name`"),
        ({"tool_choice": "auto"}, "tool_choice"),
        ({"tool_choice": {"type": "required"}}, "tool_choice.type"),
        ({"tool_choice": {"type": "tool"}}, "tool_choice names no tool"),
        ({"system": 3}, "system"),
        ({"thread": {"type": "keep"}}, "thread.type"),
    ],
)
def test_what_the_provider_refuses_is_refused(change: dict[str, Any], words: str) -> None:
    assert words in refused(**change)


def test_an_answer_needs_max_tokens_and_a_count_does_not(run: Run) -> None:
    running, body = run(), asking(max_tokens=None)

    status, kind, message = error_of(post(running, body))
    counted = post(running, body, COUNT)

    assert (status, kind) == (400, "invalid_request_error")
    assert "max_tokens" in message
    assert (running.observed, running.server.requests) == ([], 0)
    assert counted == (200, {"input_tokens": read().prompt_tokens})


# -- what goes out


@pytest.mark.parametrize("stream", [False, True])
def test_equal_requests_get_equal_bytes_from_any_server(run: Run, stream: bool) -> None:  # noqa: FBT001
    body = asking(stream=stream)

    first, second = (exchange(run(), body) for _ in range(2))

    assert first == second
    assert first[0] == 200


def test_each_event_is_named_after_its_type(run: Run) -> None:
    body = exchange(run(), asking(stream=True))[1].decode()

    events = [event.split("\n") for event in body.strip().split("\n\n")]
    kinds = [name.removeprefix("event: ") for name, _ in events]
    assert kinds == [json.loads(data.removeprefix("data: "))["type"] for _, data in events]
    assert kinds[:2] == ["message_start", "ping"]
    assert kinds[-2:] == ["message_delta", "message_stop"]


def test_the_beta_path_is_the_same(run: Run) -> None:
    running = run()

    assert exchange(running, asking(), f"{PATH}?beta=true") == exchange(running, asking())


def test_a_response_has_all_that_the_provider_gives(run: Run) -> None:
    _, body = post(run(), asking(model="claude-x"))

    (block,) = body["content"]
    assert set(block) == {"type", "id", "name", "input"}
    assert {name: body[name] for name in ("type", "role", "model", "stop_reason")} == {
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "stop_reason": "tool_use",
    }
    assert body["stop_sequence"] is None
    assert body["id"].startswith("msg_")


def test_a_usage_that_is_not_told_is_unknown(run: Run) -> None:
    _, body = post(run(faults=[NoUsage()]), asking())

    assert body["usage"] == {"input_tokens": None, "output_tokens": None}


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (402, "billing_error"),
        (403, "permission_error"),
        (404, "not_found_error"),
        (408, "invalid_request_error"),
        (409, "conflict_error"),
        (413, "request_too_large"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (503, "api_error"),
        (504, "timeout_error"),
        (529, "overloaded_error"),
    ],
)
def test_errors_have_the_providers_types(run: Run, status: int, kind: str) -> None:
    running = run(faults=[Status(status=status, message="no", code="why")])

    found, body = post(running, asking())

    assert error_of((found, body)) == (status, kind, "no")
    assert body["error"]["details"] == {"error_code": "why"}


def test_clients_of_the_provider_are_told_by_their_header(run: Run) -> None:
    running = run()

    assert error_of(running.send("POST", "/v1/complete", b"{}", SIGN))[:2] == (
        404,
        "not_found_error",
    )
    assert "error" in running.send("POST", "/v1/complete", b"{}")[1]
    theirs = running.send("GET", "/v1/models", None, SIGN)[1]
    assert theirs == {
        "data": [
            {
                "type": "model",
                "id": "tripwire-scripted",
                "display_name": "Scripted model",
                "created_at": "2026-01-01T00:00:00Z",
                "lifecycle": "active",
            }
        ],
        "has_more": False,
        "first_id": "tripwire-scripted",
        "last_id": "tripwire-scripted",
    }
    assert running.send("GET", "/v1/models/tripwire-scripted", None, SIGN)[1] == theirs["data"][0]
    assert running.send("GET", "/v1/models")[1]["object"] == "list"


# -- threads


def two_words(seen: Seen) -> Move:
    if seen.turn == 0:
        return Calls(proposals=(Propose(role="search"),), says="On it.")
    return Say(text=" ".join(each.text for each in seen.all_results))


def create(body: dict[str, Any]) -> dict[str, Any]:
    return {**body, "thread": {"type": "create"}}


def continued(response: dict[str, Any], *new: Any, **more: Any) -> dict[str, Any]:
    thread = {"type": "continue", "previous_message_id": response["id"]}
    return asking(messages=list(new), tools=None, system=None, thread=thread, **more)


def test_a_thread_goes_on_as_the_whole_history_would(run: Run) -> None:
    running = run(script=two_words)
    first = post(running, create(asking()))[1]
    answer = told(result(first["content"][1]["id"], "found"))
    _, whole = post(running, asking(said(*first["content"]), answer))

    for _ in range(2):  # a request that is sent again gets the same
        assert post(running, continued(first, answer)) == (200, whole)
    assert whole["content"] == [text("found")]
    _, third = post(running, continued(whole, told(text("And?"))))
    assert third["content"] == [text("found")]


def test_a_stream_can_be_continued(run: Run) -> None:
    running = run(script=two_words)
    _, plain = post(running, asking())
    exchange(running, create(asking(stream=True)))

    answer = told(result(plain["content"][1]["id"], "found"))

    assert post(running, continued(plain, answer))[0] == 200


def test_only_a_thread_is_held(run: Run) -> None:
    running = run()
    _, first = post(running, asking())

    status, body = post(running, continued(first, told(text("Go on."))))

    assert error_of((status, body))[:2] == (404, "not_found_error")
    assert body["error"]["details"] == {"error_code": "thread_not_found"}


def test_what_a_thread_was_created_with_stays(run: Run) -> None:
    running = run()
    _, first = post(running, create(asking()))

    status, kind, message = error_of(
        post(running, {**continued(first, told(text("x"))), "tools": TOOLS})
    )

    assert (status, kind) == (400, "invalid_request_error")
    assert "`tools`" in message


@pytest.mark.parametrize("messages", ["Go on.", None])
def test_a_thread_is_continued_by_messages_only(run: Run, messages: Any) -> None:
    running = run()
    _, first = post(running, create(asking()))

    body = {**continued(first), "messages": messages}

    assert error_of(post(running, body))[0] == 400
    assert running.server.error is None


def test_threads_with_unequal_histories_do_not_mix(run: Run) -> None:
    running = run(script=two_words)
    _, first = post(running, create(asking()))
    call = first["content"][1]["id"]
    replies = [post(running, continued(first, told(result(call, w))))[1] for w in ("a", "b")]

    last = [post(running, continued(each, told(text("And?"))))[1] for each in replies]

    assert [each["content"] for each in last] == [[text("a")], [text("b")]]


def test_what_nobody_asks_for_is_forgotten_first() -> None:
    threads = Threads(most=2)
    for name in "ab":
        threads.hold(name, {"messages": [name]})
    going_on = {"messages": ["new"]}
    assert threads.whole(go_on("a"), going_on)["messages"] == ["a", "new"]

    threads.hold("c", {"messages": ["c"]})

    assert threads.whole(go_on("a"), going_on)["messages"] == ["a", "new"]
    with pytest.raises(RequestError, match="'b'"):
        threads.whole(go_on("b"), going_on)


def test_the_size_of_what_is_held_is_bounded() -> None:
    told_large = {"messages": ["x" * 40]}
    size = len(json.dumps(told_large, separators=(",", ":")))
    threads = Threads(most_bytes=2 * size)
    for name in "abcac":
        threads.hold(name, told_large)
    threads.hold("d", {"messages": ["x" * 200]})

    for name in "ca":
        assert threads.whole(go_on(name), {"messages": []}) == told_large
    for name in "bd":
        with pytest.raises(RequestError):
            threads.whole(go_on(name), {"messages": []})


def go_on(response_id: str) -> Thread:
    return Thread(type="continue", previous_message_id=response_id)


# -- properties


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=10,
)


def sometimes(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(strategy, strategy, strategy, JSON)


IDS = st.from_regex(r"call_[0-9a-f]{16}_[0-9]{1,6}_[0-9]", fullmatch=True) | st.text(max_size=8)
KINDS = st.sampled_from(["text", "tool_use", "tool_result", "thinking", "image"])
BLOCKS = st.fixed_dictionaries(
    {"type": sometimes(KINDS)},
    optional={
        "text": sometimes(st.text(max_size=8)),
        "id": sometimes(IDS),
        "tool_use_id": sometimes(IDS),
        "content": sometimes(st.text(max_size=8) | st.lists(st.builds(text, st.text()))),
    },
)
MESSAGES = st.fixed_dictionaries(
    {
        "role": sometimes(st.sampled_from(["user", "assistant", "system"])),
        "content": sometimes(st.text(max_size=8) | st.lists(sometimes(BLOCKS), max_size=3)),
    },
)
OFFERED = st.fixed_dictionaries(
    {"name": sometimes(st.just("search_orders")), "input_schema": sometimes(st.just(SCHEMA))},
    optional={"type": sometimes(st.sampled_from(["custom", "bash_20250124"]))},
)
REQUESTS = st.fixed_dictionaries(
    {
        "messages": sometimes(st.lists(sometimes(MESSAGES), max_size=4)),
        "max_tokens": sometimes(st.just(9)),
    },
    optional={
        "model": sometimes(st.just("any")),
        "system": sometimes(st.text(max_size=8) | st.lists(BLOCKS, max_size=2)),
        "tools": sometimes(st.lists(OFFERED, max_size=2)),
        "tool_choice": sometimes(
            st.fixed_dictionaries(
                {"type": sometimes(st.sampled_from(["none", "auto", "any", "tool"]))},
                optional={"name": st.text(), "disable_parallel_tool_use": st.booleans()},
            )
        ),
        "stream": sometimes(st.just(value=False)),
        "thread": sometimes(
            st.fixed_dictionaries(
                {"type": st.sampled_from(["create", "continue"])},
                optional={"previous_message_id": IDS},
            )
        ),
        "output_config": sometimes(
            st.fixed_dictionaries(
                {"format": st.fixed_dictionaries({"type": st.just("json_schema"), "schema": JSON})}
            )
        ),
    },
)


@pytest.fixture
def shared(run: Run) -> Any:
    return run(max_requests=10**9)


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(body=sometimes(REQUESTS) | JSON)
def test_no_json_breaks_the_server(shared: Any, body: Any) -> None:
    status, answer = post(shared, body)

    assert status in (200, 400, 404), answer
    assert ("content" in answer) == (status == 200)
    assert shared.server.error is None


ARGUMENTS = st.dictionaries(
    st.text(max_size=8),
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=40),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
        max_leaves=6,
    ),
    max_size=4,
)
CALLS = st.builds(BoundCall, call_id=IDS, tool=st.text(max_size=12), arguments=ARGUMENTS)
ANSWERS = st.builds(Answer, move=st.builds(Say, text=st.text(max_size=60))) | st.builds(
    Answer,
    move=st.builds(
        Calls, proposals=st.just((Propose(role="search"),)), says=st.just("") | st.text(max_size=60)
    ),
    calls=st.lists(CALLS, min_size=1, max_size=3).map(tuple),
)
USAGES = st.none() | st.builds(Usage, prompt=st.integers(0, 9999), completion=st.integers(1, 9999))


def accumulated(events: list[dict[str, Any]]) -> dict[str, Any]:
    """The message that a client puts together from a stream."""
    message: dict[str, Any] = events[0]["message"]
    blocks, pieces = message["content"], dict[int, str]()
    for event in events[1:]:
        match event["type"]:
            case "content_block_start":
                assert event["index"] == len(blocks)
                blocks.append(event["content_block"])
            case "content_block_delta":
                delta, index = event["delta"], event["index"]
                pieces[index] = pieces.get(index, "") + delta.get("text", "")
                pieces[index] += delta.get("partial_json", "")
            case "content_block_stop" if blocks[event["index"]]["type"] == "text":
                blocks[event["index"]]["text"] += pieces[event["index"]]
            case "content_block_stop":
                blocks[event["index"]]["input"] = json.loads(pieces[event["index"]])
            case "message_delta":
                message |= {**event["delta"], "usage": event["usage"]}
    return message


@settings(max_examples=40)
@given(answer=ANSWERS, usage=USAGES)
def test_a_stream_adds_up_to_the_plain_body(answer: Answer, usage: Usage | None) -> None:
    dialect = AnthropicMessages()
    asked = dialect.parse(asking())

    events = [json.loads(each.data) for each in dialect.stream(asked, answer, usage)]

    assert accumulated(events) == json.loads(json.dumps(dialect.render(asked, answer, usage)))
