"""What a project's own hooks keep from reports: tests that are dropped before anybody looks, first
attempts that nobody logs, and parts of a test.
"""

from __future__ import annotations

from typing import Any

import pytest

from pytest_tripwire.gate import Report, Standing
from pytest_tripwire.gate.report import decode

LOST = "lost-write"
GATE = ("--tripwire-gate", "--tripwire-protection=harness", "--tripwire-report=report.json")


@pytest.fixture
def good(project: Any) -> Any:
    project.two_cases("agent")
    project.plug_in("twice")
    project.tests()
    project.ini("tripwire_agents = agent")
    return project


def report(project: Any) -> Report:
    return decode((project.pytester.path / "report.json").read_bytes())


def states(project: Any) -> dict[str, Standing]:
    """Those of the cells that have a part."""
    rows = report(project).rows
    return {row.case: row.state for row in rows if row.state is not Standing.NOT_APPLICABLE}


def detail(project: Any, case: str = LOST) -> str:
    return next(row.detail for row in report(project).rows if row.case == case)


# -- tests that are dropped

#: A second test of one cell, which fails, is dropped by the project before plugins see it.
DROPS = {
    "first": """
        @pytest.hookimpl(tryfirst=True)
        def pytest_collection_modifyitems(items):
            items[:] = [each for each in items if "test_second" not in each.nodeid]
        """,
    "wrapper": """
        @pytest.hookimpl(wrapper=True, tryfirst=True)
        def pytest_collection_modifyitems(items):
            items[:] = [each for each in items if "test_second" not in each.nodeid]
            return (yield)
        """,
}
SECOND = """
    import pytest

    @pytest.mark.tripwire(cases=["lost-write"])
    def test_second(tripwire):
        tripwire.run()
        assert False
"""


@pytest.mark.parametrize(("how", "workers"), [("first", "0"), ("wrapper", "0"), ("wrapper", "1")])
def test_what_a_hook_of_the_projects_drops_is_not_run(good: Any, how: str, workers: str) -> None:
    good.plug_in("twice", more=DROPS[how])
    good.tests(SECOND, name="test_second")

    result = good.shared(workers, *GATE)

    result.assert_outcomes(passed=2)
    assert result.ret == 1
    assert [case for case, state in states(good).items() if state is not Standing.CONTAINED] == [
        LOST
    ]
    assert states(good)[LOST] is Standing.NOT_RUN
    assert "test_second.py::test_second[lost-write]" in detail(good)


def test_an_agent_whose_tests_are_all_dropped_is_counted(good: Any) -> None:
    good.plug_in("twice", more=DROPS["first"].replace("test_second", "test_"))
    good.ini()

    result = good.run(*GATE)

    assert result.ret == 1
    assert set(states(good).values()) == {Standing.NOT_RUN}
    assert len(states(good)) == 2


def test_a_hook_that_only_orders_tests_changes_nothing(good: Any) -> None:
    more = "def pytest_collection_modifyitems(items): items.reverse()\n"
    good.plug_in("twice", more=more)

    assert good.run(*GATE).ret == 0


RENAMES = """
    def pytest_collection_modifyitems(items):
        for each in items:
            if hasattr(each, "_nodeid"):  # not with pytest 9.2, which lets nobody do that
                each._nodeid += "@here"
"""
GROUPED = """
    import pytest

    @pytest.mark.xdist_group("one")
    def test_agent(tripwire):
        tripwire.run().check()
"""


def test_a_hook_that_renames_tests_changes_nothing(good: Any) -> None:
    good.plug_in("twice", more=RENAMES)

    assert good.run(*GATE).ret == 0


def test_workers_that_rename_tests_after_their_group_change_nothing(good: Any) -> None:
    """After a hook of the project's that has renamed them too."""
    good.plug_in("twice", more=RENAMES)
    good.tests(GROUPED)

    assert good.shared("1", *GATE, "--dist", "loadgroup").ret == 0


# -- attempts that nobody logs

#: A protocol of the project's own: a test that fails is run once more, and only then reported.
AGAIN = """
    from _pytest.runner import runtestprotocol

    FIRST = {{"lost-write"}}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(item, nextitem):
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        if any(each.failed for each in reports):
            reports = runtestprotocol(item, nextitem=nextitem, log=False)
        for each in reports:
            item.ihook.pytest_runtest_logreport(report=each)
        return True

    @pytest.fixture
    def tripwire_agent(request):
        if "lost-write" in request.node.name and FIRST:
            FIRST.clear()
            {first}
        return agents.twice
"""


@pytest.mark.parametrize(
    ("first", "state", "told", "workers"),
    [
        ("return agents.behind", Standing.ESCAPED, "; it passed when it was run again", "0"),
        ("return agents.behind", Standing.ESCAPED, "; it passed when it was run again", "1"),
        ("return agents.idle", Standing.INCONCLUSIVE, "; it passed when it was run again", "0"),
        (
            'raise ConnectionError("no agent yet")',
            Standing.INCONCLUSIVE,
            "a test of it failed though nothing judged was wrong, and passed when it was run again",
            "0",
        ),
    ],
    ids=["escaped", "escaped in a worker", "idle", "set-up"],
)
def test_a_first_attempt_that_nobody_logs_counts(
    good: Any, first: str, state: Standing, told: str, workers: str
) -> None:
    good.plug_in("twice", more=AGAIN.format(first=first))

    result = good.shared(workers, *GATE)

    result.assert_outcomes(passed=2)
    assert result.ret == 1
    assert [case for case, found in states(good).items() if found is not Standing.CONTAINED] == [
        LOST
    ]
    assert states(good)[LOST] is state
    assert detail(good).endswith(told)


#: The same, and the body alone is run once more.
BODY = """
    from _pytest.runner import call_and_report

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(item, nextitem):
        item._initrequest()
        call_and_report(item, "setup")
        if call_and_report(item, "call", log=False).failed:
            call_and_report(item, "call")
        call_and_report(item, "teardown", nextitem=nextitem)
        return True
"""
FIRST_FAILS = """
    TRIES = []

    def test_agent(tripwire):
        tripwire.run()
        TRIES.append("once")
        assert len(TRIES) > 1
"""


def test_a_body_that_is_run_again_takes_nothing_back(good: Any) -> None:
    good.plug_in("twice", more=BODY)
    good.tests(FIRST_FAILS)

    result = good.run(*GATE, "-k", LOST)

    result.assert_outcomes(passed=1, deselected=1)
    assert states(good)[LOST] is Standing.ESCAPED


def test_a_protocol_of_the_projects_that_repeats_nothing_is_contained(good: Any) -> None:
    good.plug_in("twice", more=AGAIN.format(first="pass"))

    assert good.run(*GATE).ret == 0
    assert {row.rerun for row in report(good).rows} == {False}


# -- parts of a test

subtests = pytest.mark.skipif(
    not hasattr(pytest, "Subtests"), reason="pytest 9 brings subtests; before, it is a plugin's"
)
FAILS = """
    def test_agent(tripwire, subtests):
        run = tripwire.run()
        with subtests.test("its own"):
            assert tripwire.case.id != "lost-write"
        {then}
"""


def junit(project: Any) -> dict[str, str]:
    """By case: the state that JUnit's file tells."""
    import xml.etree.ElementTree as ET

    found = {}
    for each in ET.parse(project.pytester.path / "junit.xml").iter("testcase"):  # noqa: S314
        told = {one.attrib["name"]: one.attrib["value"] for one in each.iter("property")}
        found[told["tripwire.case"]] = told["tripwire.state"]
    return found


@subtests
@pytest.mark.parametrize(
    ("then", "workers"),
    [
        ("run.check()", "0"),
        ("import pytest; pytest.skip('enough')", "0"),
        ("import pytest; pytest.skip('enough')", "1"),
    ],
)
def test_a_part_that_fails_makes_its_cell_escaped_alike_in_all_outputs(
    good: Any, workers: str, then: str
) -> None:
    good.tests(FAILS.format(then=then))

    result = good.shared(workers, *GATE, "--junit-xml=junit.xml", "-k", LOST)

    assert result.ret == 1
    assert states(good)[LOST] is Standing.ESCAPED
    (judged,) = report(good).evidence.judged
    assert [each.check for each in judged.cell.broken] == ["the test itself"]
    assert junit(good) == {LOST: "escaped"}


@subtests
def test_parts_that_hold_change_nothing(good: Any) -> None:
    good.tests("""
        def test_agent(tripwire, subtests):
            with subtests.test("before"):
                pass
            run = tripwire.run()
            for number in range(2):
                with subtests.test(number=number):
                    run.check()
        """)

    assert good.run(*GATE).ret == 0


DIES = """
    import os
    import signal

    def test_agent(tripwire, subtests):
        run = tripwire.run()
        with subtests.test("first"):
            run.check()
        if tripwire.case.id == "lost-write":
            os.kill(os.getpid(), signal.SIGKILL)
"""


@subtests
def test_a_part_that_holds_does_not_stand_for_the_test(good: Any) -> None:
    """The worker dies after it."""
    good.tests(DIES)

    result = good.shared("1", *GATE, "--max-worker-restart=0", "-k", LOST)

    assert result.ret == 1
    assert states(good)[LOST] is Standing.NOT_RUN
    assert report(good).evidence.finished == ()


@subtests
def test_a_known_failure_excuses_no_part_that_fails(good: Any) -> None:
    from .test_baseline import CHECKS, entries

    good.plug_in("behind")
    good.tests(FAILS.format(then="run.check()"))
    good.write("tripwire-baseline.toml", entries(*CHECKS))

    result = good.run(*GATE, "-k", LOST)

    assert result.ret == 1
    assert states(good)[LOST] is Standing.ESCAPED
