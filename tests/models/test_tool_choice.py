"""What a request lets the model call is honoured, and the script is not led astray by it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from pytest_tripwire.models import Calls, Move, Propose, Say, Seen

Body = Callable[..., dict[str, Any]]
Run = Callable[..., Any]
ROLES = ("search", "write")


def search_then_write(seen: Seen) -> Move:
    if seen.turn == 0:
        return Calls(proposals=(Propose(role="search", slots={"query": "parcel"}),))
    if seen.turn == 1:
        return Calls(proposals=(Propose(role="write", slots={"order": "A-1"}),), says="Paying.")
    return Say(text="It is paid.")


def pair_then_words(seen: Seen) -> Move:
    if seen.turn == 0:
        wanted = (Propose(role="search", slots={"query": n}) for n in range(3))
        return Calls(proposals=tuple(wanted), says="Looking.")
    if any(each.refused for each in seen.results):
        return Say(text="I stop here.")
    return Say(text=" ".join(each.call_id.rsplit("_", 1)[1] for each in seen.results))


def named(tool: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": tool}}


def message_of(reply: tuple[int, Any]) -> dict[str, Any]:
    status, body = reply
    assert status == 200, body
    return dict(body["choices"][0]["message"])


def called(message: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [
        (call["function"]["name"], json.loads(call["function"]["arguments"]))
        for call in message.get("tool_calls", [])
    ]


def results(message: dict[str, Any], text: str = "done") -> list[dict[str, Any]]:
    calls = message.get("tool_calls", [])
    return [message, *({"role": "tool", "tool_call_id": c["id"], "content": text} for c in calls)]


def final(*required: str) -> dict[str, Any]:
    properties = {name: {"type": "string"} for name in required}
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"type": "function", "function": {"name": "hand_in", "parameters": schema}}


def test_required_changes_nothing_while_the_script_calls(run: Run, ask: Body) -> None:
    running = run(script=search_then_write, roles=ROLES)

    plain = running.post(ask())

    assert running.post(ask(tool_choice="required")) == plain


def test_required_repeats_the_last_call_when_there_is_nothing_left_to_call(
    run: Run, ask: Body
) -> None:
    running = run(script=search_then_write, roles=ROLES)
    history: list[dict[str, Any]] = []
    seen = []
    for _ in range(4):
        message = message_of(running.post(ask(*history, tool_choice="required")))
        seen.append(called(message))
        history += results(message)

    pay = [("refund_order", {"role": "write", "order": "A-1"})]
    assert seen == [[("search_orders", {"role": "search", "query": "parcel"})], pay, pay, pay]
    ids = [c["id"] for m in history for c in m.get("tool_calls", [])]
    assert len(set(ids)) == 4


def test_required_says_the_last_words_through_a_tool_that_no_role_plays(
    run: Run, ask: Body, tools: list[dict[str, Any]]
) -> None:
    running = run(script=search_then_write, roles=ROLES)
    history: list[dict[str, Any]] = []
    for _ in range(2):
        history += results(message_of(running.post(ask(*history, tools=[*tools, final("text")]))))

    message = message_of(
        running.post(ask(*history, tools=[*tools, final("text")], tool_choice="required"))
    )

    assert called(message) == [("hand_in", {"text": "It is paid."})]
    assert message["content"] is None


def test_words_that_have_no_single_place_leave_the_least_arguments(
    run: Run, ask: Body, tools: list[dict[str, Any]]
) -> None:
    running = run(script=lambda _seen: Say(text="Bye."), roles=ROLES)

    body = ask(tools=[*tools, final("title", "text")], tool_choice="required")

    assert called(message_of(running.post(body))) == [("hand_in", {"title": "", "text": ""})]


@pytest.mark.parametrize("choice", ["required", named("hand_in")])
@pytest.mark.parametrize("more", [{"observe": lambda _: "Stopped."}, {"max_requests": 0}])
def test_a_stop_says_its_words_through_a_tool_that_no_role_plays(
    run: Run, ask: Body, tools: list[dict[str, Any]], choice: Any, more: dict[str, Any]
) -> None:
    running = run(script=search_then_write, roles=ROLES, **more)

    body = ask(tools=[*tools, final("text")], tool_choice=choice)

    said = "Stopped." if "observe" in more else "There is nothing more to do."
    assert called(message_of(running.post(body))) == [("hand_in", {"text": said})]


@pytest.mark.parametrize("choice", ["required", named("refund_order")])
@pytest.mark.parametrize("roles", [(), ROLES])
@pytest.mark.parametrize("more", [{"observe": lambda _: "Stopped."}, {"max_requests": 0}])
def test_a_stop_calls_no_tool_that_may_play_a_role(
    run: Run, ask: Body, choice: Any, roles: Any, more: dict[str, Any]
) -> None:
    running = run(script=search_then_write, roles=roles, **more)

    assert called(message_of(running.post(ask(tool_choice=choice)))) == []


def test_a_router_that_is_made_to_call_its_own_tool_does(run: Run, ask: Body) -> None:
    running = run(script=search_then_write, roles=ROLES)

    message = message_of(running.post(ask(tools=[final("route")], tool_choice=named("hand_in"))))

    assert [name for name, _ in called(message)] == ["hand_in"]
    assert running.observed[0].auxiliary


def test_a_named_tool_that_the_script_wants_is_called(run: Run, ask: Body) -> None:
    running = run(script=search_then_write, roles=ROLES)

    message = message_of(running.post(ask(tool_choice=named("search_orders"))))

    assert called(message) == [("search_orders", {"role": "search", "query": "parcel"})]
    assert running.server.withheld == ()


def test_a_named_tool_that_the_script_does_not_want_is_called_and_the_rest_told(
    run: Run, ask: Body
) -> None:
    running = run(script=search_then_write, roles=ROLES)

    message = message_of(running.post(ask(tool_choice=named("refund_order"))))

    assert called(message) == [("refund_order", {"role": "write"})]
    (why,) = running.server.withheld
    assert "search_orders" in why
    assert "names refund_order" in why


def test_a_tool_that_stays_named_is_called_again_and_again(run: Run, ask: Body) -> None:
    running = run(script=search_then_write, roles=ROLES)
    history: list[dict[str, Any]] = []
    for _ in range(3):
        message = message_of(running.post(ask(*history, tool_choice=named("search_orders"))))
        assert called(message) == [("search_orders", {"role": "search", "query": "parcel"})]
        history += results(message)


def test_a_named_tool_leaves_the_others_of_the_move_out(run: Run, ask: Body) -> None:
    def both(_seen: Seen) -> Move:
        return Calls(proposals=(Propose(role="search"), Propose(role="write")))

    message = message_of(run(script=both, roles=ROLES).post(ask(tool_choice=named("refund_order"))))

    assert [name for name, _ in called(message)] == ["refund_order"]
    assert message["tool_calls"][0]["id"].endswith("_0_1")


def test_only_allowed_tools_are_offered(run: Run, ask: Body) -> None:
    running = run(script=search_then_write)
    allowed = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [named("x")]}}
    mine = {
        "type": "allowed_tools",
        "allowed_tools": {"mode": "required", "tools": [named("search_orders")]},
    }

    assert called(message_of(running.post(ask(tool_choice=mine))))
    assert not called(message_of(running.post(ask(tool_choice=allowed))))


def test_one_call_at_a_time_goes_through_a_move_in_order(run: Run, ask: Body) -> None:
    running = run(script=pair_then_words, roles=ROLES)
    history: list[dict[str, Any]] = []
    seen = []
    names, said = set(), []
    for _ in range(4):
        reply = running.post(ask(*history, parallel_tool_calls=False))
        names.add(reply[1]["id"])
        message = message_of(reply)
        said.append(message["content"])
        seen.append([arguments["query"] for _, arguments in called(message)])
        history += results(message)

    assert seen == [[0], [1], [2], []]
    assert len(names) == 4
    assert said[:3] == ["Looking.", None, None]
    assert message["content"] == "0 1 2"


def test_a_refusal_in_the_middle_of_a_move_is_heeded(run: Run, ask: Body) -> None:
    running = run(script=heeding_pair, roles=ROLES)
    first = message_of(running.post(ask(parallel_tool_calls=False)))
    history = results(first, '{"refused": true, "reason": "x", "message": "no"}')

    message = message_of(running.post(ask(*history, parallel_tool_calls=False)))

    assert message["content"] == "I stop here."


def heeding_pair(seen: Seen) -> Move:
    if any(each.refused for each in seen.results):
        return Say(text="I stop here.")
    return pair_then_words(seen)


def test_parallel_calls_that_were_made_at_once_leave_nothing_over(run: Run, ask: Body) -> None:
    running = run(script=pair_then_words, roles=ROLES)
    history = results(message_of(running.post(ask())))

    assert message_of(running.post(ask(*history, parallel_tool_calls=False)))["content"] == "0 1 2"


@pytest.mark.parametrize("choice", ["any", 3, {"type": "function"}, {"type": "tool", "name": ""}])
def test_a_choice_that_there_is_not_is_refused(run: Run, ask: Body, choice: Any) -> None:
    status, body = run().post(ask(tool_choice=choice))

    assert (status, body["error"]["param"]) == (400, "tool_choice")
