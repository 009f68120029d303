"""Ways that were found to write twice, to lose a write, or to stop good work; each held by now."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from pytest_tripwire.breaker import (
    Breaker,
    Interrupted,
    Mode,
    Outcome,
    Resume,
    RunBudget,
    Status,
    ToolCall,
    ToolSpec,
    Usage,
    tool_spec,
)
from pytest_tripwire.timeline import WriteStatus

from ..clock import Clock  # noqa: TID252 - no package to import from

PAY = ToolSpec(name="pay", effect="write", identity=("order",))


def a_call(number: int, tool: str = "pay", **arguments: Any) -> ToolCall:
    return ToolCall(call_id=str(number), tool=tool, arguments=arguments)


def test_a_write_that_never_came_back_holds_its_resource_for_the_next_run() -> None:
    breaker = Breaker(specs={"pay": PAY})
    with pytest.raises(Interrupted), breaker.run() as run:
        assert run.decide(a_call(1, order="A", amount=40)).allowed

    for amount in (40, 45):
        verdict = breaker.run().decide(a_call(2, order="A", amount=amount))
        assert verdict.reason == "unknown_side_effect"


def test_a_write_that_may_still_be_running_is_not_rejected_by_a_read() -> None:
    clock = Clock()
    spec = ToolSpec(
        name="pay",
        effect="write",
        identity=("order",),
        reconcile=lambda order: [],
        late_effect_s=30.0,
    )
    breaker = Breaker(specs={"pay": spec}, clock=clock, budget=RunBudget(deadline_s=60))
    first, second = breaker.run(), breaker.run()
    assert first.decide(a_call(1, order="A")).allowed
    clock.seconds = 59
    assert second.decide(a_call(2, order="B")).allowed
    second.settle(a_call(2, order="B"), Outcome(status=Status.OK))
    clock.seconds = 61
    first.expire()

    third = breaker.run()

    assert third.decide(a_call(3, order="A")).reason == "unknown_side_effect"


def test_what_is_certain_stays_so_when_a_call_comes_back_late() -> None:
    breaker = Breaker(specs={"pay": PAY})
    run = breaker.run()
    run.decide(a_call(1, order="A"))
    (entry,) = breaker.store.of_run(run.run_id)
    breaker.store.settle(entry.key, WriteStatus.CONFIRMED, result_id="R1")

    run.settle(a_call(1, order="A"), Outcome(status=Status.UNKNOWN))

    (entry,) = breaker.store.of_run(run.run_id)
    assert (entry.status, entry.result_id) == (WriteStatus.CONFIRMED, "R1")


@pytest.mark.parametrize("how", ["close", "reject", "needs_input", "finish"])
def test_a_run_that_has_ended_dispatches_nothing(how: str) -> None:
    sent: list[str] = []

    def pay(order: str) -> dict[str, str]:
        sent.append(order)
        return {"id": order}

    run = Breaker(specs={"pay": PAY}).run()
    (tool,) = run.guard([pay])
    tool("A")
    arguments = {
        "reject": ("not ours",),
        "needs_input": (),
    }.get(how, ())
    named = {"field": "order", "why": "missing", "question": "Which?"}
    getattr(run, how)(*arguments, **(named if how == "needs_input" else {}))

    assert tool("B")["reason"] == "cancelled"
    assert sent == ["A"]


def test_an_old_run_does_not_open_a_record_again_that_was_taken_up() -> None:
    breaker = Breaker(specs={"pay": PAY, "look": ToolSpec(name="look", effect="read")})
    first = breaker.run()
    first.decide(a_call(1, "look", q="x"))
    first.interrupt("stop")
    record = breaker.store.record_of(first.run_id)
    wanted = Resume(run_id=record.run_id, token_version=record.token_version, operator="ada")
    second = breaker.resume(wanted, authorise=lambda *_: True, reload=lambda _: None)
    second.close()
    assert breaker.store.record_of(first.run_id).ended_as == "resumed"

    first.settle(a_call(1, "look", q="x"), Outcome(status=Status.OK, result="y"))

    assert breaker.store.record_of(first.run_id).ended_as == "resumed"


def resumed(breaker: Breaker, run: Any, **options: Any) -> Any:
    record = breaker.store.record_of(run.run_id)
    wanted = Resume(
        run_id=record.run_id,
        token_version=record.token_version,
        operator="ada",
        read_only=options.pop("read_only", False),
    )
    return breaker.resume(
        wanted, authorise=lambda *_: True, reload=options.pop("reload", lambda _: None)
    )


def test_a_denial_outlives_an_interruption() -> None:
    credit = ToolSpec(name="credit", effect="write", operation="pay", identity=("order",))
    breaker = Breaker(specs={"pay": PAY, "credit": credit})
    run = breaker.run()
    run.decide(a_call(1, order="A"))
    run.settle(a_call(1, order="A"), Outcome(status=Status.DENIED, rule="no-refunds"))
    run.interrupt("stop")

    again = resumed(breaker, run)

    assert again.decide(a_call(2, "credit", order="A")).reason == "repeated_denial"


def test_every_record_that_was_read_is_compared_on_resume() -> None:
    look = ToolSpec(name="look", effect="read", identity=("order",), result_version="version")
    breaker = Breaker(specs={"pay": PAY, "look": look})
    run = breaker.run()
    for number, (order, version) in enumerate([("A", 7), ("B", 1)]):
        call = a_call(number, "look", order=order)
        run.decide(call)
        run.settle(call, Outcome(status=Status.OK, result={"version": version}))
    run.interrupt("stop")

    again = resumed(breaker, run, reload={"A": "8", "B": "1"}.get)

    assert again.last_reason == "stale_resume"
    assert again.decide(a_call(9, order="A")).reason == "stale_resume"


def test_a_read_only_resume_may_read() -> None:
    breaker = Breaker(specs={"pay": PAY, "look": ToolSpec(name="look", effect="read")})
    run = breaker.run()
    run.interrupt("stop")

    again = resumed(breaker, run, read_only=True)

    assert again.decide(a_call(1, "look", q="x")).allowed
    assert again.mode is Mode.READ_ONLY
    assert not again.decide(a_call(2, order="A")).allowed


def test_a_read_only_resume_settles_an_unknown_write() -> None:
    spec = ToolSpec(
        name="pay", effect="write", identity=("order",), reconcile="look", result_id="id"
    )
    breaker = Breaker(specs={"pay": spec, "look": ToolSpec(name="look", effect="read")})
    run = breaker.run()
    run.decide(a_call(1, order="A"))
    run.settle(a_call(1, order="A"), Outcome(status=Status.UNKNOWN))
    run.close()

    again = resumed(breaker, run, read_only=True)
    again.guard({"pay": lambda order: {}, "look": lambda order: {"id": "R1"}})
    again.call("look", {"order": "A"})

    (entry,) = breaker.store.of_run(run.run_id)
    assert entry.status is WriteStatus.CONFIRMED


@pytest.mark.parametrize("shown", ["R1", "from another line, long ago"])
def test_a_wider_read_proves_nothing(shown: str) -> None:
    fates = iter(["ok", "lost"])

    def pay(order: str, line: int) -> dict[str, str]:
        if next(fates) == "lost":
            raise TimeoutError
        return {"id": "R1"}

    spec = ToolSpec(
        name="pay",
        effect="write",
        identity=("order", "line"),
        result_id="id",
        reconcile=lambda order: {"id": shown},
    )
    run = Breaker(specs={"pay": spec}).run()
    (tool,) = run.guard([pay])
    tool("A", 1)
    with pytest.raises(TimeoutError):
        tool("A", 2)

    assert tool("A", 2)["reason"] == "unknown_side_effect"


def test_a_write_is_settled_by_its_own_read_whichever_tool_is_proposed_next() -> None:
    refund = ToolSpec(
        name="refund",
        effect="write",
        operation="pay_back",
        identity=("order_id",),
        reconcile=lambda order_id: {"id": f"R-{order_id}"},
    )
    credit = ToolSpec(name="credit", effect="write", operation="pay_back", identity=("order",))
    run = Breaker(specs={"refund": refund, "credit": credit}).run()
    run.decide(a_call(1, "refund", order_id="A"))
    run.settle(a_call(1, "refund", order_id="A"), Outcome(status=Status.UNKNOWN))

    verdict = run.decide(a_call(2, "credit", order="A"))

    assert verdict.reason == "duplicate_write"
    assert run.mode is Mode.OPEN


@pytest.mark.parametrize(
    "result", [{"isError": True, "error": "nothing"}, {"failure": "out of stock"}]
)
def test_a_result_that_tells_of_an_error_confirms_nothing(result: dict[str, Any]) -> None:
    spec = ToolSpec(name="pay", effect="write", identity=("order",), error_field="failure")
    breaker = Breaker(specs={"pay": spec})
    run = breaker.run()
    (tool,) = run.guard({"pay": lambda order: result}).values()
    tool("A")

    assert breaker.store.of_run(run.run_id)[0].status is WriteStatus.UNKNOWN


def test_an_error_that_is_declared_as_definite_may_be_tried_again() -> None:
    spec = ToolSpec(
        name="pay",
        effect="write",
        identity=("order",),
        error_field="failure",
        definite_failures=("NOT_ACCEPTED",),
    )
    results = iter([{"failure": "NOT_ACCEPTED"}, {"id": "R1"}])
    run = Breaker(specs={"pay": spec}).run()
    (tool,) = run.guard({"pay": lambda order: next(results)}).values()

    assert tool("A") == {"failure": "NOT_ACCEPTED"}
    assert tool("A") == {"id": "R1"}


def test_a_generator_is_no_tool() -> None:
    @tool_spec(effect="write")
    def pay(order: str) -> Iterator[str]:
        yield order

    with pytest.raises(TypeError, match="'pay' is a generator"):
        Breaker().run().guard([pay])


def test_good_work_under_postconditions_is_no_cycle() -> None:
    failing = [9]

    def run_tests() -> dict[str, int]:
        return {"failing": failing[0]}

    def edit(file: str, patch: str) -> str:
        failing[0] -= 1
        return f"{file} {patch}"

    specs = {
        "run_tests": ToolSpec(name="run_tests", effect="read"),
        "edit": ToolSpec(name="edit", effect="write"),
    }
    run = Breaker(specs=specs).run(postconditions={"green": lambda: failing[0] == 0})
    tests, change = run.guard([run_tests, edit])
    for number in range(9):
        tests()
        change(f"f{number}", f"patch {number}")

    assert run.mode is Mode.OPEN


def test_a_result_of_any_depth_is_counted() -> None:
    deep: Any = []
    for _ in range(5000):
        deep = {"a": deep}
    run = Breaker(specs={"look": ToolSpec(name="look", effect="read")}).run()
    (look,) = run.guard({"look": lambda q: deep}).values()

    told = [look("x") for _ in range(4)]

    assert told[3]["refused"]


@pytest.mark.parametrize("cost", ["-100", "NaN", "Infinity"])
def test_a_cost_that_cannot_be_is_unknown(cost: str) -> None:
    run = Breaker(budget=RunBudget(max_model_cost_usd=Decimal(1))).run()
    run.before_model()

    run.after_model(Usage(prompt_tokens=-5, completion_tokens=1, cost_usd=Decimal(cost)))

    assert run.last_reason == "cost_unknown"
    assert run.budgets()[0].remaining <= 1


def test_an_id_that_cannot_be_looked_up_is_taken_as_text() -> None:
    run = Breaker(specs={"pay": PAY}, budget=RunBudget(max_side_effects=1)).run()
    odd = ToolCall(call_id=["x"], tool="pay", arguments={"order": "A"})  # type: ignore[arg-type]

    assert run.decide(odd).allowed
    run.settle(odd, Outcome(status=Status.DEFINITE))

    assert run.budgets()[0].remaining == 1


def test_a_policy_that_fails_has_not_said_yes() -> None:
    def policy(call: ToolCall, _spec: ToolSpec) -> None:
        raise KeyError(call.arguments["no such"])

    verdict = Breaker(specs={"pay": PAY}, policy=policy).run().decide(a_call(1, order="A"))

    assert verdict.reason == "denied"
    assert "KeyError" in verdict.message


def test_another_delivery_beside_this_one_excuses_no_repeat() -> None:
    breaker = Breaker(specs={"pay": PAY})
    one, other = breaker.run(request_id="m"), breaker.run(request_id="m")
    for run, amount in ((one, 40), (other, 41)):
        call = a_call(amount, order="A", amount=amount)
        assert run.decide(call).allowed
        run.settle(call, Outcome(status=Status.OK))

    assert one.decide(a_call(3, order="A", amount=40)).reason == "duplicate_write"
