"""No request breaks the Responses protocol."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

Run = Callable[..., Any]
PATH = "/v1/responses"
COUNT = "/v1/responses/input_tokens"

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=10,
)


def sometimes(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.integers(0, 15).flatmap(lambda n: strategy if n else JSON)


KEYS = r"[0-9a-f]{16}_[0-9]{1,6}"
CALL_IDS = st.from_regex(rf"call_{KEYS}_[0-9]", fullmatch=True) | st.text(max_size=8)
ITEM_IDS = st.from_regex(rf"(fc_{KEYS}_[0-9])|(msg_{KEYS}_[0-9a-f]{{16}})", fullmatch=True)
TEXTS = st.text(max_size=8) | st.just('{"refused": true}')
PARTS = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["input_text", "output_text", "refusal", "input_image"])},
        optional={"text": sometimes(TEXTS), "refusal": sometimes(TEXTS)},
    ),
    max_size=2,
)
MESSAGES = st.fixed_dictionaries(
    {
        "role": sometimes(st.sampled_from(["system", "developer", "user", "assistant"])),
        "content": sometimes(TEXTS | PARTS),
    },
    optional={"type": sometimes(st.just("message")), "id": sometimes(ITEM_IDS)},
)
CALLS = st.fixed_dictionaries(
    {
        "type": st.just("function_call"),
        "call_id": sometimes(CALL_IDS),
        "name": st.just("search_orders"),
        "arguments": sometimes(TEXTS),
    }
)
RESULTS = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["function_call_output", "custom_tool_call_output"]),
        "call_id": sometimes(CALL_IDS),
        "output": sometimes(TEXTS | PARTS),
    }
)
OTHERS = st.fixed_dictionaries(
    {"type": sometimes(st.sampled_from(["reasoning", "item_reference", "compaction_trigger"]))},
    optional={"id": sometimes(ITEM_IDS)},
)
ITEMS = sometimes(MESSAGES | CALLS | RESULTS | OTHERS)
TOOLS = st.fixed_dictionaries(
    {"type": sometimes(st.just("function")), "name": sometimes(st.just("search_orders"))},
    optional={"parameters": sometimes(st.just({"type": "object"}))},
)
REQUESTS = st.fixed_dictionaries(
    {"input": sometimes(TEXTS | st.lists(ITEMS, max_size=4))},
    optional={
        "model": sometimes(st.just("any")),
        "instructions": sometimes(TEXTS),
        "tools": sometimes(st.lists(TOOLS, max_size=2)),
        "tool_choice": sometimes(st.sampled_from(["none", "auto", "required"])),
        "parallel_tool_calls": sometimes(st.booleans()),
        "previous_response_id": sometimes(st.none() | st.just("resp_1")),
        "store": sometimes(st.booleans()),
        "metadata": sometimes(st.just({"a": "b"})),
        "text": sometimes(
            st.fixed_dictionaries(
                {
                    "format": sometimes(
                        st.fixed_dictionaries(
                            {"type": st.sampled_from(["json_schema", "json_object", "text"])},
                            optional={"schema": JSON},
                        )
                    )
                }
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
@given(body=sometimes(REQUESTS), path=st.sampled_from([PATH, PATH, COUNT]))
def test_no_json_breaks_the_server(shared: Any, body: Any, path: str) -> None:
    sent = json.dumps(body).encode()

    status, answer = shared.send("POST", path, sent)

    assert status in (200, 400), answer
    expected = {PATH: "response", COUNT: "response.input_tokens"}[path]
    assert answer.get("object") == (expected if status == 200 else None)
    assert shared.server.error is None
    if status == 400:
        assert set(answer["error"]) == {"message", "type", "param", "code"}
    assert shared.send("POST", path, sent) == (status, answer)


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (b"", None),
        (b"[]", None),
        (b"\xff", None),
        (b"[" * 100_000, None),
        (b'{"input": "x", "model": 4}', "model"),
        (b'{"input": "x", "tool_choice": "any"}', "tool_choice"),
        (b'{"input": "x", "previous_response_id": "resp_1"}', "previous_response_id"),
        (b'{"input": "x", "background": true}', "background"),
    ],
)
def test_a_bad_body_is_refused_in_the_providers_shape(
    run: Run, body: bytes, param: str | None
) -> None:
    running = run()

    status, answer = running.send("POST", PATH, body)

    assert (status, answer["error"]["param"]) == (400, param)
    assert answer["error"]["type"] == "invalid_request_error"
    assert (running.observed, running.server.error) == ([], None)


def test_a_history_nested_too_deeply_is_told_so(run: Run) -> None:
    deep = b'{"input": [{"type": "reasoning", "id": ' + b"[" * 5000 + b"]" * 5000 + b"}]}"

    assert run().send("POST", PATH, deep)[0] == 400


def test_a_long_id_does_not_come_back_whole(run: Run) -> None:
    body = json.dumps({"input": "x", "previous_response_id": "r" * 100_000}).encode()

    status, answer = run().send("POST", PATH, body)

    assert status == 400
    assert len(answer["error"]["message"]) < 1000


def test_responses_cannot_be_fetched(run: Run) -> None:
    assert run().send("GET", f"{PATH}/resp_1")[0] == 404
