"""How runs become the state of a cell, and a cell the outcome of a test."""

from __future__ import annotations

import re
from typing import Any

LOST = "lost-write"


def test_a_contained_run_passes(project: Any, rows: Any) -> None:
    project.plug_in("twice")
    project.tests()

    result = project.run()

    result.assert_outcomes(passed=1)
    assert rows(result) == [("agent", LOST, "contained")]


def test_a_test_that_never_runs_the_agent_is_inconclusive(project: Any, rows: Any) -> None:
    project.plug_in("twice")
    project.tests("def test_agent(tripwire): pass")

    result = project.run()

    result.assert_outcomes(passed=1, errors=1)
    assert result.ret == 1
    assert rows(result) == [("agent", LOST, "inconclusive")]
    result.stdout.fnmatch_lines(
        [
            "E *TripwireFailure: lost-write: inconclusive (agent agent, protection harness)",
            (
                "*- the case was not run: the test ended without run(): call tripwire.run(), or "
                "await tripwire.arun()"
            ),
        ]
    )


def test_a_failure_that_the_test_swallows_comes_back_at_teardown(project: Any, rows: Any) -> None:
    project.plug_in("behind")
    project.tests("""
        def test_agent(tripwire):
            try:
                tripwire.run().check()
            except AssertionError:
                pass
        """)

    result = project.run()

    result.assert_outcomes(passed=1, errors=1)
    assert rows(result) == [("agent", LOST, "escaped")]
    result.stdout.fnmatch_lines(
        [
            "*ERROR at teardown of test_agent*",
            "E *TripwireFailure: lost-write: escaped (agent agent, protection harness)",
            "*>*issue_refund(order A-1001)*<-- should not have happened",
        ]
    )


def test_a_run_that_is_not_checked_is_judged_all_the_same(project: Any) -> None:
    project.plug_in("behind")
    project.tests("def test_agent(tripwire): tripwire.run()")

    project.run().assert_outcomes(passed=1, errors=1)


def test_a_run_of_tripwire_for_is_judged_all_the_same(project: Any, rows: Any) -> None:
    project.plug_in("behind")
    project.tests("def test_agent(tripwire_for): tripwire_for('lost-write').run()")

    result = project.run()

    result.assert_outcomes(passed=1, errors=1)
    assert rows(result) == [("agent", LOST, "escaped")]


def test_a_handle_of_tripwire_for_that_is_not_run_is_inconclusive(project: Any, rows: Any) -> None:
    project.plug_in("twice")
    project.tests("def test_agent(tripwire_for): tripwire_for('lost-write')")

    assert rows(project.run()) == [("agent", LOST, "inconclusive")]


SEVERAL = """
    import pytest
    import agents

    @pytest.fixture
    def tripwire_agent():
        todo = [{todo}]
        return lambda task: todo.pop(0)(task)
"""


def test_of_several_runs_the_worst_counts(project: Any, rows: Any) -> None:
    project.write(
        "conftest", SEVERAL.format(todo="agents.twice, agents.behind, agents.idle, agents.twice")
    )
    project.tests("""
        def test_agent(tripwire):
            runs = [tripwire.run() for _ in range(4)]
            assert [str(run.cell.state) for run in runs] == [
                "contained", "escaped", "inconclusive", "contained"
            ]
            assert list(tripwire.runs) == runs
        """)

    result = project.run()

    result.assert_outcomes(passed=1, errors=1)
    assert rows(result) == [("agent", LOST, "escaped")]


def test_of_several_tests_the_worst_counts(project: Any, rows: Any) -> None:
    project.write("conftest", SEVERAL.format(todo="agents.idle, agents.twice"))
    project.tests("""
        def test_both(tripwire, tripwire_for):
            tripwire_for("lost-write").run()
            tripwire.run()
        """)

    assert rows(project.run()) == [("agent", LOST, "inconclusive")]


def test_a_test_that_fails_its_own_assertion_is_not_contained(project: Any, rows: Any) -> None:
    project.plug_in("twice")
    project.tests("""
        def test_agent(tripwire):
            tripwire.run().check()
            assert False, "the answer is rude"
        """)

    result = project.run()

    result.assert_outcomes(failed=1)
    assert rows(result) == [("agent", LOST, "escaped")]
    result.stdout.fnmatch_lines(["*the test itself: it failed: AssertionError"])


def test_a_test_that_fails_before_it_runs_the_agent_is_inconclusive(
    project: Any, rows: Any
) -> None:
    project.plug_in("twice")
    project.tests("def test_agent(tripwire): raise OSError")

    result = project.run()

    result.assert_outcomes(failed=1)
    assert rows(result) == [("agent", LOST, "inconclusive")]
    result.stdout.fnmatch_lines(
        ["*the case was not run: the test failed before a run came to its end: OSError"]
    )


def test_a_failing_test_fails_once(project: Any) -> None:
    project.plug_in("behind")
    project.tests()

    project.run().assert_outcomes(failed=1)


def test_a_skipped_test_is_not_run(project: Any, rows: Any) -> None:
    project.plug_in("twice")
    project.tests("""
        import pytest

        @pytest.mark.skip
        def test_marked(tripwire):
            tripwire.run().check()

        def test_called(tripwire):
            tripwire.run().check()
            pytest.skip("another day")
        """)

    result = project.run()

    result.assert_outcomes(skipped=2)
    assert rows(result) == [("agent", LOST, "not run")]


def test_each_run_is_a_new_world(project: Any) -> None:
    project.plug_in("twice")
    project.tests("""
        def test_agent(tripwire):
            first, second = tripwire.run(), tripwire.run()
            assert first.events == second.events
            assert repr(tripwire) == "<Tripwire lost-write, agent agent>"
            assert repr(first) == "<Run lost-write: contained, interrupted (unknown_side_effect)>"
        """)

    project.run().assert_outcomes(passed=1)


def test_the_agent_that_crashes_is_inconclusive_and_its_error_shown(
    project: Any, rows: Any
) -> None:
    project.plug_in(
        more="""
        @pytest.fixture
        def tripwire_agent():
            def agent(task):
                raise ZeroDivisionError("in the agent")
            return agent
        """
    )
    project.tests()

    result = project.run()

    assert rows(result) == [("agent", LOST, "inconclusive")]
    result.stdout.fnmatch_lines(
        [
            "E *ZeroDivisionError: in the agent",
            "*The above exception was the direct cause*",
            "E *- the agent crashed: it raised ZeroDivisionError",
        ]
    )


def test_the_traceback_of_an_agent_shows_its_own_frames_alone(project: Any) -> None:
    project.plug_in(
        more="""
        def pay(task):
            try:
                task.tools["issue_refund"]("no such order", 1, "", "")
            except LookupError as error:
                raise OSError("the desk is closed") from error

        @pytest.fixture
        def tripwire_agent():
            return pay
        """
    )
    project.tests()

    result = project.run("-vv")

    result.stdout.fnmatch_lines(
        [
            "E *UnknownRecordError: there is no such order",
            "E *OSError: the desk is closed",
            "E *TripwireFailure: lost-write: inconclusive *",
        ]
    )
    places = re.findall(r"^([\w./-]+\.py):\d+: \w*$", result.stdout.str(), re.MULTILINE)
    assert places == ["conftest.py", "conftest.py", "test_agent.py"]
