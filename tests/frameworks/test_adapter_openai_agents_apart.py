"""Agents of the OpenAI Agents SDK as tools: each input begins a conversation of its own."""

from __future__ import annotations

from typing import Any

import pytest
from agents import Agent, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call

from pytest_tripwire.adapters.openai_agents import guarded
from pytest_tripwire.adapters.openai_agents.functions import with_agent
from pytest_tripwire.breaker import Breaker, Interrupted, Mode, Reason, tool_spec

from .openai_agents_kit import go, script, told

NEEDS = ("openai-agents",)
pytestmark = pytest.mark.anyio

SAYS = [assistant_message("No violation.")]
LOOKS = [function_call("look", {"key": "rules"}, call_id="look")]
#: An agent that answers at once, and one that looks something up first.
WORK: dict[str, list[Any]] = {"says": [SAYS] * 12, "looks": [LOOKS, SAYS] * 12}
work = pytest.mark.parametrize("kind", list(WORK))


@function_tool
@tool_spec(effect="read", identity=("key",))
def look(key: str) -> str:
    """Look something up."""
    return f"what is said of {key}"


def team(kind: str, inputs: list[str], *, together: bool = False) -> Any:
    """A boss that asks a judge about each input."""
    # Side by side, each of them makes its first request before any makes its second.
    work = (
        sorted(WORK[kind][: 2 * len(inputs)], key=(LOOKS, SAYS).index) if together else WORK[kind]
    )
    judge = Agent[None](name="judge", tools=[look], model=ScriptedModel(work))
    asks = [("judge", {"input": each}) for each in inputs]
    turns = [asks] if together else [[each] for each in asks]
    return Agent[None](name="boss", tools=[judge.as_tool("judge", "Judge.")], model=script(*turns))


DOCUMENTS = [f"document {number}" for number in range(8)]


@pytest.mark.parametrize("together", [False, True])
@work
async def test_the_same_about_one_document_after_another(kind: str, together: bool) -> None:  # noqa: FBT001 - a parameter
    with Breaker().run() as run:
        result = await go(guarded(team(kind, DOCUMENTS, together=together), run), max_turns=40)

        assert told(result) == ["No violation."] * 8
        assert run.mode is Mode.OPEN


async def test_the_agent_inside_can_be_changed_again() -> None:
    judges = [
        Agent[None](name="judge", model=ScriptedModel([[assistant_message(says)]]))
        for says in ("One.", "Two.", "Three.")
    ]
    tool = judges[0].as_tool("judge", "Judge.")
    for judge in judges[1:]:
        tool = with_agent(tool, judge)

    boss = Agent[None](name="boss", tools=[tool], model=script([("judge", {"input": "this"})]))
    assert told(await go(boss)) == ["Three."]


@pytest.mark.parametrize(
    ("kind", "reason"),
    [("says", Reason.OUTPUT_REPETITION), ("looks", Reason.REPEATED_INTENT_SAME_OUTCOME)],
)
async def test_the_same_about_one_document(kind: str, reason: Reason) -> None:
    inputs = ["Please judge this", "Judge this, please", "please judge THIS again"] * 2
    run = Breaker().run()

    with pytest.raises(Interrupted), run:
        await go(guarded(team(kind, inputs), run), max_turns=40)

    assert run.last_reason is reason
