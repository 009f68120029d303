"""What is decided about odd calls, in which order, and that nothing hostile makes it raise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.breaker import (
    Breaker,
    Decision,
    Denial,
    Mode,
    Outcome,
    Reason,
    RunBudget,
    Status,
    ToolCall,
    ToolSpec,
    tool_spec,
)
from pytest_tripwire.timeline import Effect, Timeline, from_json, to_json

Call = Callable[..., Any]


def deny_refunds(_call: ToolCall, spec: ToolSpec) -> Denial | None:
    return Denial(rule="no-refunds", message="ask a person") if spec.mutates else None


def test_a_denied_call_names_its_rule_and_is_not_sent(
    make_shop: Call, desk: Any, refund: Call
) -> None:
    run = make_shop(policy=deny_refunds).run()

    told = refund(run)

    assert told["reason"] == "denied"
    assert "ask a person (rule no-refunds)" in told["message"]
    assert desk.sent == []
    assert run.mode is Mode.OPEN


def test_of_several_reasons_the_first_in_order_is_told(make_shop: Call, refund: Call) -> None:
    run = make_shop(policy=deny_refunds, budget=RunBudget(max_side_effects=0)).run()

    assert run.call("issue_refund", {"no_such": 1})["reason"] == "invalid_arguments"
    assert refund(run)["reason"] == "denied"
    assert run.mode is Mode.OPEN


def test_certainty_comes_before_budgets(make_shop: Call, refund: Call) -> None:
    run = make_shop(budget=RunBudget(max_side_effects=1)).run()
    refund(run)

    assert refund(run)["reason"] == "duplicate_write"
    assert run.mode is Mode.OPEN


def test_an_unheard_of_tool_is_refused_with_those_there_are(shop: Any) -> None:
    told = shop.run().call("refund_everything", {"order_id": "A-1"})

    assert told["reason"] == "invalid_arguments"
    for name in shop.specs:
        assert name in told["message"]


def test_a_tool_that_is_declared_but_not_guarded_is_not_let_through() -> None:
    spec = ToolSpec(name="pay", effect=Effect.WRITE)
    breaker = Breaker(specs={"pay": spec})
    run = breaker.run()

    assert run.call("pay", {"order": 1})["reason"] == "invalid_arguments"
    assert breaker.store.of_run(run.run_id) == ()


@pytest.mark.parametrize("arguments", [None, [], "x", 7, ["order_id"]])
def test_arguments_that_are_no_object_are_refused(shop: Any, desk: Any, arguments: Any) -> None:
    run = shop.run()

    assert run.call("issue_refund", arguments)["reason"] == "invalid_arguments"
    call = ToolCall(call_id="1", tool="issue_refund", arguments=arguments)
    assert run.decide(call).reason is Reason.INVALID_ARGUMENTS
    assert desk.sent == []


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers()
    | st.text(st.characters(categories=None)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=100, deadline=None)
@given(
    st.text(st.characters(categories=None), max_size=5) | st.sampled_from(["pay", "look"]),
    st.dictionaries(st.text(max_size=3) | st.just("order"), JSON, max_size=4),
    st.text(st.characters(categories=None), max_size=3),
)
def test_whatever_a_model_sends_there_is_a_verdict(
    tool: str, arguments: dict[str, Any], call_id: str
) -> None:
    specs = {
        "pay": ToolSpec(name="pay", effect=Effect.WRITE, identity=("order",), reconcile="look"),
        "look": ToolSpec(name="look", effect=Effect.READ),
    }
    timeline = Timeline(lambda: 0.0)
    breaker = Breaker(specs=specs, budget=RunBudget(max_side_effects=2))
    run = breaker.run(timeline=timeline)
    call = ToolCall(call_id=call_id, tool=tool, arguments=arguments)

    for _ in range(4):
        verdict = run.decide(call)
        assert verdict.decision in Decision
        assert verdict.allowed == (verdict.reason is None)
        if verdict.allowed:
            run.settle(call, Outcome(status=Status.UNKNOWN, result=arguments))

    assert len(from_json(to_json(timeline.events()))) == len(timeline.events()) >= 4


def test_a_refusal_reads_as_a_result(make_shop: Call, refund: Call) -> None:
    told = refund(make_shop(policy=deny_refunds).run())

    assert told == {"refused": True, "reason": "denied", "message": told["message"]}
    assert type(told["reason"]) is str


def test_a_declaration_stands_beside_the_tool() -> None:
    @tool_spec(effect="write", identity=("order_id",), result_id="ref")
    def pay(order_id: str) -> None: ...

    @tool_spec(effect=Effect.READ, name="look_up")
    def look(order_id: str) -> None: ...

    marked = [tool.__tripwire_spec__ for tool in (pay, look)]  # type: ignore[attr-defined]
    assert marked == [
        ToolSpec(name="pay", effect=Effect.WRITE, identity=("order_id",), result_id="ref"),
        ToolSpec(name="look_up", effect=Effect.READ),
    ]


def test_a_wrong_declaration_is_told_at_once() -> None:
    with pytest.raises(ValueError, match=r"'delete'.*read, write, handoff"):
        tool_spec(effect="delete")
    with pytest.raises(TypeError, match="identiy"):
        tool_spec(effect="write", identiy=("order_id",))(lambda: None)
    with pytest.raises(ValueError, match="one of read, write, handoff"):
        Breaker(default_effect="none")


def test_a_handoff_takes_no_slot_but_is_a_change() -> None:
    handoff = ToolSpec(name="to_billing", effect=Effect.HANDOFF)
    breaker = Breaker(budget=RunBudget(max_side_effects=0))
    run = breaker.run()
    run.guard({"to_billing": lambda topic: topic}, {"to_billing": handoff})

    assert run.call("to_billing", {"topic": "refund"}) == "refund"
    assert breaker.store.of_run(run.run_id) == ()


def test_everything_public_can_be_imported_from_one_place() -> None:
    import pytest_tripwire.breaker as module

    for name in module.__all__:
        assert getattr(module, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        module.nothing  # noqa: B018
