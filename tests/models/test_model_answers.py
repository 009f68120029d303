"""What the scripted model answers when a request is not the script's, or cannot be."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from pytest_tripwire.models import Calls, Move, Observed, Propose, Say, Seen

Body = Callable[..., dict[str, Any]]
Run = Callable[..., Any]

ROUTE = {
    "type": "object",
    "properties": {"route": {"enum": ["refunds", "sales"]}, "score": {"minimum": 1}},
    "required": ["route", "score"],
}
ROUTE["properties"]["score"]["type"] = "integer"  # type: ignore[index]


def content(reply: tuple[int, Any]) -> str:
    status, body = reply
    assert status == 200, body
    message = body["choices"][0]["message"]
    assert "tool_calls" not in message
    return str(message["content"])


def form(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}


def never(seen: Seen) -> Move:
    raise AssertionError(f"the script was asked at turn {seen.turn}")


def test_a_router_gets_the_smallest_answer_of_its_schema(run: Run, ask: Body) -> None:
    running = run(script=never)

    reply = running.post(ask(tools=[], response_format=form(ROUTE)))

    assert json.loads(content(reply)) == {"route": "refunds", "score": 1}
    assert [seen.auxiliary for seen in running.observed] == [True]
    assert running.server.error is None


def test_a_request_that_offers_other_tools_is_auxiliary_when_roles_are_known(
    run: Run, ask: Body
) -> None:
    running = run(script=never, roles=("search", "write"))
    other = [{"type": "function", "function": {"name": "summarise"}}]

    assert content(running.post(ask(tools=other)))
    assert running.observed[0].auxiliary
    assert running.server.withheld == ()


def test_a_request_that_offers_one_of_the_roles_tools_is_the_scripts(run: Run, ask: Body) -> None:
    running = run(roles=("search", "write"))
    body = ask()
    body["tools"] = body["tools"][:1]

    assert running.post(body)[1]["choices"][0]["message"]["tool_calls"]
    assert not running.observed[0].auxiliary


def test_a_tool_that_is_not_offered_is_withheld_and_named(run: Run, ask: Body) -> None:
    running = run()
    other = [{"type": "function", "function": {"name": "summarise"}}]

    assert content(running.post(ask(tools=other)))
    (reason,) = running.server.withheld
    assert "`search_orders` (role `search`)" in reason
    assert "summarise" in reason
    assert running.observed[0].withheld == reason
    assert isinstance(running.observed[0].move, Say)


def test_tool_choice_none_gets_words(run: Run, ask: Body) -> None:
    running = run()

    assert content(running.post(ask(tool_choice="none")))
    assert "tool_choice" in running.server.withheld[0]


def test_words_of_the_script_fit_a_schema_that_the_agent_gives(run: Run, ask: Body) -> None:
    running = run(script=lambda _: Say(text="All done."))

    assert json.loads(content(running.post(ask(response_format=form(ROUTE)))))["score"] == 1
    assert content(running.post(ask())) == "All done."


def test_json_of_the_script_goes_out_as_it_is(run: Run, ask: Body) -> None:
    running = run(script=lambda _: Say(text='{"route":"sales","score":9}'))

    reply = content(running.post(ask(response_format={"type": "json_object"})))

    assert json.loads(reply) == {"route": "sales", "score": 9}


def test_an_endless_schema_is_the_requests_fault(run: Run, ask: Body) -> None:
    running = run()
    endless = form({"$ref": "#"})

    status, body = running.post(ask(tools=[], response_format=endless))

    assert (status, body["error"]["param"]) == (400, "response_format")
    assert running.server.error is None


def test_a_text_of_the_observer_takes_the_moves_place(run: Run, ask: Body) -> None:
    moves: list[Observed] = []

    def stop(observed: Observed) -> str:
        moves.append(observed)
        return "The run was stopped."

    running = run(observe=stop)

    assert content(running.post(ask())) == "The run was stopped."
    assert isinstance(moves[0].move, Calls)


def test_beyond_max_requests_every_answer_is_harmless(run: Run, ask: Body) -> None:
    running = run(max_requests=2)
    for _ in range(2):
        assert running.post(ask())[1]["choices"][0]["message"]["tool_calls"]
    assert not running.server.exhausted

    assert content(running.post(ask()))
    assert running.server.exhausted
    assert len(running.observed) == 3


class Broken(Exception):  # noqa: N818
    """Raised by the parts of a test."""


class BrokenBinder:
    def tool_name(self, role: str) -> str:
        return "search_orders" if role == "search" else role

    def arguments(self, role: str, slots: Any) -> dict[str, Any]:
        raise Broken(f"no arguments for {role} from {slots}")


class BrokenExit(BaseException):
    """Like the outcome that pytest.fail raises: no Exception."""


def broken(part: Any, kind: type[BaseException] = Broken) -> Any:
    raise kind(f"broken at {part}")


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"script": broken}, Broken),
        ({"script": lambda seen: broken(seen, BrokenExit)}, BrokenExit),
        ({"script": lambda _: None}, TypeError),
        ({"script": lambda _: Calls(proposals=())}, ValueError),
        ({"script": lambda _: Calls(proposals=(Propose(role="unknown"),))}, KeyError),
        ({"script": lambda _: Say(text="\ud800")}, UnicodeEncodeError),
        ({"binder": BrokenBinder()}, Broken),
        ({"observe": broken}, Broken),
    ],
    ids=["script", "exit", "none", "empty", "role", "text", "binder", "observer"],
)
def test_an_error_of_ours_is_remembered_and_told(
    run: Run, ask: Body, options: dict[str, Any], kind: type[BaseException]
) -> None:
    running = run(**options)

    status, body = running.post(ask())

    assert (status, body["error"]["type"]) == (500, "server_error")
    assert kind.__name__ in body["error"]["message"]
    assert type(running.server.error) is kind


def test_the_first_error_is_kept(run: Run, ask: Body) -> None:
    running = run(script=lambda seen: broken(seen, [Broken, KeyError][min(seen.turn, 1)]))

    running.post(ask())
    running.post(ask({"role": "assistant", "content": "hm"}))

    assert type(running.server.error) is Broken
