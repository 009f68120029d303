"""pytest-rerunfailures: a test that passes when it is run again is shown as such, and the gate does
not let it by.
"""

from __future__ import annotations

from typing import Any

import pytest

LOST = "lost-write"
GATE = ("--tripwire-gate", "--tripwire-protection=harness")
AGAIN = ("-p", "rerunfailures", "--reruns", "2")

#: The first attempt at this case pays twice, or fails in another way; the second one is good.
FLAKY = """
    import agents
    import pytest

    FIRST = {{"lost-write"}}

    @pytest.fixture
    def tripwire_agent(request):
        first = "lost-write" in request.node.name and "lost-write" in FIRST
        if first:
            FIRST.clear()
            {first}
        return agents.twice
"""


@pytest.fixture
def flaky(project: Any) -> Any:
    def write(first: str) -> Any:
        project.two_cases("agent")
        project.write("conftest", FLAKY.format(first=first))
        project.tests()
        return project

    return write


@pytest.mark.parametrize("workers", ["0", "1"])
def test_an_escape_that_passes_when_run_again_is_an_escape(
    flaky: Any, rows: Any, workers: str
) -> None:
    project = flaky("return agents.behind")

    result = project.shared(workers, *GATE, *AGAIN)

    assert result.ret == 1
    assert rows(result) == [("agent", LOST, "escaped")]
    result.stdout.fnmatch_lines(["*2 passed, 1 rerun*"])
    assert rows(result, "deadline") == [("agent", "deadline", "contained")]


def test_what_failed_before_it_was_judged_is_inconclusive(flaky: Any, rows: Any) -> None:
    project = flaky('raise ConnectionError("no agent yet")')

    result = project.run(*GATE, *AGAIN)

    assert result.ret == 1
    assert rows(result) == [("agent", LOST, "inconclusive")]
    result.stdout.fnmatch_lines(
        [
            "  inconclusive: agent on lost-write: a test of it failed though nothing *",
            "*2 passed, 1 rerun*",
        ]
    )


def test_a_cell_that_nobody_demands_anything_of_is_no_better_when_run_again(
    flaky: Any, rows: Any
) -> None:
    project = flaky("return agents.behind")
    project.tests("def test_agent(tripwire): tripwire.run()")

    result = project.run(*GATE, *AGAIN)

    assert result.ret == 1
    assert rows(result) == [("agent", LOST, "escaped")]


def test_it_is_told_that_it_passed(flaky: Any) -> None:
    project = flaky("return agents.idle")

    result = project.run(*GATE, *AGAIN, "--tripwire-report=report.json")

    (told,) = [line for line in result.outlines if line.startswith("  inconclusive: ")]
    report = (project.pytester.path / "report.json").read_text("utf-8")
    assert "passed when it was run again" in report
    assert told.startswith("  inconclusive: agent on lost-write: the trap was not met")


def test_a_known_failure_is_not_run_again(flaky: Any) -> None:
    project = flaky("return agents.twice")
    project.plug_in("behind")
    from .test_baseline import CHECKS, entries

    project.write("tripwire-baseline.toml", entries(*CHECKS))

    result = project.run(*GATE, *AGAIN)

    result.assert_outcomes(passed=1, xfailed=1)
    assert result.ret == 0
