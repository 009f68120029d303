"""What is under test: said by fixture, option or ini, in this order."""

from __future__ import annotations

from typing import Any

import pytest

FIXTURE = """
    @pytest.fixture
    def tripwire_protection():
        return "{value}"
"""


@pytest.mark.parametrize(
    ("ini", "option", "fixture", "expected"),
    [
        ("", "", "", "harness"),
        ("own", "", "", "own"),
        ("own", "harness", "", "harness"),
        ("harness", "own", "", "own"),
        ("harness", "harness", "own", "own"),
        ("own", "own", "harness", "harness"),
    ],
)
def test_fixture_before_option_before_ini(  # noqa: PLR0917 - a column each
    project: Any, rows: Any, ini: str, option: str, fixture: str, expected: str
) -> None:
    project.ini(f"tripwire_protection = {ini}" if ini else "")
    project.plug_in(more=FIXTURE.format(value=fixture) if fixture else "")
    project.tests("""
        def test_agent(tripwire):
            print("under test:", tripwire.protection)
            tripwire.run().check()
        """)

    result = project.run("-s", *([f"--tripwire-protection={option}"] if option else []))

    result.stdout.fnmatch_lines([f"*under test: {expected}*", f"*lost-write * {expected} *"])
    state = "contained" if expected == "harness" else "escaped"
    assert rows(result) == [("agent", "lost-write", state)]


def test_without_a_breaker_of_ours_the_agents_own_is_judged(project: Any, rows: Any) -> None:
    project.write(
        "careful",
        """
        from agents import REFUND

        def careful(task):
            try:
                return task.tools["issue_refund"](**REFUND, request_id="r-1")
            except TimeoutError:
                return task.tools.call("get_refund", {"order_id": "A-1001"})
        """,
    )
    project.plug_in(
        more="""
        import careful

        @pytest.fixture
        def tripwire_agent():
            return careful.careful
        """
    )
    project.tests()

    result = project.run("--tripwire-protection=own")

    result.assert_outcomes(passed=1)
    assert rows(result) == [("agent", "lost-write", "contained")]


def test_a_protection_that_does_not_exist_in_the_fixture(project: Any) -> None:
    project.plug_in(more=FIXTURE.format(value="prayer"))
    project.tests()

    result = project.run()

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["*HarnessError: tripwire_protection gave 'prayer': choose from harness, production, own"]
    )


def test_a_protection_that_does_not_exist_on_the_command_line(project: Any) -> None:
    result = project.run("--tripwire-protection=prayer")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*: invalid choice: 'prayer' (choose from *harness*, *production*, *own*)"]
    )


def test_a_protection_that_does_not_exist_in_the_ini_file(project: Any) -> None:
    project.ini("tripwire_protection = prayer")

    result = project.run()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: ini tripwire_protection = 'prayer': choose from harness, production, own"]
    )
