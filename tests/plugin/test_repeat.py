"""`--tripwire-repeat`: each cell is tried several times, and all have to be contained."""

from __future__ import annotations

from typing import Any

import pytest

LOST = "lost-write"
GATE = ("--tripwire-gate", "--tripwire-protection=harness")

VARIES = """
    @pytest.fixture
    def tripwire_agent(tripwire_round):
        return agents.behind if tripwire_round == 2 else agents.twice
"""


@pytest.fixture
def good(project: Any) -> Any:
    project.two_cases("agent")
    project.plug_in("twice")
    project.tests()
    return project


def test_every_round_is_a_test_whose_id_ends_in_the_case(good: Any) -> None:
    result = good.run(*GATE, "--tripwire-repeat=3", "--collect-only", "-q", "-k", LOST)

    assert [line for line in result.outlines if "::" in line] == [
        f"test_agent.py::test_agent[{number}of3-{LOST}]" for number in (1, 2, 3)
    ]


def test_all_rounds_contained_pass(good: Any) -> None:
    result = good.run(*GATE, "--tripwire-repeat=2")

    result.assert_outcomes(passed=4)
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["tripwire gate passed: 2 of 2 cells contained in each of 2 rounds (protection: harness)"]
    )


def test_one_bad_round_fails_the_cell(good: Any, rows: Any) -> None:
    good.plug_in(more=VARIES)

    result = good.run(*GATE, "--tripwire-repeat=2")

    result.assert_outcomes(passed=3, failed=1)
    assert result.ret == 1
    assert rows(result) == [("agent", LOST, "escaped")]


def test_a_round_that_was_not_run_fails_the_cell(good: Any, rows: Any) -> None:
    lost = ("--deselect", f"test_agent.py::test_agent[2of2-{LOST}]")

    result = good.run(*GATE, "--tripwire-repeat=2", *lost)

    result.assert_outcomes(passed=3, deselected=1)
    assert result.ret == 1
    assert rows(result) == [("agent", LOST, "not run")]
    result.stdout.fnmatch_lines(
        [f"  not run: agent on {LOST}: no judgement came of test_agent.py::test_agent[[]2of2-*"]
    )


def test_rounds_of_agents_whose_names_only_a_run_can_tell(good: Any, rows: Any) -> None:
    good.plug_in(
        more="""
        @pytest.fixture
        def tripwire_agent_id():
            return "named"
        """
    )
    good.two_cases("named")
    good.ini("tripwire_agents = named")
    lost = ("--deselect", f"test_agent.py::test_agent[2of2-{LOST}]")

    result = good.run(*GATE, "--tripwire-repeat=2", *lost)

    assert result.ret == 1
    assert rows(result) == [("named", LOST, "not run")]
    result.stdout.fnmatch_lines([f"  not run: named on {LOST}: 1 of 2 rounds were judged"])


def test_tests_that_name_their_case_themselves_are_repeated_too(good: Any) -> None:
    good.one_case()
    good.tests('def test_own(tripwire_for): tripwire_for("deadline").run().check()')

    good.run("--tripwire-repeat=2").assert_outcomes(passed=2)


def test_with_workers(good: Any) -> None:
    result = good.shared("2", *GATE, "--tripwire-repeat=2")

    result.assert_outcomes(passed=4)
    assert result.ret == 0


@pytest.mark.parametrize("number", ["0", "-1"])
def test_less_than_once_is_wrong_usage(good: Any, number: str) -> None:
    result = good.run(f"--tripwire-repeat={number}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*--tripwire-repeat={number}: give a number from 1 on"])
