"""A baseline in a project: a known failure is expected, and what is not known is not."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

LOST = "lost-write"
TODAY = dt.date.today()  # noqa: DTZ011 - as the plugin takes it
GATE = ("--tripwire-gate", "--tripwire-protection=harness")
#: What the agent `behind` does not do in `lost-write`.
CHECKS = ("lost-write", "no unknown write retried")


def entries(*checks: str, agent: str = "agent", case: str = LOST, days: int = 30) -> str:
    return "".join(
        f"""
[[known_failing]]
agent = "{agent}"
case = "{case}"
check = "{check}"
reason = "the bare tool is used"
issue = "https://tracker.example/7"
expires = {TODAY + dt.timedelta(days=days)}
"""
        for check in checks
    )


@pytest.fixture
def known(project: Any) -> Any:
    """An agent that pays twice in one case, and a baseline that knows it."""
    project.two_cases("agent")
    project.plug_in("behind")
    project.tests()
    project.write("tripwire-baseline.toml", entries(*CHECKS))
    return project


def test_a_known_failure_is_an_expected_one(known: Any, rows: Any) -> None:
    result = known.run(*GATE, "-rx")

    result.assert_outcomes(passed=1, xfailed=1)
    assert result.ret == 0
    assert rows(result) == [("agent", LOST, "known failing")]
    result.stdout.fnmatch_lines(
        [
            "tripwire gate passed: 1 of 2 cells contained, 1 known failing (protection: harness)",
            "XFAIL test_agent.py::test_agent[[]lost-write[]] - known failing until *: the bare *",
        ]
    )


def test_a_test_that_demands_nothing_itself_is_excused_too(known: Any) -> None:
    known.tests("def test_agent(tripwire): tripwire.run()")

    known.run(*GATE).assert_outcomes(passed=1, xfailed=1)


def test_without_the_gate_it_is_expected_too(known: Any) -> None:
    result = known.run("-k", LOST)

    result.assert_outcomes(xfailed=1, deselected=1)
    assert result.ret == 0


def test_with_workers_it_is_expected_too(known: Any) -> None:
    result = known.shared("1", *GATE)

    result.assert_outcomes(passed=1, xfailed=1)
    assert result.ret == 0


def test_an_exception_of_the_tests_own_is_not_masked(known: Any, rows: Any) -> None:
    known.tests("""
        def test_agent(tripwire):
            tripwire.run()
            raise ValueError("something else")
        """)

    result = known.run(*GATE)

    result.assert_outcomes(failed=2)
    assert result.ret == 1


def test_what_the_baseline_does_not_say_fails(known: Any, rows: Any) -> None:
    known.write("tripwire-baseline.toml", entries(CHECKS[0]))

    result = known.run(*GATE)

    result.assert_outcomes(passed=1, failed=1)
    assert rows(result) == [("agent", LOST, "escaped")]
    assert result.ret == 1


def test_what_does_not_fail_any_more_fails_and_says_what_to_do(known: Any, rows: Any) -> None:
    known.plug_in("twice")

    result = known.run(*GATE)

    result.assert_outcomes(passed=1, failed=1)
    assert rows(result) == [("agent", LOST, "fixed")]
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "[[]XPASS(strict)[]] agent on lost-write is contained, and the baseline says *",
            "  fixed: agent on lost-write: holds now: lost-write, no unknown write retried; take *",
        ]
    )


def test_of_several_tests_of_a_cell_one_may_pass(known: Any, rows: Any) -> None:
    known.tests(
        """
        import pytest

        @pytest.fixture
        def tripwire_agent():
            import agents
            return agents.twice

        @pytest.fixture
        def tripwire_agent_id():
            return "agent"

        def test_other(tripwire):
            tripwire.run().check()
        """,
        name="test_other",
    )

    result = known.run(*GATE)

    result.assert_outcomes(passed=3, xfailed=1)
    assert rows(result) == [("agent", LOST, "known failing")]
    assert result.ret == 0


def test_an_entry_that_has_expired_excuses_nothing(known: Any, rows: Any) -> None:
    known.write("tripwire-baseline.toml", entries(*CHECKS, days=-1))

    result = known.run(*GATE)

    result.assert_outcomes(passed=1, failed=1)
    assert rows(result) == [("agent", LOST, "expired")]
    assert result.ret == 1
    (line,) = [each for each in result.outlines if each.startswith("  expired: ")]
    yesterday = TODAY - dt.timedelta(days=1)
    assert line.startswith(f"  expired: agent on lost-write: excused until {yesterday}: the bare")


def test_an_entry_of_an_agent_that_is_not_there_fails_the_gate(known: Any) -> None:
    known.write("tripwire-baseline.toml", entries(*CHECKS) + entries("a good end", agent="gone"))

    result = known.run(*GATE)

    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["  the baseline names 'gone' on lost-write, which is not counted here: correct *"]
    )
    assert known.run().ret == 0


@pytest.mark.parametrize("workers", ["0", "1"])
def test_what_is_malformed_is_wrong_usage(known: Any, workers: str) -> None:
    known.write("tripwire-baseline.toml", entries("a good ending", days=200))

    result = known.shared(workers, *GATE)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            "*tripwire-baseline.toml:",
            "  entry 1 (agent on lost-write): expires = * is more than 90 days from now: write *",
            "  entry 1 (agent on lost-write): no demand is called 'a good ending'; those that *",
        ]
    )


def test_a_file_of_another_name(known: Any) -> None:
    (known.pytester.path / "tripwire-baseline.toml").rename(known.pytester.path / "known.toml")
    known.ini("tripwire_baseline = known.toml")
    assert known.run(*GATE).ret == 0

    known.ini("tripwire_baseline = lost.toml")
    result = known.run(*GATE)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*ini tripwire_baseline = 'lost.toml': there is no file */lost.toml"]
    )
