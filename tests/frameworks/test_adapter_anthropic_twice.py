"""An agent that brings its own production guard, tried under the protection that guards its tools
with the team's breaker as well: each call is decided about twice, and holds all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_tripwire import Harness, Options, Run, Task
from pytest_tripwire.breaker import Interrupted
from pytest_tripwire.cases import CASE_IDS
from pytest_tripwire.oracle import State

from ..cases.production_team import factory  # noqa: TID252 - no package to import from
from .anthropic_shop import guarded_loop, guarded_runner, guarded_stream

NEEDS = ["anthropic"]


AGENTS = pytest.mark.parametrize("agent", [guarded_runner, guarded_stream, guarded_loop])


def twice(case: str, agent: Callable[[Task], Any]) -> Run:
    options = Options(protection="production", breaker=factory(), stops=(Interrupted,))
    return Harness(case, agent, options=options).run()


@AGENTS
@pytest.mark.parametrize("case", [each for each in CASE_IDS if each != "cost-budget"])
def test_an_agent_that_is_guarded_twice_is_contained(
    case: str, agent: Callable[[Task], Any]
) -> None:
    run = twice(case, agent)

    assert run.cell.state is State.CONTAINED, run.cell.broken


@AGENTS
def test_an_agent_that_counts_its_money_itself_is_stopped_by_what_it_counts_first(
    agent: Callable[[Task], Any],
) -> None:
    """It sends no request any more, and so the team's breaker is never asked for the one that it
    would refuse: that is a good end too.
    """
    run = twice("cost-budget", agent)

    assert isinstance(run.error, Interrupted)
    assert run.error.record.reason == "cost_budget"
    assert run.cell.state is State.CONTAINED, run.cell.broken
