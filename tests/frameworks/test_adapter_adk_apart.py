"""Agents of the Agent Development Kit inside of tools: each input begins a conversation."""

from __future__ import annotations

from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.tools import AgentTool

from pytest_tripwire.adapters.adk import guarded
from pytest_tripwire.breaker import Breaker, Interrupted, Mode, Reason, tool_spec

from .adk_shop import Driven, go, replies

NEEDS = ("google-adk",)
# The kit's own.
pytestmark = pytest.mark.filterwarnings("ignore:The `plugins` argument:DeprecationWarning")

#: An agent that says goodbye, and one that looks something up first.
WORK: dict[str, list[list[Any]]] = {
    "says": [[]] * 12,
    "looks": [[("look", {"key": "rules"})], []] * 12,
}
work = pytest.mark.parametrize("kind", list(WORK))


@tool_spec(effect="read", identity=("key",))
def look(key: str) -> dict[str, str]:
    """Look something up."""
    return {"key": key}


def judged(run: Any, kind: str, inputs: list[str]) -> Driven:
    """A boss asks the judge about each input."""
    judge = LlmAgent(name="judge", description="Judges.", model=replies(*WORK[kind]), tools=[look])
    asks = [[("judge", {"request": each})] for each in inputs]
    boss = LlmAgent(name="boss", model=replies(*asks), tools=[AgentTool(judge)])
    return go(guarded(boss, run))


@work
def test_the_same_about_one_document_after_another(kind: str) -> None:
    with Breaker().run() as run:
        driven = judged(run, kind, [f"document {number}" for number in range(8)])

        assert len(driven.told) == 8
        assert run.mode is Mode.OPEN


@pytest.mark.parametrize(
    ("kind", "reason"),
    [("says", Reason.OUTPUT_REPETITION), ("looks", Reason.REPEATED_INTENT_SAME_OUTCOME)],
)
def test_the_same_about_one_document(kind: str, reason: Reason) -> None:
    run = Breaker().run()

    with pytest.raises(Interrupted), run:
        judged(
            run, kind, ["Please judge this", "Judge this, please", "please judge THIS again"] * 2
        )

    assert run.last_reason is reason
