"""The gate with workers: the same word as without, and no cell that is lost with a worker."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("xdist")

LOST, DEADLINE = "lost-write", "deadline"
GATE = ("--tripwire-gate", "--tripwire-protection=harness")

MANY = """
    import pytest
    import agents

    @pytest.fixture(params=["twice", "behind", "idle", "twice_async"])
    def tripwire_agent(request):
        return getattr(agents, request.param)
"""

# Some tests are about the same cell, and end differently: which of them counts must not depend on
# which worker was faster. The last agent is named by a run alone.
TESTS = """
    import pytest

    def test_run(tripwire):
        tripwire.run().check()

    def test_never(tripwire):
        pass

    def test_fails(tripwire):
        tripwire.run()
        assert False

    @pytest.mark.skip
    def test_skipped(tripwire):
        tripwire.run().check()

    class TestNamed:
        @pytest.fixture
        def tripwire_agent_id(self):
            return "named by the run"

        def test_named(self, tripwire):
            tripwire.run().check()
"""

# The worker dies within the case, as it does when an agent exhausts the memory.
SUICIDE = """
    import os
    import signal
    import pytest
    import agents

    def suicide(task):
        os.kill(os.getpid(), signal.SIGKILL)

    @pytest.fixture(params=[suicide, agents.twice], ids=["dead", "good"])
    def tripwire_agent(request):
        return request.param
"""


def after(result: pytest.RunResult, head: str) -> list[str]:
    """The table and the word of the gate, without what differs from run to run."""
    start = next(at for at, line in enumerate(result.outlines) if line.startswith(head))
    end = next(at for at, line in enumerate(result.outlines) if "  (counted:" in line)
    return list(result.outlines[start : end + 1])


def test_the_same_rows_with_and_without_workers(project: Any) -> None:
    project.write("conftest", MANY)
    project.tests(TESTS)

    alone, shared = project.shared("0", *GATE), project.shared("2", *GATE)

    assert alone.ret == shared.ret == 1
    assert after(shared, "agent  ") == after(alone, "agent  ")
    alone.stdout.fnmatch_lines(
        [
            "agent[[]twice[]] * lost-write * escaped *",
            "agent[[]behind[]] * lost-write * escaped *",
            "agent[[]idle[]] * lost-write * inconclusive *",
            "agent[[]twice_async[]] * lost-write * escaped *",
            "named by the run * lost-write * escaped *",
        ]
    )


def test_contained_everywhere_passes_with_workers(project: Any, rows: Any) -> None:
    """In processes of their own, all of them."""
    project.two_cases("a", "b")
    project.plug_in("twice", folder="a/")
    project.plug_in("twice_async", folder="b/")
    project.tests(name="a/test_a")
    project.tests(name="b/test_b")
    project.ini("pythonpath = .\naddopts = --import-mode=importlib")

    result = project.spawn(*GATE, "-n", "2")

    assert result.ret == 0
    assert rows.counted(result) == [
        (agent, case, "contained") for agent in ("a", "b") for case in (LOST, DEADLINE)
    ]
    result.stdout.fnmatch_lines(
        ["tripwire gate passed: 4 of 4 cells contained (protection: harness)"]
    )


def test_a_cell_that_is_lost_with_its_worker_is_not_run(project: Any, rows: Any) -> None:
    """Nor is any after it. What a new worker goes on with is tried in test_gate_alike."""
    project.write("conftest", SUICIDE)
    project.tests()

    result = project.spawn(*GATE, "-n", "1", "--max-worker-restart=0")

    assert result.ret == 1
    assert rows(result) == [("agent[dead]", LOST, "not run"), ("agent[good]", LOST, "not run")]
    result.stdout.fnmatch_lines(
        [
            "tripwire gate FAILED: 0 of 16 cells contained*",
            "  not run: agent[[]dead[]] on lost-write",
        ]
    )


def test_a_deselected_cell_is_not_run_with_workers(project: Any, rows: Any) -> None:
    project.write("conftest", MANY)
    project.tests()

    result = project.shared("1", *GATE, "-k", "nothing")

    assert result.ret == 1
    assert {state for _, _, state in rows.every(result)} == {"not run"}
    assert len(rows(result)) == 4
