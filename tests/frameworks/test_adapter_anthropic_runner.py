"""The tool runner of Anthropic's client in production: guarded tools, and who follows it."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any

import anthropic
import pytest
from anthropic import Anthropic, beta_tool
from anthropic.lib import tools as native_tools

from pytest_tripwire.adapters.anthropic import (
    follow,
    guarded,
    usage_of,
)
from pytest_tripwire.adapters.anthropic.turn import Turn
from pytest_tripwire.breaker import Breaker, RunBudget, Usage, tool_spec
from pytest_tripwire.models import Propose
from pytest_tripwire.timeline import (
    ALLOW,
    Effect,
    ToolSpec,
)

from .anthropic_shop import (
    ASKS,
    FORMS,
    SHAPES,
    SPECS,
    Played,
    Shop,
    calls,
    model,
    refund,
    search,
)

NEEDS = ["anthropic"]


@FORMS
@SHAPES
def test_a_followed_run_knows_the_ids_of_the_model_s_calls(
    form: str, shape: dict[str, Any]
) -> None:
    twice = calls(search("a"), search("a"), refund())
    played = Played().play(twice, calls(search("b")), asynchronous=form == "async", **shape)

    assert played.shop.refunds == ["A-1"]
    ids = [each.call_id for each in played.decided]
    assert len(ids) == len(set(ids)) == 4
    assert ids == played.proposed_ids
    assert played.run.stats().turns == 3


@FORMS
def test_what_a_followed_run_has_used_is_counted(form: str) -> None:
    played = Played().play(calls(search("a")), asynchronous=form == "async")

    used = sum(m.usage.input_tokens + m.usage.output_tokens for m in played.messages)
    assert used > 0
    assert played.run.stats().tokens == used


@FORMS
@SHAPES
def test_a_turn_budget_ends_the_runner_before_its_next_request(
    form: str, shape: dict[str, Any]
) -> None:
    moves = [calls(search(word)) for word in "abcdef"]
    played = Played(Breaker(budget=RunBudget(max_turns=2))).play(
        *moves, asynchronous=form == "async", **shape
    )

    assert played.stop is not None
    assert played.stop.reason == "turn_budget"
    assert len(played.messages) == 2
    assert played.shop.searches == 2


@FORMS
@SHAPES
def test_a_lost_write_is_sent_once_however_often_it_is_proposed(
    form: str, shape: dict[str, Any]
) -> None:
    played = Played()
    played.shop.loses_answers = True
    moves = [calls(refund(note=word)) for word in ("please", "again", "and again")]
    played.play(*moves, asynchronous=form == "async", **shape)

    assert played.shop.refunds == ["A-1"]
    assert played.stop is not None
    assert played.stop.reason == "unknown_side_effect"


def test_a_runner_that_nobody_follows_is_guarded_and_not_counted() -> None:
    played = Played().play(calls(refund()), calls(refund(note="once more")), followed=False)

    assert played.shop.refunds == ["A-1"]
    assert [each.reason for each in played.decided] == [None, "duplicate_write"]


def test_the_second_of_two_writes_in_one_message_is_refused() -> None:
    played = Played().play(calls(refund(note="a"), refund(note="b")))

    assert played.shop.refunds == ["A-1"]


def test_a_sibling_after_the_stop_does_not_run() -> None:
    played = Played(Breaker(budget=RunBudget(max_tool_calls=1)))
    played.play(calls(search("a"), refund()))

    assert played.shop.refunds == []
    assert played.shop.searches == 1
    assert played.stop is not None
    assert played.stop.reason == "tool_call_budget"
    assert len(played.messages) == 1


class Unplugged(Shop):
    """A shop that somebody stops while it pays."""

    def __init__(self, played: Played) -> None:
        super().__init__()
        self._run = played.run

    def refund_order(self, order_id: str, note: str = "") -> str:
        """Pay an order back."""
        self._run.interrupt("Somebody has pulled the plug.")
        return super().refund_order(order_id, note)


@FORMS
@SHAPES
def test_a_write_that_is_under_way_at_the_stop_comes_to_its_end(
    form: str, shape: dict[str, Any]
) -> None:
    played = Played()
    played.shop = Unplugged(played)

    moves = [calls(refund("A-1"), refund("A-2")), calls(refund("A-3"))]
    played.play(*moves, asynchronous=form == "async", **shape)

    assert played.shop.refunds == ["A-1"]
    assert len(played.messages) == 1
    assert played.stop is not None
    assert [str(each.status) for each in played.stop.record.writes] == ["confirmed"]


@FORMS
def test_a_stop_closes_the_runner_whoever_counts_its_requests(form: str) -> None:
    played = Played(Breaker(budget=RunBudget(max_tool_calls=1)))
    moves = [calls(search(word)) for word in "abcdef"]
    played.play(*moves, asynchronous=form == "async", count_model=False)

    assert played.stop is not None
    assert played.run.stats().turns == 0
    assert len(played.messages) == 2
    assert played.shop.searches == 1


def test_a_person_s_yes_lets_the_next_proposal_of_the_runner_through() -> None:
    asked = ToolSpec(
        name="refund_order", effect=Effect.WRITE, identity=("order_id",), requires_approval=True
    )
    shop, run = Shop(), Breaker().run()
    seen: list[list[str]] = []
    with (
        model(calls(refund()), calls(refund()), calls(search("a"))) as url,
        run,
        Anthropic(base_url=url, api_key="any") as client,
    ):
        runner = client.beta.messages.tool_runner(
            model="m",
            max_tokens=9,
            tools=guarded(shop.tools(), run, {**SPECS, "refund_order": asked}),
            messages=[{"role": "user", "content": "Hi"}],
        )
        for message in follow(runner, run):
            results = runner.generate_tool_call_response()
            for each in (results or {"content": []})["content"]:
                told = json.loads(each["content"])
                if told.get("call_id"):
                    seen.append(list(shop.refunds))
                    assert told["call_id"] == message.content[0].id
                    run.approve(told["call_id"])

    assert seen == [[]]
    assert shop.refunds == ["A-1"]


def test_results_fetched_twice_write_once() -> None:
    """`append_messages` makes the runner run the tools of a message a second time."""
    played = Played()
    with (
        model(calls(refund())) as url,
        played.run,
        Anthropic(base_url=url, api_key="any") as client,
    ):
        runner = client.beta.messages.tool_runner(
            model="scripted",
            max_tokens=100,
            tools=guarded(played.shop.tools(), played.run, SPECS),
            messages=[{"role": "user", "content": "Hello"}],
        )
        for message in follow(runner, played.run):
            response = runner.generate_tool_call_response()
            if response is not None:
                runner.append_messages(message, response)

    assert played.shop.refunds == ["A-1"]
    assert {each.call_id for each in played.decided} == {played.decided[0].call_id}
    assert len(played.decided) == 2


def test_wrong_arguments_are_told_as_the_client_does_and_leave_nothing_unknown() -> None:
    wrong = Propose(role="refund_order", slots={"order": "A-1"})
    played = Played().play(calls(wrong), calls(refund()))

    assert played.stop is None
    assert played.shop.refunds == ["A-1"]
    assert len(played.decided) == 1


def test_a_hand_off_is_decided_as_one() -> None:
    moves = [
        calls(Propose(role="hand_over", slots={"to": "billing", "note": "please"}))
        for _ in range(6)
    ]
    played = Played().play(*moves)

    assert played.stop is not None
    assert played.stop.reason == "handoff_without_progress"


class Asked:
    """A run that notes what it is asked."""

    mode = "open"

    def __init__(self) -> None:
        self.said: list[str] = []

    def before_model(self) -> Any:
        self.said.append("before")
        return ALLOW

    def model_failed(self) -> None:
        self.said.append("failed")


def test_a_request_that_fails_is_taken_back() -> None:
    asked = Asked()
    with Anthropic(base_url="http://127.0.0.1:9", api_key="any", max_retries=0) as client:
        runner = client.beta.messages.tool_runner(
            model="m", max_tokens=9, tools=[], messages=[{"role": "user", "content": "Hi"}]
        )
        with pytest.raises(anthropic.APIConnectionError):
            list(follow(runner, asked))

    assert asked.said == ["before", "failed"]


@pytest.mark.parametrize("stream", [{}, {"stream": True}], ids=["plain", "stream"])
def test_a_loop_that_is_left_half_way_has_paid(stream: dict[str, Any]) -> None:
    played = Played(Breaker(budget=RunBudget(max_tokens=1000)))
    with (
        model(calls(search("a")), calls(refund())) as url,
        Anthropic(base_url=url, api_key="any") as client,
    ):
        runner = client.beta.messages.tool_runner(
            model="m",
            max_tokens=9,
            tools=guarded(played.shop.tools(), played.run, SPECS),
            messages=[{"role": "user", "content": "Hi"}],
            **stream,
        )
        for _ in follow(runner, played.run):
            break

    assert played.run.stats().turns == 1
    assert (played.run.stats().tokens > 0) is (not stream)
    # Nobody can say what the rest of a stream would have been.
    assert played.run.last_reason == ("cost_unknown" if stream else None)


def test_a_hint_reaches_the_model_in_the_tool_s_own_text() -> None:
    run = Breaker().run()
    (look, *_) = guarded(Shop().tools(), run, SPECS)
    shown = []
    for _ in range(5):
        run.before_model()
        run.after_model(Usage(prompt_tokens=1, completion_tokens=1))
        shown.append(json.loads(look.call({"query": "a"})))

    assert shown[0] == {"orders": [], "query": "a"}
    assert shown[1]["orders"] == []
    assert "tripwire_hint" in shown[1]
    assert shown[-1]["refused"] is True


def test_a_guarded_tool_that_is_called_as_a_function_asks_too() -> None:
    shop, run = Shop(), Breaker().run()
    with run:
        _, pay, _ = guarded(shop.tools(), run, SPECS)
        first, second = pay("A-1", note="x"), pay(order_id="A-1")

    assert json.loads(first) == {"refund_id": "R-1"}
    assert json.loads(second)["refused"] is True
    assert shop.refunds == ["A-1"]


def test_the_user_s_own_tools_stay_as_they_were() -> None:
    shop = Shop()
    own = shop.tools()
    with Breaker().run() as run:
        kept = guarded(own, run, SPECS)

    own[1].call({"order_id": "A-1"})
    own[1].call({"order_id": "A-1"})
    assert shop.refunds == ["A-1", "A-1"]
    assert [each.to_dict() for each in kept] == [each.to_dict() for each in own]


def test_what_the_provider_runs_is_handed_on_and_a_toolset_is_not() -> None:
    class Many(native_tools.BetaRunnableToolset):
        def __init__(self) -> None:
            pass

        def to_dict(self) -> Any:
            return {}

        def tool_result(self, tool_use: Any) -> Any:
            return None

    Many.__abstractmethods__ = frozenset()
    web = {"type": "web_search_20250305", "name": "web_search"}
    with Breaker().run() as run:
        assert guarded([web], run) == [web]
        with pytest.raises(TypeError, match="toolset"):
            guarded([Many()], run)


def _block(call_id: str, given: dict[str, Any]) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "look", "input": given}


def test_of_equal_calls_the_one_is_found_whose_input_it_is() -> None:
    first, second = {"query": "a"}, {"query": "a"}
    turn = Turn(lambda: [_block("one", first), _block("two", second)])

    assert turn.id_of("look", second) == "two"
    assert turn.id_of("look", first) == "one"


def test_of_equal_calls_that_were_copied_each_is_found_once() -> None:
    turn = Turn(lambda: [_block("one", {"query": "a"}), _block("two", {"query": "a"})])

    assert [turn.id_of("look", {"query": "a"}) for _ in range(2)] == ["one", "two"]
    assert turn.id_of("look", {"query": "b"}) is None
    assert turn.id_of("burn", {"query": "a"}) is None


def test_what_came_from_the_cache_or_went_into_it_is_part_of_the_prompt() -> None:
    used = {
        "input_tokens": 1,
        "cache_creation_input_tokens": 20,
        "cache_read_input_tokens": 300,
        "output_tokens": 4000,
    }

    assert usage_of({"usage": used}) == Usage(
        prompt_tokens=321, completion_tokens=4000, cached_tokens=300, cache_write_tokens=20
    )
    assert usage_of({}) == Usage()


def test_two_tools_of_one_name_run_each_its_own_body() -> None:
    ran: list[str] = []

    def of(whose: str) -> Any:
        @beta_tool(name="search_orders")
        def look(query: str) -> str:
            ran.append(whose)
            return "{}"

        return look

    first, second = guarded([of("first"), of("second")], Breaker().run(), SPECS)
    first.call({"query": "a"})
    second.call({"query": "b"})

    assert ran == ["first", "second"]


def test_two_tools_of_one_name_that_are_declared_differently_are_refused() -> None:
    @beta_tool(name="order")
    @tool_spec(effect="read")
    def look(order: str) -> str:
        return "{}"

    @beta_tool(name="order")
    @tool_spec(effect="write", identity=("order",))
    def change(order: str) -> str:
        return "{}"

    with pytest.raises(TypeError, match="'order'"):
        guarded([look, change], Breaker().run())
    told = {"order": ToolSpec(name="order", effect=Effect.WRITE)}
    assert len(guarded([look, change], Breaker().run(), told)) == 2


@pytest.mark.parametrize("given", [{}, {"key": "the model's own"}], ids=["hidden", "shown"])
def test_the_breaker_s_own_key_is_put_in_whether_or_not_the_model_is_shown_it(
    given: dict[str, str],
) -> None:
    paid: list[tuple[str, str]] = []

    def pay(order: str, key: str) -> str:
        paid.append((order, key))
        return "{}"

    shown = {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]}
    spec = ToolSpec(name="pay", effect=Effect.WRITE, identity=("order",), key_argument="key")
    (tool,) = guarded([beta_tool(pay, input_schema=shown)], Breaker().run(), {"pay": spec})

    tool.call({"order": "A-1", **given})
    with pytest.raises(ValueError, match="Invalid arguments"):
        tool.call({"orders": "A-2", **given})

    assert [order for order, _ in paid] == ["A-1"]
    assert paid[0][1] not in {"", *given.values()}


@FORMS
def test_tools_that_are_guarded_by_the_run_already_are_asked_about_once(form: str) -> None:
    shop, run = Shop(), Breaker().run()
    own = shop.tools() if form == "sync" else shop.async_tools()
    _, pay, _ = guarded(guarded(own, run, SPECS), run, SPECS)

    result = pay.call({"order_id": "A-1"})
    told = json.loads(result if form == "sync" else asyncio.run(result))

    assert told == {"refund_id": "R-1"}
    assert run.stats().calls == 1


def test_tools_that_another_run_has_guarded_ask_both() -> None:
    shop, one, other = Shop(), Breaker().run(), Breaker().run()
    _, pay, _ = guarded(guarded(shop.tools(), one, SPECS), other, SPECS)
    one.interrupt("Enough.")

    assert json.loads(pay.call({"order_id": "A-1"}))["refused"] is True
    assert other.stats().calls == 1
    assert shop.refunds == []


class OutOfHereError(BaseException):
    """Ends whatever calls the tool, as a signal's handler may."""


@pytest.mark.parametrize(
    "shape",
    [{}, {"stream": True}, {"stream": True, "run_tools_eagerly": True}],
    ids=["plain", "stream", "eager"],
)
def test_a_runner_that_is_followed_again_after_it_broke_off_writes_nothing_twice(
    shape: dict[str, Any],
) -> None:
    played, broken = Played(), []

    def leave(query: str) -> str:
        """Break off, once."""
        broken.append(query)
        if len(broken) == 1:
            raise OutOfHereError
        return "{}"

    specs = {**SPECS, "leave": ToolSpec(name="leave", effect=Effect.WRITE, identity=("query",))}
    moves = calls(refund(), Propose(role="leave", slots={"query": "a"}), refund("A-2"))
    with model(moves) as url, Anthropic(base_url=url, api_key="any") as client:
        tools = guarded([*played.shop.tools(), beta_tool(leave)], played.run, specs)
        runner = client.beta.messages.tool_runner(tools=tools, **ASKS, **shape)
        for _ in range(2):
            with contextlib.suppress(OutOfHereError):
                for item in follow(runner, played.run):
                    for _ in item if shape else ():
                        pass

    record = played.run.close()
    assert record is not None
    assert [each.tool for each in record.writes if each.status == "unknown"] == ["leave"]
    assert broken == ["a"]
    assert played.shop.refunds.count("A-1") == 1
    assert played.shop.refunds.count("A-2") <= 1
