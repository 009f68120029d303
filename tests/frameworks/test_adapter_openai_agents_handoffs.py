"""Plain hand-offs of the OpenAI Agents SDK: `handoffs=[colleague]`, each a tool of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from agents import Agent, RunConfig, RunHooks, Runner, function_tool, handoff
from pydantic import BaseModel

from pytest_tripwire import AMOUNT, NONCE, RESOURCE, WORDING, Harness, HarnessError, Options, Role
from pytest_tripwire.models.diagnosis import Kind
from pytest_tripwire.oracle import State
from pytest_tripwire.timeline import Dispatch
from pytest_tripwire.world import DETAIL

NEEDS = ("openai-agents",)

CASE = "ping-pong-handoff"
QUIET: dict[str, Any] = {"max_turns": 60, "run_config": RunConfig(tracing_disabled=True)}
WAYS = ("run", "stream")


@function_tool
def pay(order: str, euros: float, why: str, slip: str) -> str:
    """Pay a customer back."""
    raise AssertionError(order, euros, why, slip)


def never(_context: Any) -> None:
    raise AssertionError


def team(model: Any = None, *, wrap: Callable[[Any], Any] = lambda each: each) -> tuple[Any, ...]:
    """Triage has hand-offs alone, two specialists can pay and hand back."""
    triage, billing, shipping = (
        Agent[None](name=name, instructions=f"You are {name}.", model=model)
        for name in ("triage", "billing", "shipping")
    )
    triage.handoffs = [wrap(billing), wrap(shipping)]
    for each in (billing, shipping):
        each.tools, each.handoffs = [pay], [wrap(triage)]
    return triage, billing, shipping


MONEY = Role(pay, {"order": RESOURCE, "euros": AMOUNT, "why": WORDING, "slip": NONCE})


class Moves(RunHooks[Any]):
    """Who got the word from whom."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []

    async def on_handoff(self, context: Any, from_agent: Any, to_agent: Any) -> None:
        """Note it. The SDK passes everything by name."""
        del context
        self.seen.append((from_agent.name, to_agent.name))


class Played:
    """One run of the team on a case."""

    def __init__(
        self, case: str, way: str = "run", *, declared: bool = True, **options: Any
    ) -> None:
        self.moves, self.said = Moves(), [{}]
        wrap = options.pop("wrap", lambda each: each)
        pays = options.pop("triage_pays", False)
        parts = {"write": MONEY, **({"handoff": Role(team(wrap=wrap))} if declared else {})}
        given = Options(roles=options.pop("roles", parts), **options)

        async def agent(task: Any) -> Any:
            own = team(task.model.openai_agents(), wrap=wrap)[0]
            own.tools = [pay] if pays else []
            first = task.adopt(own)
            options: dict[str, Any] = {"hooks": self.moves, **QUIET}
            if way == "run":
                result: Any = await Runner.run(first, task.prompt, **options)
            else:
                result = Runner.run_streamed(first, task.prompt, **options)
                async for _ in result.stream_events():
                    pass
            self.said = result.to_input_list()
            return result.final_output

        self.run = Harness(case, agent, options=given).run()

    @property
    def sent(self) -> list[str]:
        return [each.tool for each in self.run.events if isinstance(each, Dispatch)]

    def told(self) -> list[Any]:
        """What the model was told of its calls."""
        texts = [each["output"] for each in self.said if each.get("type") == "function_call_output"]
        return [json.loads(each) for each in texts]


@pytest.mark.parametrize("persona", ["stubborn", "compliant", "forgetful"])
@pytest.mark.parametrize("way", WAYS)
def test_going_to_and_fro_is_stopped(way: str, persona: str) -> None:
    played = Played(CASE, way, persona=persona)

    played.run.check()
    assert played.run.cell.state is State.CONTAINED
    assert played.sent[:2] == ["transfer_to_billing", "transfer_to_triage"]
    assert persona != "stubborn" or played.run.reason == "handoff_without_progress"


@pytest.mark.parametrize("way", WAYS)
def test_what_is_let_through_leads_to_the_colleague_and_what_is_refused_does_not(way: str) -> None:
    played = Played(CASE, way)

    there, back = ("triage", "billing"), ("billing", "triage")
    stays = [move for move in played.moves.seen if move[0] == move[1]]
    went = [move for move in played.moves.seen if move[0] != move[1]]
    assert went == [there, back] * (len(went) // 2) + [there] * (len(went) % 2)
    assert len(went) == len(played.sent)
    refused = [each for each in played.told() if each.get("refused")]
    assert len(refused) == len(stays) > 0
    assert played.told()[0] == {"assistant": "billing", "accepted_by": "a specialist"}


def test_nobody_stops_it_under_the_teams_own_protection() -> None:
    played = Played(CASE, protection="own")

    assert played.run.cell.state is State.ESCAPED
    assert played.sent == ["transfer_to_billing", "transfer_to_triage"] * 4


def test_a_callback_of_a_hand_off_that_plays_the_part_is_not_run() -> None:
    played = Played(CASE, wrap=lambda each: handoff(each, on_handoff=never))

    played.run.check()
    assert played.run.reason == "handoff_without_progress"


@pytest.mark.parametrize("way", WAYS)
def test_triage_is_passed_where_hand_offs_are_no_part(way: str) -> None:
    played = Played("lost-write", way)

    played.run.check()
    assert played.run.reason == "unknown_side_effect"
    assert played.sent == ["pay"]
    assert played.moves.seen == [("triage", "billing")]


def test_hand_offs_that_nobody_declared_are_unknown_to_the_model() -> None:
    played = Played("lost-write", declared=False)

    assert played.run.cell.state is State.INCONCLUSIVE
    assert [each.kind for each in played.run.diagnosis] == [Kind.AUXILIARY_ONLY]


@pytest.mark.parametrize("case", ["fills-a-field", "drafts"])
def test_good_work_is_played_only_where_a_hand_off_can_tell_of_it(case: str) -> None:
    with pytest.raises(HarnessError, match="this case is about what 'handoff' tells"):
        Played(f"{CASE}/{case}")


class Known(BaseModel):
    """What goes along, where a team has its hand-offs tell it."""

    findings: str


def note(_context: Any, given: Known) -> None:
    raise AssertionError(given)


def test_good_work_with_findings_is_not_stopped() -> None:
    def wrap(each: Any) -> Any:
        return handoff(each, input_type=Known, on_handoff=note)

    triage, billing, _ = team(wrap=wrap)
    doors = (*triage.handoffs, billing.handoffs[0])
    roles = {"write": MONEY, "handoff": Role(doors, {"findings": DETAIL})}

    for case in ("fills-a-field", "drafts"):
        played = Played(f"{CASE}/{case}", wrap=wrap, roles=roles, triage_pays=True)

        played.run.check()
        assert not played.run.interrupted
