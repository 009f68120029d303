"""What goes wrong between an agent and its model goes wrong where and when the plan says."""

from __future__ import annotations

import http.client
import json
import re
import time
from collections.abc import Callable
from typing import Any

import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_tripwire.models import Calls, Move, Propose, Seen
from pytest_tripwire.models.call_ids import read_call_id
from pytest_tripwire.models.faults import (
    CutStream,
    Delay,
    Drop,
    MalformedArguments,
    ModelFault,
    NoUsage,
    Plan,
    Status,
    UnknownTool,
)

Body = Callable[..., dict[str, Any]]
Run = Callable[..., Any]
CHAT = "/v1/chat/completions"


def exchange(port: int, body: dict[str, Any]) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request("POST", CHAT, json.dumps(body))
        response = connection.getresponse()
        headers = {name.lower(): value for name, value in response.getheaders()}
        return response.status, headers, response.read()
    finally:
        connection.close()


def results(message: dict[str, Any]) -> list[dict[str, Any]]:
    calls = message["tool_calls"]
    return [message, *({"role": "tool", "tool_call_id": c["id"], "content": "-"} for c in calls)]


def test_an_error_has_its_status_headers_and_shape(run: Run, ask: Body) -> None:
    fault = Status(status=429, headers={"retry-after": "2"}, message="slow down")
    running = run(faults=[fault])

    status, headers, body = exchange(running.port, ask())

    error = json.loads(body)["error"]
    assert (status, headers["retry-after"]) == (429, "2")
    assert (error["message"], error["type"]) == ("slow down", "rate_limit_error")
    assert error["code"] == "rate_limit_exceeded"
    assert "x-should-retry" not in headers
    assert running.observed == []


def test_an_error_strikes_the_tries_of_its_turn_alone(run: Run, ask: Body) -> None:
    running = run(faults=[Status(turn=1, attempts=(1, 2), status=503)])
    first = running.post(ask())[1]["choices"][0]["message"]

    later = [running.post(ask(*results(first)))[0] for _ in range(3)]

    assert later == [503, 503, 200]
    assert [seen.turn for seen in running.observed] == [0, 1]
    assert [noted.told for noted in running.server.noted] == ["", "503", "503", ""]
    assert [noted.attempt for noted in running.server.noted] == [1, 1, 2, 3]


def test_an_sdk_gets_over_errors_without_a_wrong_turn(run: Run, ask: Body) -> None:
    running = run(faults=[Status(turn=None, attempts=(1,), headers={"retry-after-ms": "1"})])
    body = ask()
    asked = []
    with openai.OpenAI(base_url=running.url, api_key="any") as client:
        while True:
            message = client.chat.completions.create(**body).choices[0].message
            if not message.tool_calls:
                break
            asked += [call.function.arguments for call in message.tool_calls]
            body["messages"] += results(message.model_dump())

    assert [json.loads(each)["query"] for each in asked] == ["order 0", "order 1"]
    assert running.server.requests == 6
    assert [seen.repeat for seen in running.observed] == [False] * 3


def test_a_dropped_connection_sends_no_byte(run: Run, ask: Body) -> None:
    running = run(faults=[Drop()])

    with pytest.raises(http.client.RemoteDisconnected):
        exchange(running.port, ask())

    assert running.observed == []
    assert exchange(running.port, ask())[0] == 200


def test_half_an_answer_is_noticed(run: Run, ask: Body) -> None:
    running = run(faults=[CutStream()])

    with pytest.raises(http.client.IncompleteRead):
        exchange(running.port, ask())


def test_a_cut_stream_has_a_beginning_and_no_end(run: Run, ask: Body) -> None:
    running = run(faults=[CutStream(after=2)])
    got = []

    def read() -> None:
        with openai.OpenAI(base_url=running.url, api_key="any", max_retries=0) as client:
            got.extend(client.chat.completions.create(**ask(), stream=True))

    with pytest.raises(openai.APIConnectionError):
        read()
    with openai.OpenAI(base_url=running.url, api_key="any", max_retries=0) as client:
        whole = list(client.chat.completions.create(**ask(), stream=True))
    assert len(got) == 2
    assert len(whole) > 2


def test_a_delay_is_longer_than_a_clients_patience(run: Run, ask: Body) -> None:
    running = run(faults=[Delay(seconds=30.0)])
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=0.2)
    connection.request("POST", CHAT, json.dumps(ask()))
    with pytest.raises(TimeoutError):
        connection.getresponse()

    running.server.stop()
    connection.close()


def test_an_error_may_be_late_too(run: Run, ask: Body) -> None:
    running = run(faults=[Status(status=503), Delay(seconds=0.3)])
    begun = time.monotonic()

    status, _, _ = exchange(running.port, ask())

    assert status == 503
    assert time.monotonic() - begun >= 0.3


def two_at_once(seen: Seen) -> Move:
    queries = [10 * seen.turn + place for place in range(2)]
    return Calls(proposals=tuple(Propose(role="search", slots={"query": q}) for q in queries))


def one_at_a_time(running: Any, ask: Body, count: int) -> list[str]:
    """What an agent gets that forbids several calls in one message: each call's query, `spoilt`, or
    the status of an error.
    """
    history: list[dict[str, Any]] = []
    texts = []
    while len(texts) < count:
        status, body = running.post(ask(*history, parallel_tool_calls=False))
        if status != 200:
            texts.append(str(status))
            continue
        message = body["choices"][0]["message"]
        text = message["tool_calls"][0]["function"]["arguments"]
        texts.append(str(json.loads(text)["query"]) if text.startswith("{") else "spoilt")
        history += results(message)
    return texts


def test_a_turn_whose_calls_go_out_one_at_a_time_is_struck_once(run: Run, ask: Body) -> None:
    running = run(script=two_at_once, faults=[Status(turn=1)])

    assert one_at_a_time(running, ask, 5) == ["0", "1", "500", "10", "11"]


def test_a_move_whose_calls_go_out_one_at_a_time_loses_none_to_the_next(
    run: Run, ask: Body
) -> None:
    running = run(script=two_at_once, faults=[MalformedArguments(turn=1)])
    whole = run(script=two_at_once)

    assert one_at_a_time(running, ask, 5) == ["0", "1", "spoilt", "10", "11"]
    assert one_at_a_time(whole, ask, 4) == ["0", "1", "10", "11"]


def test_a_call_that_is_left_of_a_move_is_paid_for_once_and_so_is_the_next(
    run: Run, ask: Body
) -> None:
    running = run(script=two_at_once)
    one_at_a_time(running, ask, 2)
    first = running.post(ask(parallel_tool_calls=False))[1]["choices"][0]["message"]
    second = running.post(ask(*results(first), parallel_tool_calls=False))[1]["choices"][0]
    more = ask(*results(first), *results(second["message"]), parallel_tool_calls=False)
    # The first try of it was lost on the way here.
    running.send("POST", CHAT, json.dumps(more).encode(), {"x-stainless-retry-count": "1"})

    assert [each.repeat for each in running.observed] == [False] * 5


def test_a_script_is_shown_the_turns_that_it_made_and_no_refusal_of_what_was_spoilt(
    run: Run, ask: Body
) -> None:
    shown: list[Seen] = []

    def script(seen: Seen) -> Move:
        shown.append(seen)
        return Calls(proposals=(Propose(role="search", slots={"query": seen.turn}),))

    running = run(script=script, faults=[UnknownTool(turn=1)])
    history: list[dict[str, Any]] = []
    for _ in range(4):
        message = running.post(ask(*history))[1]["choices"][0]["message"]
        call_id = message["tool_calls"][0]["id"]
        refused = {"role": "tool", "tool_call_id": call_id, "content": '{"refused": true}'}
        history += [message, refused]

    assert [seen.turn for seen in shown] == [0, 1, 1, 2]
    turns = [read_call_id(each.call_id) for each in shown[-1].all_results]
    assert [own and own.turn for own in turns] == [0, 1, 1]
    assert [each.refused for each in shown[-1].all_results] == [True, False, True]
    assert [each.refused for each in shown[2].results] == [False]


def test_spoilt_arguments_are_no_json_and_the_move_is_made_again(run: Run, ask: Body) -> None:
    running = run(faults=[MalformedArguments(turn=1)])
    history: list[dict[str, Any]] = []
    texts = []
    for _ in range(3):
        message = running.post(ask(*history))[1]["choices"][0]["message"]
        texts.append(message["tool_calls"][0]["function"]["arguments"])
        history += results(message)

    assert json.loads(texts[0])["query"] == "order 0"
    with pytest.raises(json.JSONDecodeError):
        json.loads(texts[1])
    assert json.loads(texts[2])["query"] == "order 1"
    assert running.post(ask(*history))[1]["choices"][0]["message"]["content"] == "3 results"


def test_an_unknown_tool_is_called_once(run: Run, ask: Body) -> None:
    running = run(faults=[UnknownTool(name="teleport")])
    first = running.post(ask())[1]["choices"][0]["message"]
    second = running.post(ask(*results(first)))[1]["choices"][0]["message"]

    names = [each["tool_calls"][0]["function"]["name"] for each in (first, second)]
    assert names == ["teleport", "search_orders"]
    queries = [json.loads(m["tool_calls"][0]["function"]["arguments"]) for m in (first, second)]
    assert queries[0] == queries[1]


@pytest.mark.parametrize("stream", [False, True])
def test_usage_can_be_missing(run: Run, ask: Body, stream: bool) -> None:  # noqa: FBT001
    more = {"stream": True, "stream_options": {"include_usage": True}} if stream else {}

    told = exchange(run().port, ask(**more))[2]
    silent = exchange(run(faults=[NoUsage()]).port, ask(**more))[2]

    assert b'"prompt_tokens"' in told
    assert b'"prompt_tokens"' not in silent


def test_a_server_that_has_run_for_too_long_says_goodbye(run: Run, ask: Body) -> None:
    times = iter([0.0, 4.9, 5.0, 5.0])
    running = run(max_seconds=5.0, clock=lambda: next(times))

    first, second = (running.post(ask())[1]["choices"][0] for _ in range(2))

    assert first["finish_reason"] == "tool_calls"
    assert second["message"]["content"] == "There is nothing more to do."
    assert running.server.exhausted


@pytest.mark.parametrize(
    ("kind", "wrong", "message"),
    [
        (Status, {"status": 200}, "Status: status=200: give an error of HTTP, 400 to 599"),
        (Status, {"status": "503"}, "Status: status='503': give an error of HTTP, 400 to 599"),
        (Status, {"status": 600}, "Status: status=600: give an error of HTTP, 400 to 599"),
        (Delay, {"seconds": -1}, "Delay: seconds=-1: give a number of seconds from 0"),
        (Delay, {"seconds": float("nan")}, "Delay: seconds=nan: give a number of seconds"),
        (Delay, {"seconds": float("inf")}, "Delay: seconds=inf: give a number of seconds"),
        (CutStream, {"after": -1}, "CutStream: after=-1: give a number of parts from 0"),
        (Drop, {"turn": -1}, "Drop: turn=-1: give a number from 0, or None for every turn"),
        (Drop, {"turn": "1"}, "Drop: turn='1': give a number from 0, or None for every turn"),
        (NoUsage, {"attempts": (0,)}, "NoUsage: attempts=(0,): give a tuple of numbers from 1"),
        (UnknownTool, {"attempts": 1}, "UnknownTool: attempts=1: give a tuple of numbers from 1"),
    ],
)
def test_a_fault_that_could_not_strike_is_told_where_it_is_written(
    kind: type[ModelFault], wrong: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        kind(**wrong)


FAULTS = st.builds(
    lambda kind, turn, tries: kind(turn=turn, attempts=tries),
    st.sampled_from([Status, Delay, Drop, CutStream, MalformedArguments, UnknownTool, NoUsage]),
    st.none() | st.integers(0, 5),
    st.tuples() | st.tuples(st.integers(1, 3)),
)


@given(st.lists(FAULTS, max_size=4), st.integers(0, 6), st.integers(1, 4))
def test_a_fault_strikes_where_it_says(faults: list[ModelFault], turn: int, attempt: int) -> None:
    struck = set(map(repr, Plan(faults=tuple(faults)).at(turn, attempt)))

    for fault in faults:
        here = fault.turn is None or fault.turn == turn
        now = not fault.attempts or attempt in fault.attempts or type(fault).spoils
        assert (repr(fault) in struck) == (here and now)


@given(st.lists(FAULTS, max_size=4), st.integers(0, 6))
def test_a_script_falls_behind_by_the_moves_that_were_spoilt(
    faults: list[ModelFault], turn: int
) -> None:
    plan = Plan(faults=tuple(faults))
    spoilt = [t for t in range(turn) if any(type(f).spoils for f in plan.at(t, 1))]

    assert plan.lost_before(turn) == len(spoilt)
