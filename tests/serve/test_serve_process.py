"""`agent-tripwire serve` as a process of its own: real signals, agents and process groups."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pytest_tripwire.oracle import Cell, State

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and process groups")

Make = Callable[..., Any]

#: Holds a file as long as it lives.
SLEEPS = """
import fcntl, sys, time
file = open(sys.argv[1], "w")
fcntl.flock(file, fcntl.LOCK_EX)
file.write("there")
file.flush()
time.sleep(60)
"""


def is_begun(file: Path) -> bool:
    return file.is_file() and file.read_text("utf-8") == "there"


def is_alive(file: Path) -> bool:
    """Whether somebody holds the file. A process that is dead may still be in the system's list."""
    assert is_begun(file)
    import fcntl

    with file.open() as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


class TestWaiting:
    """Without a command it waits for an agent that somebody else runs."""

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGUSR1])
    def test_a_signal_ends_the_wait_and_judges(self, number: signal.Signals, serve: Make) -> None:
        served = serve("lost-write")
        found = served.environment()

        served.tell(number)

        status, out, err = served.end()
        assert (status, out) == (1, "")
        assert err.rstrip().endswith("lost-write: inconclusive, answered")
        assert "Traceback" not in err
        assert found["TRIPWIRE_CASE"] == "lost-write"

    def test_an_agent_that_is_started_by_somebody_else_is_judged(
        self, serve: Make, agent: Make, tmp_path: Path
    ) -> None:
        file = tmp_path / "verdict.json"
        served = serve("cost-budget", "--report", file, "--agent", "theirs")
        found = served.environment()

        subprocess.run(agent(), env={**os.environ, **found}, check=True, capture_output=True)
        served.tell(signal.SIGTERM)

        status, _, err = served.end()
        assert status == 0, err
        report = json.loads(file.read_text("utf-8"))
        assert report["schema_version"] == 1
        cell = msgspec.convert(report["cell"], Cell)
        assert (cell.agent, cell.state, cell.reason) == ("theirs", State.CONTAINED, "cost_budget")
        assert report["record"]["reason"] == "cost_budget"
        assert report["statuses"] == []

    def test_the_first_of_two_calls_is_over_when_the_user_says_so(
        self, serve: Make, tmp_path: Path
    ) -> None:
        file = tmp_path / "run.env"
        served = serve("stale-resume", "--env-file", file)
        first = served.environment()
        at_first = file.read_text("utf-8")

        served.tell(signal.SIGUSR1)
        second = served.environment()
        at_second = file.read_text("utf-8")
        second |= served.line()
        served.tell(signal.SIGTERM)
        _, _, err = served.end()

        assert "TRIPWIRE_RESUME" not in at_first
        assert json.loads(second.pop("TRIPWIRE_RESUME"))["decision"] == "approved"
        assert second == first
        assert "TRIPWIRE_RESUME" in at_second
        assert not file.exists()
        assert "operator resumes the run" in err

    def test_ended_during_the_first_call_it_says_that_the_second_is_missing(
        self, serve: Make
    ) -> None:
        served = serve("stale-resume")
        served.environment()

        served.tell(signal.SIGTERM)

        status, out, err = served.end()
        assert (status, out) == (1, "")
        assert "before the agent's second call" in err

    def test_an_ignored_keyboard_stays_ignored(self, serve: Make, script: Make) -> None:
        waits = script(
            "import signal, sys\n"
            "from pytest_tripwire import cli\n"
            "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
            "sys.exit(cli.main(sys.argv[1:]))\n"
        )
        with subprocess.Popen(
            [*waits, "serve", "lost-write", "--max-seconds", "30"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            process.send_signal(signal.SIGINT)
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.5)
            process.terminate()
            _, err = process.communicate(timeout=30)
        assert "lost-write: inconclusive" in err

    def test_nobody_who_reads_is_no_traceback(self) -> None:
        with subprocess.Popen(
            [sys.executable, "-m", "pytest_tripwire.cli", "serve", "lost-write"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.close()  # before the interpreter is up, let alone the server
            err = process.stderr.read()
            assert process.wait(30) == 141
        assert err.count("\n") == 1  # that there are no tools


#: The command with its standard input as the terminal of its own session.
AT_A_TERMINAL = """
import fcntl, sys, termios
from pytest_tripwire import cli

fcntl.ioctl(0, termios.TIOCSCTTY, 0)
sys.exit(cli.main(sys.argv[1:]))
"""


def test_enter_ends_each_call_of_the_agent(tmp_path: Path, soon: Make) -> None:
    ours, theirs = os.openpty()
    said = tmp_path / "said"
    with said.open("w") as out:
        process = subprocess.Popen(
            [sys.executable, "-c", AT_A_TERMINAL, "serve", "stale-resume", "--max-seconds", "30"],
            stdin=theirs,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        for text in ("waiting for the first of two calls", "waiting for the agent; Enter"):
            soon(lambda text=text: text in said.read_text("utf-8"))
            os.write(ours, b"\n")
        assert process.wait(30) == 1
    finally:
        process.kill()
        process.wait()
        os.close(ours)
        os.close(theirs)
    assert "TRIPWIRE_RESUME" in said.read_text("utf-8")
    assert "operator resumes the run" in said.read_text("utf-8")


class TestCommand:
    """With a command it runs the agent itself."""

    @pytest.mark.parametrize("how", ["plain", "openai"])
    def test_a_contained_agent_is_a_success(
        self, how: str, serve: Make, agent: Make, tmp_path: Path
    ) -> None:
        file = tmp_path / "verdict.json"

        status, out, err = serve("cost-budget", "--report", file, "--", *agent(how)).end()

        assert status == 0, err
        assert out.startswith("turns ")  # the agent's own, and nothing of ours
        assert "(events" not in err  # as the breaker logs of a stop
        assert err.rstrip().endswith("cost-budget: contained, interrupted (cost_budget)")
        assert json.loads(file.read_text("utf-8"))["statuses"] == [0]

    def test_what_escapes_is_marked_on_the_timeline(self, serve: Make, agent: Make) -> None:
        status, _, err = serve("cost-budget", "--protection", "own", "--", *agent()).end()

        assert status == 1
        assert "<-- should not have happened" in err
        assert "protection own" in err
        assert err.rstrip().endswith("cost-budget: escaped, answered")

    @pytest.mark.parametrize(
        ("ends_with", "case", "state"),
        [
            ("0", "lost-write", "inconclusive, answered"),
            ("3", "lost-write", "inconclusive, crashed (CommandFailedError)"),
            ("3", "cost-budget", "contained, interrupted (cost_budget)"),
        ],
    )
    def test_a_command_that_fails_has_crashed_unless_the_breaker_has_stopped_it(
        self, ends_with: str, case: str, state: str, serve: Make, agent: Make
    ) -> None:
        status, _, err = serve(case, "--", *agent(), ENDS_WITH=ends_with).end()

        assert err.rstrip().endswith(f"{case}: {state}")
        assert ("has ended with status 3" in err) == (ends_with == "3")
        assert status == (0 if case == "cost-budget" else 1)

    def test_a_case_with_two_calls_runs_it_twice(
        self, serve: Make, script: Make, tmp_path: Path
    ) -> None:
        file = tmp_path / "seen.txt"
        notes = script(
            "import os, sys\n"
            "open(sys.argv[1], 'a').write(os.environ.get('TRIPWIRE_RESUME', '-') + '\\n')\n"
        )

        serve("stale-resume", "--", *notes, file).end()

        first, second = file.read_text("utf-8").splitlines()
        assert first == "-"
        assert json.loads(second)["decision"] == "approved"

    def test_the_command_gets_no_input_and_our_environment(self, serve: Make, script: Make) -> None:
        says = script("import os, sys\nprint(repr(sys.stdin.read()), os.environ['MINE'])\n")

        _, out, _ = serve("lost-write", "--", *says, MINE="kept").end("for us")

        assert out == "'' kept\n"

    def test_the_ceiling_ends_it_and_all_that_it_has_started(
        self, serve: Make, script: Make, tmp_path: Path
    ) -> None:
        file = tmp_path / "pid"
        deaf = script(
            "import signal, subprocess, sys, time\n"
            "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
            f"subprocess.Popen([sys.executable, '-c', {SLEEPS!r}, sys.argv[1]])\n"
            "time.sleep(60)\n"
        )

        started = time.monotonic()
        status, _, err = serve("lost-write", "--max-seconds", "0.8", "--", *deaf, file).end()

        assert status == 1
        assert time.monotonic() - started < 20
        assert "ended in bounds" in err
        assert "lost-write: escaped" in err
        assert not is_alive(file)

    def test_a_command_that_had_no_end_is_not_run_again(self, serve: Make, script: Make) -> None:
        hangs = script("import time\ntime.sleep(60)\n")

        _, _, err = serve("stale-resume", "--max-seconds", "0.3", "--", *hangs).end()

        assert err.rstrip().endswith("stale-resume: escaped, crashed (OverrunError)")
        assert "operator resumes" not in err

    @pytest.mark.parametrize(("number", "expected"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
    def test_ended_from_outside_it_ends_the_command_and_judges_nothing(
        self,
        number: signal.Signals,
        expected: int,
        request: pytest.FixtureRequest,
        tmp_path: Path,
    ) -> None:
        serve, script, soon = map(request.getfixturevalue, ("serve", "script", "soon"))
        file = tmp_path / "pid"
        served = serve("lost-write", "--", *script(SLEEPS), file)
        soon(lambda: is_begun(file))

        served.tell(number)

        status, out, err = served.end()
        assert (status, out) == (expected, "")
        assert "lost-write:" not in err
        assert "was ended before its end, so nothing is judged" in err
        assert not is_alive(file)

    def test_what_it_leaves_behind_is_ended(
        self, serve: Make, script: Make, tmp_path: Path
    ) -> None:
        file = tmp_path / "pid"
        leaves = script(
            "import pathlib, subprocess, sys, time\n"
            f"subprocess.Popen([sys.executable, '-c', {SLEEPS!r}, sys.argv[1]])\n"
            "file = pathlib.Path(sys.argv[1])\n"
            "while not (file.is_file() and file.read_text()): time.sleep(0.02)\n"
        )

        serve("lost-write", "--", *leaves, file).end()

        assert not is_alive(file)


def test_the_model_is_where_the_user_wants_it(serve: Make) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    served = serve("lost-write", "--port", str(port))

    found = served.environment()

    assert found["OPENAI_BASE_URL"] == f"http://127.0.0.1:{port}/v1"
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=5)) as connection:
        connection.request("GET", "/v1/models")
        assert connection.getresponse().status == 200


def test_a_port_that_is_taken_is_wrong_usage(serve: Make) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]

        status, out, err = serve("lost-write", "--port", str(port)).end()

    assert (status, out) == (2, "")
    assert f"port {port} of 127.0.0.1 cannot be had" in err
    assert "name another one, or none to get a free one" in err
    assert "Traceback" not in err
