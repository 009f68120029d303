"""What the plugin costs a suite that has nothing to do with it: 500 tests, alone and in two
processes.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from benchmarks.line import Line
from benchmarks.plan import Plan
from benchmarks.timing import Prepared, Subject, in_turns

NAME = "unrelated"
TESTS = 500
GOAL = 1.05
_FILES = 10
_SUITE = """
import pytest

@pytest.mark.parametrize("number", range({count}))
def test_sum(number):
    assert number + 1 > number
"""
#: Nothing but what is compared is loaded, and nothing of one run is left for the next.
_BARE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}
_OPTIONS = ("-q", "-p", "no:cacheprovider")


def run(plan: Plan) -> Iterator[Line]:
    """Time the suite with and without the plugin; the seconds are those of its processes."""
    rounds = 3 if plan.quick else 9
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        _write(folder)
        for what, options in (
            ("", ()),
            (", 2 processes", ("-p", "xdist", "-n", "2")),
        ):
            subjects = {
                "without": _suite(folder, options),
                "with": _suite(folder, ("-p", "tripwire", *options)),
            }
            value = in_turns(subjects, rounds=rounds).ratio("with", "without")
            told = f"{TESTS} tests with / without the plugin{what}"
            yield Line(benchmark=NAME, what=told, value=value, goal=GOAL)


def _write(folder: Path) -> None:
    text = _SUITE.format(count=TESTS // _FILES)
    for number in range(_FILES):
        (folder / f"test_{number}.py").write_text(text, encoding="utf-8")


def _suite(folder: Path, options: Sequence[str]) -> Subject:
    command = [sys.executable, "-m", "pytest", *_OPTIONS, *options]

    def prepare() -> Prepared:
        def timed() -> float:
            before = _seconds()
            done = subprocess.run(  # noqa: S603 - this interpreter, on a suite of our own
                command,
                cwd=folder,
                env={**os.environ, **_BARE},
                capture_output=True,
                text=True,
                check=True,
            )
            if f"{TESTS} passed" not in done.stdout:
                raise RuntimeError(f"the suite did not pass: {done.stdout}")
            return _seconds() - before

        return timed

    return prepare


def _seconds() -> float:
    """Seconds of computing of all processes that were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
