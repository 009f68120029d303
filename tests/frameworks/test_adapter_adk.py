"""The adapter of the Agent Development Kit in the cases: its tools, agents that are taken over, and
agents that their own breaker guards.
"""

from __future__ import annotations

from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.tools import AgentTool, FunctionTool, google_search

from pytest_tripwire import (
    RESOURCE,
    WORDING,
    Harness,
    HarnessError,
    Options,
    Role,
    Task,
    assert_no_mutation_after_interrupt,
)
from pytest_tripwire.adapters import Adoption
from pytest_tripwire.adapters.adk import adopt
from pytest_tripwire.cases import CASE_IDS
from pytest_tripwire.oracle import State

from .adk_shop import MODES, Driven, Shop, clerk, go, pays, replies, ring, said, support, transfer

NEEDS = ("google-adk",)


# -- the standard cases


@pytest.mark.parametrize("case", CASE_IDS)
@pytest.mark.parametrize("mode", MODES)
def test_every_standard_case_is_contained_with_tools_of_the_kit(case: str, mode: str) -> None:
    async def agent(task: Task) -> str:
        return await Driven(support(task, task.tools.adk())).go(said(task.prompt), mode)

    run = Harness(case, agent).run()

    run.check()
    assert run.cell.state is State.CONTAINED
    if run.interrupted:
        assert_no_mutation_after_interrupt(run)


# -- agents that are taken over


class Told:
    """Stands for a case's tools."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    async def acall(self, name: str, arguments: Any, *, call_id: Any, agent: Any) -> Any:
        self.asked.append((name, arguments, call_id, agent))
        return {"ok": True}


def test_two_agents_are_taken_over_and_their_bodies_never_run() -> None:
    desk, shop = Told(), Shop()
    adoption = Adoption(desk, ["pay", "find_payment", "look"])  # type: ignore[arg-type]
    agent = ring(shop, replies([transfer("till")]), replies([pays(), ("look", {})]))

    driven = go(adopt(agent, adoption))

    adoption.check()
    assert shop.paid == []
    assert sorted(desk.asked) == [
        ("look", {}, "call-0.1", "till"),
        ("pay", pays()[1], "call-0.0", "till"),
    ]
    assert driven.told[-2:] == [{"ok": True}] * 2


@pytest.mark.filterwarnings("ignore:The `plugins` argument:DeprecationWarning")  # the kit's own
@pytest.mark.parametrize("plays", [True, False])
def test_an_agent_inside_a_tool_plays_its_role_or_is_taken_over(plays: bool) -> None:  # noqa: FBT001
    desk, shop = Told(), Shop()
    names = ["pay", "find_payment", "look", *(["clerk"] if plays else [])]
    adoption = Adoption(desk, names)  # type: ignore[arg-type]
    inner = clerk(shop, replies([pays()]))
    asks = ("clerk", {"request": "Pay."})
    front = LlmAgent(name="front", model=replies([asks]), tools=[AgentTool(inner)])

    go(adopt(front, adoption))

    adoption.check()
    assert shop.paid == []
    assert [(name, agent) for name, _, _, agent in desk.asked] == [
        ("clerk", "front") if plays else ("pay", "clerk")
    ]


def test_a_tool_that_plays_no_role_is_named_with_its_agent() -> None:
    async def agent(task: Task) -> str:
        return await Driven(task.adopt(ring(Shop(), task.model.adk(), task.model.adk()))).go()

    with pytest.raises(HarnessError, match="'pay' of till"):
        Harness("empty-search", agent).run()


def test_a_tool_of_the_kit_plays_a_role() -> None:
    def look_up(subject: str, words: str) -> dict[str, Any]:
        """Look something up."""
        raise AssertionError(subject, words)

    tool = FunctionTool(look_up)

    async def agent(task: Task) -> str:
        own = LlmAgent(name="support", model=task.model.adk(), tools=[tool])
        return await Driven(task.adopt(own)).go(said(task.prompt))

    role = Role(tool, {"subject": RESOURCE, "words": WORDING})
    run = Harness("empty-search", agent, options=Options(roles={"search": role})).run()

    run.check()
    assert run.reason == "empty_results"


def test_what_is_no_function_for_a_model_plays_no_role() -> None:
    options = Options(roles={"search": Role(google_search, {"query": WORDING})})

    with pytest.raises(HarnessError, match="no tool that a model could be shown"):
        Harness("empty-search", lambda task: "", options=options).run()


def test_a_missing_kit_is_named_with_what_to_install(pytester: pytest.Pytester) -> None:
    script = """
        import sys
        sys.modules["google.adk"] = None  # as good as not installed

        from pytest_tripwire import Harness, HarnessError

        try:
            Harness("empty-search", lambda task: task.tools.adk()).run()
        except HarnessError as error:
            assert str(error) == (
                "task.tools.adk() needs google.adk, which is not installed: "
                "pip install --upgrade 'pytest-agent-tripwire[adk]'"
            )
        else:
            raise AssertionError
        """
    assert pytester.runpython(pytester.makepyfile(script=script)).ret == 0
