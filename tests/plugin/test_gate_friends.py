"""The gate beside what else decides which tests run, where and when: the verdict is one and the
same, and whatever is left out is not run.
"""

from __future__ import annotations

from typing import Any

import pytest

from pytest_tripwire.gate import Report, Standing
from pytest_tripwire.gate.report import decode

GATE = ("--tripwire-gate", "--tripwire-protection=harness", "--tripwire-report=report.json")
LOST = "lost-write"

#: Two agents, one of which escapes in one case.
AGENTS = """
    import pytest
    import agents

    @pytest.fixture(params=["twice", "behind"])
    def tripwire_agent(request):
        return getattr(agents, request.param)
"""


@pytest.fixture
def two(project: Any) -> Any:
    """Two tests of one case; the other cells are not run."""
    project.write("conftest", AGENTS)
    project.tests(name="test_first")
    return project


def report(project: Any) -> Report:
    return decode((project.pytester.path / "report.json").read_bytes())


def states(project: Any) -> dict[tuple[str, str], Standing]:
    return {(row.agent, row.case): row.state for row in report(project).rows}


def test_every_way_of_dealing_tests_out_gives_one_verdict(two: Any) -> None:
    """But "load", which is the default, and tried in test_gate_xdist."""
    two.run(*GATE, "-n", "0")
    alone = report(two)
    assert alone.counts == {"contained": 1, "not run": 14, "escaped": 1}

    for how in ("loadscope", "loadfile", "worksteal"):
        result = two.shared("2", *GATE, "--dist", how)

        assert result.ret == 1
        assert report(two).rows == alone.rows, how
        assert report(two).problems == alone.problems


@pytest.mark.parametrize("order", ["77"])
def test_any_order_of_tests_gives_the_same_rows(two: Any, order: str) -> None:
    """In the order in which they were collected."""
    two.run(*GATE)
    straight = states(two)

    two.run(*GATE, "-p", "randomly", f"--randomly-seed={order}")

    assert states(two) == straight


@pytest.mark.parametrize(
    ("stop", "workers"), [("-x", "1"), ("--maxfail=1", "0")], ids=["workers", "alone"]
)
def test_a_stop_at_the_first_failure_leaves_cells_that_are_not_run(
    two: Any, stop: str, workers: str
) -> None:
    two.tests("def test_bad(): assert False", name="test_0")

    result = two.shared(workers, *GATE, stop)

    assert result.ret in (1, 2)
    found = states(two)
    assert len(found) == 16
    assert Standing.NOT_RUN in found.values()
    assert set(found.values()) <= {Standing.NOT_RUN, Standing.CONTAINED, Standing.ESCAPED}
    assert not report(two).passed


def test_what_failed_last_time_alone_is_not_the_whole(two: Any) -> None:
    plain = ("-p", "no:hypothesispytest")
    two.ini("tripwire_agents =\n    agent[twice]\n    agent[behind]\n")
    two.pytester.runpytest_inprocess(*plain)

    result = two.pytester.runpytest_inprocess(*plain, *GATE, "--lf")

    assert result.ret == 1
    found = states(two)
    assert found["agent[behind]", LOST] is Standing.ESCAPED
    assert list(found.values()).count(Standing.NOT_RUN) == 15


def test_failed_first_is_the_whole(two: Any) -> None:
    plain = ("-p", "no:hypothesispytest")
    two.pytester.runpytest_inprocess(*plain)

    two.pytester.runpytest_inprocess(*plain, *GATE, "--ff")

    assert report(two).counts == {"contained": 1, "not run": 14, "escaped": 1}


def test_a_keyword_leaves_out_what_is_not_run(two: Any) -> None:
    result = two.run(*GATE, "-k", "twice and lost")

    assert result.ret == 1
    found = states(two)
    assert found.pop(("agent[twice]", LOST)) is Standing.CONTAINED
    assert set(found.values()) == {Standing.NOT_RUN}


def test_a_second_test_of_a_cell_that_is_left_out_makes_it_not_run(project: Any) -> None:
    """Whoever wrote it wanted it to hold."""
    project.plug_in("twice")
    project.tests("""
        def test_one(tripwire):
            tripwire.run().check()

        def test_two(tripwire):
            tripwire.run().check()
        """)

    result = project.run(*GATE, "--deselect", f"test_agent.py::test_two[{LOST}]")

    assert result.ret == 1
    assert states(project)["agent", LOST] is Standing.NOT_RUN
    result.stdout.fnmatch_lines(
        [f"  not run: agent on {LOST}: no judgement came of test_agent.py::test_two[[]{LOST}[]]"]
    )


CRASH = """
    import os
    import signal

    import pytest
    import agents

    def dies(task):
        os.kill(os.getpid(), signal.SIGKILL)

    @pytest.fixture
    def tripwire_agent(tripwire_round):
        return dies if tripwire_round == 2 else agents.twice
"""


def test_a_round_that_is_lost_with_its_worker_is_missed(project: Any) -> None:
    project.write("conftest", CRASH)
    project.tests()

    result = project.shared("1", *GATE, "--tripwire-repeat=3")

    assert result.ret == 1
    row = next(row for row in report(project).rows if row.case == LOST)
    assert (row.state, row.runs) == (Standing.NOT_RUN, 2)
