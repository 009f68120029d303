"""`agent-tripwire replay` as a process of its own: real pipes, real signals, real memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Make = Callable[..., Any]

CLI = (sys.executable, "-m", "pytest_tripwire.cli", "replay")
SECONDS = 60

#: The command with a breaker that lets all through, so that reading and writing are what is
#: measured; it ends by saying how much memory it took.
MEASURED = """
import pathlib, resource, sys
from pytest_tripwire import cli
from pytest_tripwire.replay.trace import TraceVerdict

def replay(trace, settings):
    return TraceVerdict(id=trace.id, steps=trace.length, interrupted=False)

status = cli.main(sys.argv[1:], replay=replay)
said = pathlib.Path("/proc/self/status")
# Where there is no such file. Linux counts in what the parent took, which is more.
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
if said.exists():
    peak = said.read_text().partition("VmHWM:")[2].split()[0]
print(peak, file=sys.stderr)
sys.exit(status)
"""


def ran(*args: Any, stdin: bytes | None = None, **env: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*CLI, *map(str, args)],
        input=stdin,
        capture_output=True,
        check=False,
        timeout=SECONDS,
        env={**os.environ, **env},
    )


def test_the_command_replays_with_the_breaker(recorded: Make, call: Make, written: Make) -> None:
    path = written("a.jsonl", [recorded("loop", trace=[call(repeat=9)]), recorded("good", 3)])

    done = ran("--json", path)

    assert done.stderr == b""
    assert done.returncode == 0
    loop, good = json.loads(done.stdout)["traces"]
    assert (loop["id"], loop["steps"], loop["interrupted"]) == ("loop", 9, True)
    assert loop["reason"] == "repeated_intent_same_outcome"
    assert 1 < loop["step"] <= 5
    assert (good["interrupted"], good["evidence"]) == (False, [])


def test_output_is_utf_8_whatever_the_locale_says(
    recorded: Make, call: Make, written: Make
) -> None:
    path = written("a.jsonl", [recorded("schön \U0001f600", trace=[call(repeat=9)])])

    done = ran(path, PYTHONIOENCODING="ascii", LC_ALL="C", PYTHONUTF8="0")

    assert done.stdout.decode().startswith("schön \U0001f600: step ")


@pytest.mark.parametrize("args", [("--json",), ()])
def test_nobody_who_reads_is_no_traceback(
    args: tuple[str, ...], recorded: Make, call: Make, written: Make
) -> None:
    loops = [recorded(str(n), trace=[call(repeat=5)]) for n in range(1000)]
    path = written("a.jsonl", loops)

    with subprocess.Popen(
        [*CLI, *args, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(SECONDS) == 141


#: The command where the keyboard counts, also if this suite runs in the background of a shell: that
#: has its children ignore it.
WITH_KEYBOARD = """
import signal, sys
from pytest_tripwire import cli

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(cli.main(sys.argv[1:]))
"""


def test_the_keyboard_is_no_traceback() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WITH_KEYBOARD, "replay", "--json", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        # A first line without end: the process is known to be reading once the pipe is drained.
        process.stdin.write(b"x" * 2**20)
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS)

    assert process.returncode == 130
    assert err == b""
    assert json.loads(out) == {"schema_version": 1, "traces": []}


def lines(traces: int, steps: int) -> Iterator[str]:
    """Runs of `steps` steps each, as lines."""
    trace = [
        {
            "tool": "look",
            "args": {"order": n},
            "effect": "read",
            "outcome": {"status": "ok", "result": "open"},
        }
        for n in range(steps)
    ]
    text = json.dumps(trace)
    for number in range(traces):
        yield f'{{"id": "{number}", "trace": {text}}}\n'


def spans(traces: int, steps: int) -> Iterator[str]:
    """The same as telemetry; the spans of each run are spread over the whole file."""
    for step in range(steps):
        for number in range(traces):
            attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"}
            span = {
                "traceId": str(number),
                "spanId": f"{number}-{step}",
                "startTimeUnixNano": str(10**18 + step),
                "attributes": [
                    {"key": name, "value": {"stringValue": value}}
                    for name, value in attributes.items()
                ],
            }
            yield json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}) + "\n"


def peak_kib(path: Path, *args: str) -> int:
    """Memory that the command takes for a file, at most."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, "replay", *args, str(path)],
        capture_output=True,
        check=True,
        timeout=SECONDS,
    )
    *_, peak = done.stderr.split()
    return int(peak)


@pytest.mark.skipif(sys.platform == "win32", reason="nothing says how much memory a process took")
class TestMemory:
    """What is held does not grow with what is read."""

    @pytest.mark.parametrize(("how", "runs", "steps"), [("--json", 150, 20), ("--suggest", 300, 2)])
    def test_of_ten_times_as_many_runs(
        self, how: str, runs: int, steps: int, tmp_path: Path
    ) -> None:
        few, many = tmp_path / "few.jsonl", tmp_path / "many.jsonl"
        few.write_text("".join(lines(traces=runs, steps=steps)), "utf-8")
        many.write_text("".join(lines(traces=10 * runs, steps=steps)), "utf-8")

        assert peak_kib(many, how) < 1.1 * peak_kib(few, how)

    def test_of_ten_times_as_many_spans(self, tmp_path: Path) -> None:
        few, many = tmp_path / "few.jsonl", tmp_path / "many.jsonl"
        few.write_text("".join(spans(traces=300, steps=4)), "utf-8")
        many.write_text("".join(spans(traces=3_000, steps=4)), "utf-8")
        args = ("--json", "--default-effect", "read")

        assert peak_kib(many, *args) < 1.1 * peak_kib(few, *args)

    def test_of_a_million_repeats(self, recorded: Make, call: Make, written: Make) -> None:
        few = written("few.json", recorded(trace=[call(repeat=2)]))
        many = written("many.json", recorded(trace=[call(repeat=1_000_000)]))

        assert peak_kib(many) < 1.1 * peak_kib(few)


def test_the_package_run_by_its_name_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest_tripwire", "serve", "lost-writ"],
        capture_output=True,
        check=False,
        timeout=SECONDS,
        text=True,
    )

    assert done.returncode == 2
    assert "agent-tripwire serve: error: there is no case 'lost-writ'" in done.stderr
