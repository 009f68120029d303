"""Which tests are collected, and what they are called."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_tripwire.cases import CASE_IDS

PARAMETRISED = """
    import pytest
    import agents

    @pytest.fixture(params=[agents.twice, agents.idle], ids=["good", "bad"])
    def tripwire_agent(request):
        return request.param
"""


@pytest.fixture
def project(project: Any) -> Any:
    """A project whose tests try every standard case."""
    project.every_case()
    return project


def collected(result: Any) -> list[str]:
    return [line for line in result.outlines if "::" in line]


def test_a_test_is_collected_once_for_each_case(project: Any) -> None:
    project.plug_in()
    project.tests()

    found = collected(project.run("--collect-only", "-q"))

    assert found == [f"test_agent.py::test_agent[{case}]" for case in CASE_IDS]


def test_ids_end_in_the_case_whatever_else_is_parametrised(project: Any) -> None:
    project.write("conftest", PARAMETRISED)
    project.tests("""
        import pytest

        @pytest.mark.parametrize("colour", ["red", "blue"])
        def test_agent(tripwire, colour):
            tripwire.run().check()
        """)

    found = collected(project.run("--collect-only", "-q"))

    assert len(found) == 4 * len(CASE_IDS)
    assert all(each.endswith(tuple(f"-{case}]" for case in CASE_IDS)) for each in found)
    assert f"test_agent.py::test_agent[good-red-{CASE_IDS[0]}]" in found


def test_ids_end_in_the_case_after_a_hook_of_the_project(project: Any) -> None:
    project.plug_in(
        more="""
        def pytest_generate_tests(metafunc):
            if "late" in metafunc.fixturenames:
                metafunc.parametrize("late", [1, 2])
        """
    )
    project.tests("def test_agent(tripwire, late): tripwire.run().check()")

    found = collected(project.run("--collect-only", "-q"))

    assert found == [
        f"test_agent.py::test_agent[{late}-{case}]" for late in (1, 2) for case in CASE_IDS
    ]


def test_a_fixture_that_requests_tripwire_counts_too(project: Any) -> None:
    project.plug_in()
    project.tests("""
        import pytest

        @pytest.fixture
        def ran(tripwire):
            return tripwire.run()

        def test_agent(ran):
            ran.check()
        """)

    result = project.run()

    result.assert_outcomes(passed=len(CASE_IDS))


def test_other_tests_are_left_alone(project: Any) -> None:
    project.tests("def test_plain(): pass")

    result = project.run("-v")

    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*tripwire*==*")


def test_tripwire_for_is_collected_once(project: Any) -> None:
    project.plug_in()
    project.tests("""
        def test_lost(tripwire_for):
            tripwire_for("lost-write").run().check()
        """)

    result = project.run("-v")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*::test_lost PASSED*"])


def test_the_marker_chooses_cases(project: Any) -> None:
    project.plug_in()
    project.tests("""
        import pytest

        @pytest.mark.tripwire(cases=["lost-write"])
        def test_list(tripwire):
            tripwire.run().check()

        @pytest.mark.tripwire(cases="lost-write")
        def test_one(tripwire):
            tripwire.run().check()

        @pytest.mark.tripwire
        def test_all(tripwire):
            tripwire.run().check()
        """)

    found = collected(project.run("--collect-only", "-q", "--strict-markers"))

    assert [each for each in found if "test_all" not in each] == [
        "test_agent.py::test_list[lost-write]",
        "test_agent.py::test_one[lost-write]",
    ]
    assert sum("test_all" in each for each in found) == len(CASE_IDS)


def test_the_marker_is_documented(project: Any) -> None:
    result = project.run("--markers")

    result.stdout.fnmatch_lines(["@pytest.mark.tripwire(cases=None): try only these standard*"])


def test_collecting_alone_prints_no_table(project: Any) -> None:
    project.plug_in()
    project.tests()

    project.run("--collect-only").stdout.no_fnmatch_line("*not run*")
