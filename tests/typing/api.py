"""The public names as a team uses them. mypy and pyright read this file; nobody runs it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from decimal import Decimal
from typing import Any, assert_type

from pytest_tripwire import (
    AMOUNT,
    NONCE,
    RESOURCE,
    WORDING,
    Agent,
    Breaker,
    Denial,
    Effect,
    Harness,
    HarnessError,
    Interrupted,
    Options,
    Protection,
    Reason,
    Role,
    Run,
    RunBudget,
    Task,
    ToolSpec,
    Tripwire,
    TripwireFailure,
    TripwireFor,
    assert_interrupted,
    assert_no_mutation_after_interrupt,
    tool_spec,
)
from pytest_tripwire.breaker import BreakerRun, InterruptionRecord, Terminal, Usage
from pytest_tripwire.guard import Resume
from pytest_tripwire.timeline import SafeAction, ToolCall
from pytest_tripwire.world import FIELD, VALUE


def issue_credit(order: str, cents: int, note: str = "", *, request: str) -> dict[str, str]:
    """A team's own tool."""
    return {"order": order, "note": note, "request": request, "cents": str(cents)}


# -- conftest.py


def tripwire_agent() -> Agent:
    def agent(task: Task) -> str:
        task.tools["issue_refund"](order_id="A-1")
        task.tools.call("issue_refund", {"order_id": "A-1"}, call_id="1", agent="refunds")
        assert_type(task.prompt, str)
        assert_type(task.model.base_url("openai"), str)
        assert_type(task.model.api_key, str)
        assert_type(task.model.env, dict[str, str])
        assert_type(list(task.tools), list[str])
        assert_type(task.tools.schemas("openai"), list[dict[str, Any]])
        assert_type(task.limits, RunBudget)
        if task.resume is not None:
            assert_type(task.resume.decision, str)
            assert_type(task.resume.token_version, int)
        return "done"

    return agent


def tripwire_async_agent() -> Agent:
    async def agent(task: Task) -> str:
        await task.tools.acall("get_refund", {"order_id": "A-1"})
        return "done"

    return agent


def tripwire_budget() -> RunBudget:
    return RunBudget(
        max_turns=20,
        usual_turns=8,
        deadline_s=60,
        max_model_cost_usd=Decimal("0.50"),
        max_tool_calls=30,
        max_side_effects=2,
    )


def tripwire_specs() -> Mapping[str, ToolSpec]:
    spec = ToolSpec(
        name="issue_credit",
        effect=Effect.WRITE,
        identity=("order",),
        wording=("note",),
        reconcile="credits_of",
        late_effect_s=5,
        definite_failures=(ValueError, "CreditRefused"),
    )
    return {"issue_credit": spec}


def tripwire_partial_specs() -> Mapping[str, ToolSpec | Mapping[str, Any]]:
    return {**tripwire_specs(), "issue_refund": {"reconcile": "get_refund", "poll": False}}


def tripwire_persona() -> str | None:
    return "compliant"


class TooMuchError(Exception):
    """What a team's own protection raises."""


def tripwire_stops() -> tuple[type[BaseException], ...]:
    return (TooMuchError,)


def tripwire_tools() -> Mapping[str, Role]:
    def shape(result: dict[str, Any]) -> dict[str, Any]:
        return {"credit": result["refund_id"]}

    args = {"order": RESOURCE, "cents": AMOUNT, "note": WORDING, "request": NONCE}
    schema: dict[str, Any] = {
        "name": "find_credit",
        "parameters": {"type": "object", "properties": {}},
    }
    return {
        "write": Role(issue_credit, args, shape),
        "status": Role(issue_credit),
        "find": Role(schema, {"field": FIELD, "value": VALUE}),
        "handoff": Role((issue_credit, schema), {"note": WORDING}),
    }


# -- test_support.py


def test_support_agent_is_contained(tripwire: Tripwire) -> None:
    run = tripwire.run()
    assert_type(run, Run)
    run.check()
    assert_interrupted(run)
    assert_interrupted(run, reason="unknown_side_effect")
    assert_interrupted(run, reason=[Reason.DEADLINE, "budget"])
    assert_no_mutation_after_interrupt(run)
    assert_type(run.interrupted, bool)
    assert_type(run.reason, Reason | None)
    assert_type(run.timeline(), str)
    assert_type(tripwire.runs, tuple[Run, ...])


def test_lost_refund(tripwire_for: TripwireFor) -> None:
    handle = tripwire_for("lost-write")
    assert_type(handle, Tripwire)
    assert_type(handle.agent_id, str)
    assert_type(handle.protection, str)


async def test_async(tripwire: Tripwire) -> None:
    assert_type(await tripwire.arun(), Run)


def by_hand() -> None:
    options = Options(
        protection=Protection.OWN,
        roles=tripwire_tools(),
        budget=tripwire_budget(),
        specs=tripwire_partial_specs(),
        persona=tripwire_persona(),
        variant="nonces",
        seed=7,
        stops=tripwire_stops(),
        max_requests=50,
        max_seconds=10,
    )
    try:
        Harness("lost-write", tripwire_agent(), agent_id="shop", options=options).run().check()
    except TripwireFailure as failure:
        assert_type(failure.cell.case, str)
    except HarnessError as error:
        assert_type(str(error), str)


# -- production


@tool_spec(effect="write", identity=("order_id",), wording=("reason",))
def refund(order_id: str, reason: str) -> str:
    return f"refunded {order_id}: {reason}"


@tool_spec(effect=Effect.READ)
async def status(order_id: str) -> str:
    return order_id


def policy(call: ToolCall, spec: ToolSpec) -> Denial | None:
    denied = spec.effect is Effect.WRITE and call.agent == "intern"
    return Denial(rule="R1", message="not today") if denied else None


def await_it(tool: Callable[[str], Awaitable[str]]) -> None: ...


def in_production() -> None:
    breaker = Breaker(budget=tripwire_budget(), policy=policy, specs=tripwire_specs())
    with breaker.run(tenant="acme", workflow="refunds@4", request_id="r-1") as run:
        guarded = run.guard({"refund": refund})
        assert_type(guarded["refund"](order_id="A-1", reason="sent back"), str)
        # One list of tools of one kind keeps their type.
        (again,) = run.guard([refund])
        assert_type(again("A-1", "sent back"), str)
        (looked_up,) = run.guard([status])
        await_it(looked_up)
        run.call("refund", {"order_id": "A-1", "reason": "sent back"})
        assert_type(run.before_model(Decimal("0.01")).allowed, bool)
        run.after_model(Usage(prompt_tokens=900, completion_tokens=100, cost_usd=Decimal("0.01")))
        assert_type(run.time_left, float | None)
        assert_type(run.terminal, Terminal | None)
    with breaker.run(postconditions={"paid": lambda: True, "orders": lambda: 2}) as judged:
        assert_type(judged.needs_input(field="date", why="policy", question="When?"), Terminal)


def taken_up(breaker: Breaker, stopped: Interrupted) -> BreakerRun:
    def authorise(operator: str, record: InterruptionRecord, action: SafeAction) -> bool:
        return operator == "ada" and record.tenant == "acme" and action is SafeAction.RESUME

    def reload(resource: str) -> str | None:
        return {"A-1001": "7"}.get(resource)

    record = stopped.record
    wanted = Resume(run_id=record.run_id, token_version=record.token_version, operator="ada")
    return breaker.resume(wanted, authorise=authorise, reload=reload)


def resumed(stopped: Interrupted) -> Reason:
    assert_type(stopped.reason, Reason)
    return stopped.record.reason
