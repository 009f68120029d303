"""How large the files of a gate are, for one agent in all standard cases and for twenty."""

from __future__ import annotations

import datetime as dt
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from benchmarks.line import Line
from benchmarks.plan import Plan
from pytest_tripwire.gate import Evidence, decide
from pytest_tripwire.gate.html import page
from pytest_tripwire.gate.report import decode, encode, report

NAME = "reports"
AGENTS = (1, 20)


def run(_plan: Plan) -> Iterator[Line]:
    """Run the example that `agent-tripwire init` writes, and weigh what comes of it."""
    found, day = _example()
    for count in AGENTS:
        evidence = _by(found, count)
        verdict = decide(evidence, today=day)
        whole = report(verdict, evidence, day=day, baseline=None)
        files = {"the page": page(verdict).encode(), "the report": encode(whole)}
        for what, content in files.items():
            yield Line(
                benchmark=NAME,
                what=f"{what} of {len(verdict.rows)} cells",
                value=len(content) / 1024,
                unit="KiB",
            )


def _example() -> tuple[Evidence, dt.date]:
    """What is known of a plain loop behind the breaker, and the day."""
    with tempfile.TemporaryDirectory() as folder:
        _do(folder, "pytest_tripwire", "init", "--framework", "plain")
        _do(folder, "pytest", "-q", "-p", "no:cacheprovider", "--tripwire-report=report.json")
        made = decode((Path(folder) / "report.json").read_bytes())
    return made.evidence, made.day


def _do(folder: str, module: str, *words: str) -> None:
    path = os.pathsep.join(each for each in (str(Path(__file__).parents[1]), *sys.path) if each)
    subprocess.run(  # noqa: S603 - this interpreter, on a project of our own
        [sys.executable, "-m", module, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        check=True,
    )


def _by(found: Evidence, count: int) -> Evidence:
    """The same runs by so many agents."""
    names = [f"team/agent-{number:02}" for number in range(count)]
    judged = [
        msgspec.structs.replace(each, cell=msgspec.structs.replace(each.cell, agent=name))
        for name in names
        for each in found.judged
    ]
    return msgspec.structs.replace(
        found, declared=tuple(names), judged=tuple(judged), planned=(), finished=()
    )
