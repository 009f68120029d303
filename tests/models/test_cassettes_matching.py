"""Two requests are the same if they mean the same, and a difference is told without its words."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.models.cassettes import CassetteDivergence
from pytest_tripwire.models.cassettes.canonical import MEANINGLESS, canonical
from pytest_tripwire.models.cassettes.differences import differences
from pytest_tripwire.models.cassettes.filtering import filtered_request
from pytest_tripwire.models.cassettes.interaction import Got, Interaction, Sent
from pytest_tripwire.models.cassettes.secrets import Secrets
from pytest_tripwire.models.cassettes.tape import Tape

BASE: dict[str, Any] = {
    "model": "m",
    "messages": [
        {"role": "user", "content": "Refund A-1"},
        {
            "role": "assistant",
            "tool_calls": [
                {"id": "call_1a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
                {"id": "call_2b", "type": "function", "function": {"name": "f", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "call_1a", "content": "one"},
        {"role": "tool", "tool_call_id": "call_2b", "content": "two"},
    ],
}

trees = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=4) | st.sampled_from(["id", "input"]), inner, max_size=3)
    ),
    max_leaves=8,
)


def sent(
    body: Any = BASE, uri: str = "https://api.example/v1/chat/completions", **more: Any
) -> Sent:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Sent(**{"method": "POST", "uri": uri, "body": data, **more})


def same(one: Sent, other: Sent, *ignore: str) -> bool:
    return not list(differences(canonical(one, ignore), canonical(other, ignore)))


def with_ids(first: str, second: str, *, answered: tuple[str, str] | None = None) -> dict[str, Any]:
    text = json.dumps(BASE).replace("call_1a", first).replace("call_2b", second)
    body: dict[str, Any] = json.loads(text)
    for message, call_id in zip(body["messages"][2:], answered or (first, second), strict=True):
        message["tool_call_id"] = call_id
    return body


@settings(max_examples=40)
@given(trees)
def test_a_request_means_what_it_means(tree: Any) -> None:
    assert same(sent(tree), sent(tree))


@settings(max_examples=40)
@given(trees, trees)
def test_other_bodies_have_another_meaning_unless_only_ids_differ(one: Any, other: Any) -> None:
    differ = list(differences(canonical(sent([one])), canonical(sent([other]))))

    if json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True):
        assert not differ
    else:
        assert differ


@settings(max_examples=40)
@given(trees.filter(lambda tree: isinstance(tree, dict)), st.randoms())
def test_the_order_of_names_means_nothing(tree: dict[str, Any], random: Any) -> None:
    names = list(tree)
    random.shuffle(names)

    assert same(sent(tree), sent({name: tree[name] for name in names}))


def test_ids_are_numbered_whatever_the_order_of_names() -> None:
    item = {"call_id": "call_1", "item_id": "item_2"}
    turned = {"item_id": "item_8", "call_id": "call_9"}

    one, other = ({"model": "m", "input": [each, each]} for each in (item, turned))

    assert same(sent(one), sent(other))


@pytest.mark.parametrize("name", sorted(MEANINGLESS))
def test_what_tells_users_and_caches_apart_means_nothing(name: str) -> None:
    assert same(sent({**BASE, name: "one"}), sent({**BASE, name: {"k": "two"}}))
    assert same(sent(BASE), sent({**BASE, name: "two"}))
    assert not same(sent({"messages": [{name: 1}]}), sent({"messages": [{name: 2}]}))


def test_headers_and_a_closing_slash_mean_nothing() -> None:
    other = sent(uri="https://API.example/v1/chat/completions/", headers={"X-A": ("b",)})

    assert same(sent(), other)


@pytest.mark.parametrize(
    ("ids", "answered", "expected"),
    [
        (("call_9", "call_8"), None, True),
        (("toolu_x1", "toolu_x2"), None, True),
        (("call_x", "call_y"), ("call_y", "call_x"), False),
        (("call_x", "call_x"), None, False),
    ],
    ids=["other ids", "of another provider", "swapped answers", "one id for two"],
)
def test_ids_mean_which_is_which(
    ids: tuple[str, str], answered: tuple[str, str] | None, *, expected: bool
) -> None:
    assert same(sent(), sent(with_ids(*ids, answered=answered))) is expected


@pytest.mark.parametrize(
    "made",
    [
        {"previous_response_id": "resp_@"},
        {"input": [{"type": "function_call", "id": "fc_@", "call_id": "call_@"}]},
        {"input": [{"type": "function_call_output", "call_id": "my own @"}]},
        {"messages": [{"content": [{"type": "tool_use", "id": "toolu_@", "input": {}}]}]},
        {"messages": [{"content": [{"type": "tool_result", "tool_use_id": "x@"}]}]},
        {"messages": [{"id": "msg_@"}, {"id": "chatcmpl-@"}, {"tool_call_id": "pyd_ai_@"}]},
    ],
)
def test_ids_of_every_protocol_are_numbered(made: dict[str, Any]) -> None:
    asked = json.dumps({"model": "m", "input": [], **made})
    bodies = [json.loads(asked.replace("@", each)) for each in ("a1", "b2")]

    assert same(sent(bodies[0]), sent(bodies[1]))


@pytest.mark.parametrize(
    "own",
    [
        {"messages": [{"content": [{"type": "tool_use", "input": {"id": "call_@"}}]}]},
        {"tools": [{"function": {"parameters": {"default": {"id": "call_@"}}}}]},
        {"messages": [{"content": "call_@"}]},
        {"messages": [{"id": "order @"}]},
        {"messages": [{"order_id": "call_@"}]},
        {"prompt": {"variables": {"item_id": "A@"}}},
    ],
)
def test_what_belongs_to_the_team_is_no_id_of_a_protocol(own: dict[str, Any]) -> None:
    asked = json.dumps({"model": "m", "input": [], **own})
    bodies = [json.loads(asked.replace("@", each)) for each in ("a1", "b2")]

    assert not same(sent(bodies[0]), sent(bodies[1]))


@pytest.mark.parametrize(
    "asked",
    [
        {"user": "@", "amount": 5},
        {"metadata": {"customer": "@"}},
        {"item_id": "@"},
        {"id": "item-@"},
        {"model": "a car's", "id": "item-@"},
        {"contents": [{"parts": [{"functionCall": {"args": {"item_id": "@"}}}]}]},
        {"messages": [{"content": [{"toolResult": {"content": [{"json": {"id": "item-@"}}]}}]}]},
    ],
)
def test_what_a_tool_is_asked_about_counts(asked: dict[str, Any]) -> None:
    bodies = [json.loads(json.dumps(asked).replace("@", each)) for each in ("a1", "b2")]

    assert not same(sent(bodies[0]), sent(bodies[1]))


def told(result: dict[str, Any]) -> Sent:
    message = {"role": "tool", "tool_call_id": "call_1", "content": json.dumps(result)}
    return filtered_request(sent({"model": "m", "messages": [message]}), Secrets())


@pytest.mark.parametrize("name", ["key", "page_token", "session_id"])
def test_what_a_tool_said_counts_though_its_name_may_be_a_secrets(name: str) -> None:
    one, again, other = (
        told({"issue": {name: key}}) for key in ("PROJ-12345", "PROJ-12345", "PROJ-99999")
    )

    assert same(one, again)
    assert same(one, filtered_request(one, Secrets()))
    assert not same(one, other)
    assert b"PROJ" not in one.body


def test_what_surely_is_a_secret_leaves_no_mark() -> None:
    assert same(told({"password": "one"}), told({"password": "another"}))


def upload(boundary: str, text: str = "hello") -> Sent:
    part = f'--{boundary}\r\nContent-Disposition: form-data; name="file"\r\n\r\n{text}\r\n'
    return sent(
        f"{part}--{boundary}--\r\n".encode(),
        headers={"Content-Type": (f"multipart/form-data; boundary={boundary}",)},
    )


def test_the_boundary_of_an_upload_means_nothing() -> None:
    assert same(upload("one"), upload("two"))
    assert not same(upload("one"), upload("one", "goodbye"))


def continued(response_id: str, *calls: tuple[str, str]) -> Sent:
    outputs = [
        {"type": "function_call_output", "call_id": call_id, "output": output}
        for call_id, output in calls
    ]
    return sent({"model": "m", "previous_response_id": response_id, "input": outputs})


def answer(response_id: str, *call_ids: str) -> Got:
    calls = [{"type": "function_call", "call_id": call_id} for call_id in call_ids]
    return Got(status=200, body=json.dumps({"id": response_id, "output": calls}).encode())


def two_conversations() -> Tape:
    """Two that a server keeps apart by ids alone."""
    asked = [sent({"model": "m", "input": "one"}), sent({"model": "m", "input": "two"})]
    asked += [continued("resp_1", ("call_a", "done"), ("call_b", "denied"))]
    asked += [continued("resp_2", ("call_c", "done"), ("call_d", "denied"))]
    answers = [answer("resp_1", "call_a", "call_b"), answer("resp_2", "call_c", "call_d")]
    answers += [Got(status=200, body=b"first"), Got(status=200, body=b"second")]
    recorded = [
        Interaction(sent=request, got=got) for request, got in zip(asked, answers, strict=True)
    ]
    return Tape(shown="one.yaml", recorded=recorded, may_record=False, secrets=Secrets())


def test_a_conversation_that_a_server_keeps_is_known_by_the_id_that_the_server_gave() -> None:
    tape = two_conversations()
    second = continued("resp_2", ("call_c", "done"), ("call_d", "denied"))

    assert tape.claim(second, second)

    assert tape.take(second).body == b"second"


def services(*hosts: str) -> list[Sent]:
    return [Sent(method="GET", uri=f"http://{host}/status") for host in hosts]


def statuses(*hosts: str) -> Tape:
    recorded = [
        Interaction(sent=request, got=Got(status=200, body=host.encode()))
        for host, request in zip(hosts, services(*hosts), strict=True)
    ]
    return Tape(shown="one.yaml", recorded=recorded, may_record=False, secrets=Secrets())


def test_of_two_services_each_is_asked_for_its_own() -> None:
    tape = statuses("one.example", "two.example")
    second, first = services("me@Two.example", "one.example")

    assert [tape.claim(each, each) for each in (second, first)] == [True, True]

    assert [tape.take(each).body for each in (second, first)] == [b"two.example", b"one.example"]


def test_a_service_is_not_given_what_another_answered() -> None:
    tape = statuses("one.example", "two.example")
    first, again = services("two.example", "two.example")
    tape.claim(first, first)

    with pytest.raises(CassetteDivergence, match="the same as recorded request 2"):
        tape.claim(again, again)


def test_the_host_is_told_where_it_alone_differs() -> None:
    one, two = (canonical(each) for each in services("one.example", "two.example"))

    assert [each.field for each in differences(one, two)] == ["host"]


def test_a_server_may_be_called_otherwise_today() -> None:
    tape = statuses("one.example")
    (today,) = services("127.0.0.1:8123")

    assert tape.claim(today, today)


def test_results_of_calls_that_a_server_keeps_are_not_swapped() -> None:
    swapped = continued("resp_1", ("call_b", "done"), ("call_a", "denied"))

    with pytest.raises(CassetteDivergence) as refused:
        two_conversations().claim(swapped, swapped)

    assert refused.value.number == 1


def test_fields_may_be_left_out_by_name() -> None:
    one, other = sent({**BASE, "seed": 1}), sent({**BASE, "seed": 2})

    assert not same(one, other)
    assert same(one, other, "seed")


def changed(path: str, value: object) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(json.dumps(BASE))
    exec(f"body{path} = value", {"body": body, "value": value})  # noqa: S102 - a literal above
    return body


DIFFERENT = {
    "content": (
        sent(changed("['messages'][0]['content']", "Refund B-2 please")),
        "messages[0].content",
        (
            "text of 17 characters here, text of 10 characters in the recording; "
            "they part at character 8"
        ),
    ),
    "longer": (
        sent(changed("['messages'][0]['content']", "Refund A-1!")),
        "messages[0].content",
        (
            "text of 11 characters here, text of 10 characters in the recording; "
            "they part at character 11"
        ),
    ),
    "one more message": (
        sent({**BASE, "messages": [*BASE["messages"], {"role": "user"}]}),
        "messages[4]",
        "object of 1 here, missing in the recording",
    ),
    "a new field": (sent({**BASE, "top_p": 1}), "top_p", "number here, missing in the recording"),
    "a field less": (sent({"model": "m"}), "messages", "missing here, list of 4 in the recording"),
    "another kind": (
        sent(changed("['messages'][1]['tool_calls']", bool(1))),
        "messages[1].tool_calls",
        "true or false here, list of 2 in the recording",
    ),
    "path": (sent(uri="https://api.example/v1/responses"), "path", "another path"),
    "query": (
        sent(uri="https://api.example/v1/chat/completions?a=1"),
        "query",
        "another query",
    ),
    "method": (sent(method="PUT"), "method", "another method"),
    "no JSON": (
        sent(body=b"x"),
        "body",
        "text of 1 characters here, object of 2 in the recording",
    ),
    "a strange name": (
        sent({**BASE, "a b": 1}),
        "(a name of 3 characters)",
        "number here, missing in the recording",
    ),
}


@pytest.mark.parametrize("what", DIFFERENT)
def test_the_first_difference_is_told_by_place_kind_and_size(what: str) -> None:
    other, field, detail = DIFFERENT[what]

    first = next(differences(canonical(other), canonical(sent())))

    assert (first.field, first.detail) == (field, detail)


@pytest.mark.parametrize(("one", "other"), [(1, True), (0, False), (None, 0), ("1", 1)])
def test_values_of_another_kind_differ(one: Any, other: Any) -> None:
    assert not same(sent({"a": one}), sent({"a": other}))


def test_a_whole_number_is_the_same_with_a_fraction() -> None:
    assert same(sent({"temperature": 1}), sent({"temperature": 1.0}))
