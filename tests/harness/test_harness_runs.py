"""One agent on one case, without pytest's plugin."""

from __future__ import annotations

import asyncio
import contextlib
import json
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from pytest_tripwire import (
    RESOURCE,
    Harness,
    HarnessError,
    Options,
    Protection,
    Role,
    RunBudget,
    Task,
)
from pytest_tripwire.cases import UnknownCaseError, load_case
from pytest_tripwire.timeline import (
    Dispatch,
    Effect,
    Mode,
    ModelRequest,
    Mutation,
    SafeAction,
    ToolSpec,
    WriteStatus,
)

from ..cases.production_team import factory  # noqa: TID252 - no package to import from

LOST = "lost-write"
OWN = Options(protection=Protection.OWN)
RECONCILED = ToolSpec(
    name="issue_refund",
    effect=Effect.WRITE,
    identity=("order_id",),
    wording=("reason",),
    result_id="refund_id",
    reconcile="get_refund",
)


def count(run: Any, kind: type) -> int:
    return sum(isinstance(event, kind) for event in run.events)


def test_a_contained_run_is_data(agents: Any) -> None:
    run = Harness(LOST, agents.twice, agent_id="shop").run()

    assert (run.cell.agent, run.cell.case, run.cell.state) == ("shop", LOST, "contained")
    assert (run.cell.protection, run.cell.ending) == (
        "harness",
        "interrupted (unknown_side_effect)",
    )
    assert (run.answer, run.error, run.surfaced) == ("paid", None, "returned normally")
    assert run.interrupted
    assert run.reason == "unknown_side_effect"
    assert count(run, Mutation) == 1
    assert [line.name for line in run.budgets] == [
        "max_turns",
        "max_tool_calls",
        "max_side_effects",
    ]
    run.check()


def test_the_record_of_an_interruption_says_how_to_go_on(agents: Any) -> None:
    record = Harness(LOST, agents.twice).run().record

    assert record is not None
    assert (record.mode, record.workflow) == (Mode.READ_ONLY, LOST)
    assert [entry.status for entry in record.writes] == [WriteStatus.UNKNOWN]
    assert SafeAction.RECONCILE in record.safe_actions


@pytest.mark.parametrize(
    ("persona", "protection", "state", "refunds", "requests"),
    [
        ("stubborn", "harness", "contained", 1, 4),
        ("compliant", "harness", "contained", 1, 3),
        ("stubborn", "own", "escaped", 4, 5),
        ("compliant", "own", "escaped", 4, 5),
    ],
)
def test_personas_and_protections(  # noqa: PLR0917 - a column of the table each
    agents: Any, persona: str, protection: str, state: str, refunds: int, requests: int
) -> None:
    options = Options(persona=persona, protection=Protection(protection))

    run = Harness(LOST, agents.loop, options=options).run()

    assert run.cell.state == state
    assert count(run, Mutation) == refunds
    assert count(run, ModelRequest) == requests
    assert run.interrupted is (protection == "harness")


@pytest.mark.parametrize("persona", ["stubborn", "compliant"])
def test_a_run_that_can_reconcile_completes(agents: Any, persona: str) -> None:
    options = Options(persona=persona, specs={"issue_refund": RECONCILED})

    run = Harness(LOST, agents.loop, options=options).run()

    assert (run.cell.state, run.cell.ending) == ("contained", "answered")
    assert count(run, Mutation) == 1
    assert not run.interrupted


def test_the_first_persona_is_the_default(agents: Any) -> None:
    default = Harness(LOST, agents.loop).run()
    stubborn = Harness(LOST, agents.loop, options=Options(persona="stubborn")).run()

    assert default.timeline() == stubborn.timeline()


def test_an_agent_that_does_nothing_is_inconclusive() -> None:
    run = Harness(LOST, lambda _: "hello").run()

    assert (run.cell.state, run.cell.ending, run.answer) == ("inconclusive", "answered", "hello")
    assert [each.check for each in run.cell.broken] == ["the trap was not met"]


def test_an_agent_that_raises_before_the_trap() -> None:
    def agent(task: Task) -> None:
        raise ZeroDivisionError(task.prompt)

    run = Harness(LOST, agent).run()

    assert (run.cell.state, run.cell.ending) == ("inconclusive", "crashed (ZeroDivisionError)")
    assert isinstance(run.error, ZeroDivisionError)
    assert (run.interrupted, run.surfaced) == (False, "")


def test_an_agent_that_lets_the_lost_answer_through(agents: Any) -> None:
    run = Harness(LOST, agents.refund).run()

    assert run.cell.state == "inconclusive"
    assert run.cell.broken[0].message == "it raised TimeoutError"
    # The write that it left behind is on record all the same.
    assert run.record is not None
    assert run.reason == "unknown_side_effect"


def test_an_agent_that_raises_after_it_was_stopped_is_contained(agents: Any) -> None:
    def agent(task: Task) -> None:
        agents.twice(task)
        raise KeyError

    run = Harness(LOST, agent).run()

    assert (run.cell.state, run.surfaced) == ("contained", "KeyError")


def test_a_violation_outweighs_the_crash_that_follows(agents: Any) -> None:
    def agent(task: Task) -> None:
        agents.twice(task)
        raise KeyError

    run = Harness(LOST, agent, options=OWN).run()

    assert run.cell.state == "escaped"


def test_an_agent_that_hangs_is_cut_off_and_out_of_bounds(agents: Any) -> None:
    async def agent(task: Task) -> None:
        await agents.twice_async(task)
        await asyncio.Event().wait()

    run = Harness(LOST, agent, options=Options(max_seconds=0.2)).run()

    assert run.cell.state == "escaped"
    assert [each.check for each in run.cell.broken] == ["ended in bounds"]
    assert "more than 0.2 s of real time" in run.cell.broken[0].message
    assert isinstance(run.error, TimeoutError)


def test_a_loop_that_asks_its_model_too_often_is_out_of_bounds(agents: Any) -> None:
    def agent(task: Task) -> str:
        agents.twice(task)
        for n in range(4):
            agents.ask(task, [{"role": "user", "content": f"and now? {n}"}])
        return "done"

    run = Harness(LOST, agent, options=Options(max_requests=3)).run()

    assert run.cell.state == "escaped"
    assert run.cell.broken[0].message == ("the agent's loop went on: more than 3 model requests")


def test_as_many_requests_as_allowed_are_within_bounds(agents: Any) -> None:
    run = Harness(LOST, agents.loop, options=Options(max_requests=4)).run()

    assert run.cell.state == "contained"


def test_the_model_turns_harmless_when_the_breaker_opens_no_more_turns(agents: Any) -> None:
    options = Options(budget=RunBudget(max_turns=1))

    run = Harness(LOST, agents.loop, options=options).run()

    assert run.reason == "turn_budget"
    assert "turn" in run.answer
    assert count(run, Dispatch) == 1


def test_every_run_is_fresh(agents: Any) -> None:
    harness = Harness(LOST, agents.loop)

    first, second = harness.run(), harness.run()

    assert first.timeline() == second.timeline()
    assert first.cell == second.cell
    assert first.record == second.record


def test_eight_threads_at_once(agents: Any) -> None:
    cells = {"harness": "contained", "own": "escaped"}
    options = [Options(protection=Protection(name)) for name in cells] * 8

    with ThreadPoolExecutor(8) as pool:
        runs = list(pool.map(lambda o: Harness(LOST, agents.loop, options=o).run(), options))

    assert [run.cell.state for run in runs] == list(cells.values()) * 8
    assert len({run.timeline() for run in runs}) == 2


def test_what_an_agent_is_given() -> None:
    def agent(task: Task) -> dict[str, Any]:
        tools = task.tools
        with pytest.raises(ValueError, match=r"schemas\('gemini'\): the providers are openai"):
            tools.schemas("gemini")
        with pytest.raises(ValueError, match="no model server for 'gemini'"):
            task.model.base_url("gemini")
        return {
            "prompt": task.prompt,
            "resume": task.resume,
            "tools": list(tools),
            "count": len(tools),
            "reprs": [repr(task.tools), repr(task.model)],
            "env": task.model.env,
            "openai": tools.schemas("openai")[1],
            "anthropic": tools.schemas("anthropic")[1],
        }

    given = Harness(LOST, agent).run().answer

    assert given["prompt"] == load_case(LOST).prompt
    assert (given["resume"], given["count"]) == (None, 2)
    assert given["tools"] == ["issue_refund", "get_refund"]
    assert given["reprs"] == ["<Tools issue_refund, get_refund>", "<Model tripwire-scripted>"]
    assert given["env"]["OPENAI_API_KEY"] == "tripwire"
    assert given["env"]["OPENAI_BASE_URL"].startswith("http://127.0.0.1:")
    schema = given["openai"]["function"]
    assert (given["openai"]["type"], schema["name"]) == ("function", "get_refund")
    assert schema["parameters"]["properties"] == {
        "order_id": {"type": "string", "description": "the order."}
    }
    assert given["anthropic"]["input_schema"] == schema["parameters"]


@pytest.mark.parametrize("protection", list(Protection))
def test_tools_can_be_called_by_name_and_as_functions(protection: Protection) -> None:
    def agent(task: Task) -> list[Any]:
        by_name = task.tools.call("get_refund", {"order_id": "A-1001"}, call_id="c", agent="a")
        return [
            by_name,
            task.tools["get_refund"]("A-2001"),
            task.tools["get_refund"](order_id="A-2002"),
        ]

    answer = (
        Harness(LOST, agent, options=Options(protection=protection, breaker=factory())).run().answer
    )

    # Three orders, as a fruitless repetition is answered with a hint.
    assert answer == [
        {"order_id": order, "refund_id": None} for order in ("A-1001", "A-2001", "A-2002")
    ]


def test_a_fruitless_repetition_is_answered_with_a_hint_and_then_ends_the_run() -> None:
    def agent(task: Task) -> list[Any]:
        return [task.tools.call("get_refund", {"order_id": "A-1001"}) for _ in range(4)]

    run = Harness(LOST, agent).run()

    plain = {"order_id": "A-1001", "refund_id": None}
    first, second, third, refused = run.answer
    assert (first, third) == (plain, plain)
    assert {**plain, "tripwire_hint": second["tripwire_hint"]} == second
    assert refused["refused"]
    assert run.reason == "repeated_intent_same_outcome"


def test_a_tool_of_the_agents_own_is_left_as_it_is() -> None:
    def agent(task: Task) -> list[Any]:
        return [task.tools.call("get_refund", {"order_id": "A-1001"}) for _ in range(4)]

    answer = Harness(LOST, agent, options=OWN).run().answer

    assert answer == [{"order_id": "A-1001", "refund_id": None}] * 4


def test_calls_that_make_no_sense_are_refused_and_reach_nothing() -> None:
    def agent(task: Task) -> list[Any]:
        return [task.tools.call("pay_twice", {}), task.tools.call("get_refund", {"order": 1})]

    run = Harness(LOST, agent).run()

    assert [each["reason"] for each in run.answer] == ["invalid_arguments"] * 2
    assert count(run, Dispatch) == 0


# -- used wrongly


def test_an_unknown_case(agents: Any) -> None:
    with pytest.raises(UnknownCaseError, match="Did you mean 'lost-write'"):
        Harness("lost_write", agents.twice)


def test_an_agent_that_cannot_be_called() -> None:
    with pytest.raises(HarnessError, match="gave NoneType, which cannot be called"):
        Harness(LOST, None)  # type: ignore[arg-type]


def test_a_protection_by_its_plain_name(agents: Any) -> None:
    run = Harness(LOST, agents.twice, options=Options(protection="own")).run()  # type: ignore[arg-type]

    assert (run.cell.state, run.cell.protection) == ("escaped", "own")
    with pytest.raises(
        ValueError, match=r"protection='prayer'\): choose from harness, production, own"
    ):
        Options(protection="prayer")  # type: ignore[arg-type]


def test_an_unknown_persona(agents: Any) -> None:
    harness = Harness(LOST, agents.twice, options=Options(persona="polite"))

    with pytest.raises(HarnessError) as raised:
        harness.run()

    assert str(raised.value) == (
        "the case lost-write has no persona 'polite'; it has stubborn, compliant, forgetful"
    )


def test_a_run_that_left_a_write_unsettled_is_not_taken_up_again() -> None:
    tasks = []

    def agent(task: Task) -> str:
        tasks.append(task)
        with contextlib.suppress(LookupError):
            task.tools.call(
                "issue_refund",
                {"order_id": "no such order", "amount": 1, "reason": "", "request_id": "r"},
            )
        return "done"

    # Without this declaration nobody can tell whether anything happened.
    options = Options(specs={"issue_refund": {"definite_failures": ()}})
    run = Harness("stale-resume", agent, options=options).run()

    assert [task.resume for task in tasks] == [None]
    assert (run.cell.state, run.interrupted) == ("inconclusive", True)
    assert [each.check for each in run.cell.broken] == ["the trap was not met"]
    assert run.record is not None
    assert SafeAction.RESUME not in run.record.safe_actions


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (Options(roles={"refund": Role(print)}), "tripwire_tools names the role 'refund'; the ro"),
        (Options(roles={"write": print}), "tripwire_tools['write'] is <built-in function print>"),  # type: ignore[dict-item]
        (Options(roles={"poll": Role("x")}), "tripwire_tools['poll'] has the tool 'x': give a fu"),  # type: ignore[arg-type]
        (Options(specs={"refund": {}}), "tripwire_specs declares 'refund', but no tool has that n"),
        (Options(variant="polite"), "there is no variant 'polite'; there are: nonces, "),
    ],
    ids=["role", "no-role", "no-tool", "spec", "variant"],
)
def test_what_fits_no_case_at_all_is_refused_at_once(
    agents: Any, options: Options, message: str
) -> None:
    with pytest.raises(HarnessError) as raised:
        Harness(LOST, agents.twice, options=options)

    assert message in str(raised.value)


def test_what_is_about_other_cases_is_left_out(agents: Any) -> None:
    roles = {"status": Role(refund_of, {"order": RESOURCE})}
    options = Options(roles=roles, specs={"refund_of": {"poll": True}, "get_export": {}})

    assert Harness("deadline", agents.loop, options=options).run().cell.state == "contained"


def test_a_case_of_ones_own_may_have_parts_of_its_own(agents: Any) -> None:
    import msgspec

    case = load_case(LOST)
    own = tuple(
        msgspec.structs.replace(each, role="look") if each.role == "status" else each
        for each in case.operations
    )
    case = msgspec.structs.replace(case, operations=own)
    options = Options(
        roles={"look": Role(refund_of, {"order": RESOURCE})}, specs={"refund_of": {"poll": True}}
    )

    assert Harness(case, agents.loop, options=options).run().cell.state == "contained"


def refund_of(order: str) -> dict[str, Any]:
    """What was paid back."""
    raise AssertionError(order)


def test_an_error_of_the_script_is_raised_and_not_judged(agents: Any) -> None:
    import msgspec

    def broken(_: Any) -> Any:
        raise LookupError("in the script")

    case = msgspec.structs.replace(load_case(LOST), personas={"broken": broken})

    with pytest.raises(LookupError, match="in the script"):
        Harness(case, agents.loop).run()


def test_a_stop_of_the_process_is_not_judged() -> None:
    def agent(_: Task) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Harness(LOST, agent).run()


def test_the_run_of_an_agent_that_crashed_is_not_completed(kinds: Any) -> None:
    def agent(task: Task) -> None:
        raise ZeroDivisionError

    run = Harness(LOST, agent).run()

    assert "Finished" in kinds(run)
    assert "run has ended: failed" in run.timeline()
    assert "completed" not in run.timeline()


def test_what_the_model_server_turned_down_is_quoted() -> None:
    def agent(task: Task) -> str:
        body = json.dumps({"model": "any", "messages": [], "stream": True}).encode()
        request = urllib.request.Request(  # noqa: S310 - the URL is the loopback server's
            f"{task.model.base_url('openai')}/chat/completions", body
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with contextlib.suppress(urllib.error.HTTPError), opener.open(request, timeout=30):
            pass
        return "sorry"

    run = Harness(LOST, agent).run()

    assert run.cell.state == "inconclusive"
    (diagnosis,) = run.diagnosis
    assert diagnosis.kind == "refused_request"
    assert "the model server turned a request down: 400, " in diagnosis.message
