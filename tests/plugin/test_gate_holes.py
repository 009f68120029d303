"""Ways by which a gate could be passed by what nobody has seen."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

from pytest_tripwire.gate import Report, Standing
from pytest_tripwire.gate.report import decode

from .test_baseline import CHECKS, entries

LOST = "lost-write"
GATE = ("--tripwire-gate", "--tripwire-protection=harness", "--tripwire-report=report.json")
NAMED = """
    @pytest.fixture
    def tripwire_agent_id():
        return "named"
"""


@pytest.fixture
def named(project: Any) -> Any:
    """An agent whose name only a run can tell, declared."""
    project.two_cases("named")
    project.plug_in("twice", more=NAMED)
    project.tests()
    project.ini("tripwire_agents = named")
    return project


def report(project: Any) -> Report:
    return decode((project.pytester.path / "report.json").read_bytes())


def state(project: Any) -> Standing:
    (row,) = [row for row in report(project).rows if row.case == LOST]
    return row.state


SECOND = """
    import pytest

    @pytest.mark.{mark}
    def test_second(tripwire):
        tripwire.run().check()
"""


@pytest.mark.parametrize(
    ("mark", "how"), [("skip", ()), ("other", ("-m", "not other", "-W", "ignore"))]
)
def test_a_second_test_of_an_agent_that_only_a_run_names_is_missed(
    named: Any, mark: str, how: tuple[str, ...]
) -> None:
    named.tests(SECOND.format(mark=mark), name="test_second")

    result = named.run(*GATE, *how)

    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["  test_second.py::test_second[[]deadline[]] and 1 more were collected and did not *"]
    )


def test_a_test_that_names_its_case_and_skips_first_is_missed(named: Any) -> None:
    named.tests(
        """
        import pytest

        def test_own(tripwire_for):
            pytest.skip("not today")
        """,
        name="test_own",
    )

    assert named.run(*GATE).ret == 1


def test_a_known_failure_excuses_no_round_that_was_not_run(project: Any) -> None:
    project.two_cases("agent")
    project.plug_in("behind")
    project.tests()
    project.write("tripwire-baseline.toml", entries(*CHECKS))
    lost = ("--deselect", f"test_agent.py::test_agent[2of2-{LOST}]")

    result = project.run(*GATE, "--tripwire-repeat=2", *lost)

    assert result.ret == 1
    assert state(project) is Standing.NOT_RUN


FAILS = """
    @pytest.fixture(autouse=True)
    def tidy():
        yield
        assert not {bad}
"""


def test_a_test_that_fails_at_its_end_is_not_contained_in_a_report(project: Any) -> None:
    project.plug_in("twice", more=FAILS.format(bad=True))
    project.tests()

    project.run("--tripwire-report=report.json")

    assert state(project) is Standing.ESCAPED


def test_a_known_failure_that_fails_for_another_reason_is_escaped(project: Any) -> None:
    project.plug_in("behind")
    project.tests("""
        def test_agent(tripwire):
            tripwire.run()
            raise ValueError("of its own")
        """)
    project.write("tripwire-baseline.toml", entries(*CHECKS))

    project.run("--tripwire-report=report.json")

    assert state(project) is Standing.ESCAPED


def test_what_could_not_be_collected_is_in_the_report(project: Any) -> None:
    project.plug_in("twice")
    project.tests("import no_such_module", name="test_broken")

    project.run("--tripwire-report=report.json")

    assert "test_broken.py could not be collected" in report(project).problems


def test_a_report_of_an_earlier_run_does_not_stay(project: Any) -> None:
    project.plug_in("twice")
    project.tests()
    project.run("--tripwire-report=report.json")
    project.write("conftest", "import no_such_module")

    result = project.run("--tripwire-report=report.json")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert not (project.pytester.path / "report.json").exists()


def test_what_is_no_file_is_not_taken_away(project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `/dev/null`, which a user who may delete everything would delete for all others."""
    project.plug_in("twice")
    project.tests()
    monkeypatch.chdir(project.pytester.path)
    special = socket.socket(socket.AF_UNIX)
    special.bind("special")
    Path("real").touch()
    Path("link").symlink_to("real")

    told = project.run("--tripwire-report=special", "--tripwire-html=link")

    special.close()
    assert Path("special").is_socket()
    assert Path("link").is_symlink()
    assert Path("real").read_bytes()
    told.stdout.fnmatch_lines(["tripwire: */special was not written: *"])


def test_one_file_for_two_reports_is_wrong_usage(project: Any) -> None:
    result = project.run("--tripwire-report=a", "--tripwire-html=a")

    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_every_worker_for_itself_is_no_gate(project: Any) -> None:
    result = project.run("--tripwire-gate", "--dist=each", "--tx=2*popen")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--tripwire-gate with --dist=each: *"])


def test_a_baseline_of_another_editor_is_read(project: Any) -> None:
    project.plug_in("behind")
    project.tests()
    text = "\ufeff" + entries(*CHECKS).replace("\n", "\r\n")
    (project.pytester.path / "tripwire-baseline.toml").write_bytes(text.encode())

    project.run("--tripwire-report=report.json").assert_outcomes(xfailed=1)
