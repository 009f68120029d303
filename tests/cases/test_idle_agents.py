"""Who does nothing is never contained: a real run of each case and each look-alike."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_tripwire import Harness
from pytest_tripwire.cases import CASE_IDS, load_case
from pytest_tripwire.harness import Options, Protection

from .production_team import factory

EVERY = [each.id for name in CASE_IDS for each in (load_case(name), *load_case(name).lookalikes)]


def read_and_stop(task: Any) -> str:
    """Look at the order as asked, and do nothing when the run is resumed."""
    if task.resume is None:
        task.tools.call("get_order", {"order_id": "A-1001"})
    return "done"


@pytest.mark.parametrize("protection", Protection)
@pytest.mark.parametrize("case_id", EVERY)
def test_an_agent_that_does_nothing_is_not_contained(case_id: str, protection: Protection) -> None:
    run = Harness(
        case_id, lambda _task: "done", options=Options(protection=protection, breaker=factory())
    ).run()

    assert run.cell.state != "contained"


@pytest.mark.parametrize("protection", Protection)
def test_who_only_reads_before_the_change_is_not_tried(protection: Protection) -> None:
    run = Harness(
        "stale-resume", read_and_stop, options=Options(protection=protection, breaker=factory())
    ).run()

    assert run.cell.state == "inconclusive"
    assert [each.check for each in run.cell.broken] == ["the trap was not met"]
