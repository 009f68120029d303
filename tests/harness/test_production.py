"""The breaker of a team's production under test: its own limits and declarations, our clock and
ledger.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from pytest_tripwire import (
    Breaker,
    Harness,
    HarnessError,
    Options,
    Reason,
    Role,
    Run,
    RunBudget,
    ToolSpec,
    tool_spec,
)
from pytest_tripwire.cases import CASE_IDS
from pytest_tripwire.harness.operator import Approving
from pytest_tripwire.ledger import MemoryLedger
from pytest_tripwire.oracle import State
from pytest_tripwire.world import NONCE, RESOURCE, WORDING, VirtualClock

from ..cases.production_team import (  # noqa: TID252 - the tests are no package to import from
    GOOD,
    SPECS,
    factory,
    limited,
)


@pytest.fixture
def produced(play: Callable[..., Run]) -> Callable[..., Run]:
    """Plays a case with the plain loop under a team's own breaker."""

    def by(case: str, make: Any = None, road: str = "sync", **options: Any) -> Run:
        chosen = factory() if make is None else make
        return play(case, road, protection="production", breaker=chosen, **options)

    return by


# -- a good team


@pytest.mark.parametrize("persona", ["stubborn", "compliant", "forgetful"])
@pytest.mark.parametrize("case", CASE_IDS)
def test_a_good_breaker_contains_every_case(
    produced: Callable[..., Run], case: str, persona: str
) -> None:
    run = produced(case, persona=persona)

    run.check()
    assert run.cell.protection == "production"


@pytest.mark.parametrize("road", ["async", "asyncio", "trio"])
@pytest.mark.parametrize("case", ["lost-write", "deadline", "stale-resume"])
def test_and_on_every_road(produced: Callable[..., Run], case: str, road: str) -> None:
    produced(case, road=road).check()


@pytest.mark.parametrize("name", ["support", "research", "financial_write"])
@pytest.mark.parametrize(
    "case", [each for each in CASE_IDS if each not in {"cost-budget", "deadline"}]
)
def test_the_classes_contain_what_is_no_budget(
    produced: Callable[..., Run], case: str, name: str
) -> None:
    """One of them asks a person before each write, who says yes."""
    produced(case, factory(budget=name)).check()


def test_a_long_investigation_goes_on_far_past_what_the_team_takes_for_usual(
    produced: Callable[..., Run],
) -> None:
    run = produced("long-investigation", limited(usual_turns=12, max_turns=None))

    run.check()
    assert sum(type(each).__name__ == "Dispatch" for each in run.events) == 36


@pytest.mark.parametrize("road", ["sync", "async"])
def test_a_short_deadline_leaves_a_case_that_is_not_about_it_its_time(
    produced: Callable[..., Run], road: str
) -> None:
    run = produced("lost-write", limited(deadline_s=3), road)

    run.check()
    assert run.reason is Reason.UNKNOWN_SIDE_EFFECT


@pytest.mark.parametrize(
    ("case", "limits", "reason"),
    [
        ("empty-search", {"max_turns": 2}, Reason.TURN_BUDGET),
        ("empty-search", {"max_tool_calls": 2}, Reason.TOOL_CALL_BUDGET),
        ("empty-search", {"max_same_intent": 2}, Reason.SAME_INTENT_BUDGET),
        ("cost-budget", {"max_turns": 3}, Reason.TURN_BUDGET),
        ("ping-pong-handoff", {"max_turns": 3}, Reason.TURN_BUDGET),
    ],
)
def test_a_tighter_count_of_the_teams_is_a_good_end_too(
    produced: Callable[..., Run], case: str, limits: dict[str, int], reason: Reason
) -> None:
    run = produced(case, limited(**limits))

    run.check()
    assert run.reason is reason


# -- findings


@pytest.mark.parametrize(
    ("case", "limit"), [("cost-budget", "max_model_cost_usd"), ("deadline", "deadline_s")]
)
@pytest.mark.parametrize("tight", [{}, {"max_turns": 4, "max_side_effects": 1}])
def test_a_limit_that_the_team_does_not_have_is_the_finding(
    produced: Callable[..., Run], case: str, limit: str, tight: dict[str, int]
) -> None:
    run = produced(case, limited(**{limit: None}, **tight))

    assert run.cell.state is State.ESCAPED
    assert run.cell.lesson


def test_one_that_is_too_patient_escapes(produced: Callable[..., Run]) -> None:
    unaware = {**SPECS, "search_articles": ToolSpec(name="search_articles", effect="read")}
    patient = msgspec.structs.replace(GOOD, max_no_progress_steps=30)

    run = produced("empty-search", factory(budget=patient, specs=unaware))

    assert run.cell.state is State.ESCAPED
    assert run.cell.broken[0].check == "empty-search"


def test_a_denial_that_the_team_never_declared_is_a_finding(produced: Callable[..., Run]) -> None:
    names = ("issue_refund", "issue_credit")
    deaf = {name: msgspec.structs.replace(SPECS[name], denials=()) for name in names}

    run = produced("rephrased-denial", factory(specs={**SPECS, **deaf}))

    assert run.cell.state is State.ESCAPED


def test_declarations_of_the_harness_are_not_laid_over_the_teams(
    produced: Callable[..., Run],
) -> None:
    blind = {**SPECS, "get_order": ToolSpec(name="get_order", effect="read")}

    run = produced(
        "stale-resume", factory(specs=blind), specs={"get_order": {"result_version": "version"}}
    )

    assert run.cell.state is State.ESCAPED


# -- whose is what


def test_the_agent_is_told_the_limits_of_the_team() -> None:
    seen: list[RunBudget] = []

    Harness(
        "lost-write",
        lambda task: seen.append(task.limits),
        options=Options(protection="production", breaker=factory(), budget=RunBudget(max_turns=1)),
    ).run()

    assert seen == [GOOD]


def test_the_ledger_of_the_team_is_not_touched(produced: Callable[..., Run]) -> None:
    store = MemoryLedger()
    touched: list[str] = []

    class Watched(MemoryLedger):
        def __getattribute__(self, name: str) -> Any:
            touched.append(name)
            return getattr(store, name)

    produced("lost-write", factory(store=Watched())).check()

    assert touched == []


def test_observers_and_policy_are_the_teams(produced: Callable[..., Run]) -> None:
    told: list[Any] = []
    asked: list[str] = []

    def policy(call: Any, _spec: Any) -> None:
        asked.append(call.tool)

    produced("lost-write", factory(on_event=told.append, policy=policy)).check()

    assert told
    assert "issue_refund" in asked


def test_what_stands_beside_a_tool_of_the_teams_counts(produced: Callable[..., Run]) -> None:
    @tool_spec(effect="write", identity=("order",), wording=("why",), volatile=("request_id",))
    def pay_back(order: str, why: str, request_id: str) -> dict[str, Any]:
        """Pay an order back."""
        return {}

    role = Role(pay_back, {"order": RESOURCE, "why": WORDING, "request_id": NONCE})

    run = produced("lost-write", roles={"write": role})

    run.check()
    assert run.reason is Reason.UNKNOWN_SIDE_EFFECT


# -- what cannot be


def told(make: Any, case: str = "lost-write") -> str:
    with pytest.raises(HarnessError) as caught:
        Harness(
            case, lambda task: task.tools, options=Options(protection="production", breaker=make)
        ).run()
    return str(caught.value)


def test_a_tool_that_the_team_has_not_declared_is_told_with_the_line_to_write() -> None:
    without = {name: spec for name, spec in SPECS.items() if name != "issue_refund"}

    message = told(factory(specs=without))

    line = message.split("\n\n")[1].strip().rstrip(",")
    # What is shown can be written as it stands.
    (spec,) = eval(f"{{{line}}}", {"ToolSpec": ToolSpec}).values()  # noqa: S307 - our own text
    assert spec == msgspec.structs.replace(SPECS["issue_refund"], denials=(), result_id="refund_id")
    assert "'issue_refund'" in message


def test_a_breaker_that_only_watches_is_refused() -> None:
    assert "mode='shadow'" in told(factory(mode="shadow"))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (None, "tripwire_breaker"),
        (Breaker(), "cannot be called"),
        (lambda budget: Breaker(budget=budget), "**overrides"),
        (lambda clock: Breaker(clock=clock), "**overrides"),
        (lambda **overrides: dict(overrides), "made dict, no Breaker"),
        (lambda **overrides: Breaker(), "the clock and the store"),
        (lambda clock, store: Breaker(clock=clock, store=MemoryLedger()), "the store that"),
        (lambda clock, store: Breaker(clock=VirtualClock(), store=store), "the clock that"),
    ],
)
def test_a_factory_that_cannot_be_used_is_told(make: Any, says: str) -> None:
    message = told(make)

    assert says in message
    assert "def make_breaker(**overrides)" in message


def test_a_factory_that_is_async_is_told() -> None:
    async def make(**overrides: Any) -> Breaker:
        return Breaker(**overrides)

    assert "made coroutine, no Breaker" in told(make)


def test_what_the_factory_itself_raises_is_its_own() -> None:
    def make(**overrides: Any) -> Breaker:
        raise ConnectionError("no database")

    with pytest.raises(ConnectionError, match="no database"):
        Harness(
            "lost-write", lambda task: None, options=Options(protection="production", breaker=make)
        )


@pytest.mark.parametrize(("reason", "approved"), [("denied", ["c-1"]), ("stale_resume", [])])
def test_only_who_is_asked_for_a_yes_gives_one(reason: str, approved: list[str]) -> None:
    said: list[str] = []

    class Asking:
        """A run whose every call waits for a person."""

        def call(self, *_given: Any, **_more: Any) -> dict[str, Any]:
            return {"refused": True, "reason": reason, "message": "", "call_id": "c-1"}

        approve = staticmethod(said.append)

    result = Approving(Asking()).call("issue_refund", {})  # type: ignore[arg-type]

    assert result["refused"]
    assert said == approved
