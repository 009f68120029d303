"""What the tests of the sub-commands share: reports in files, and the command in this process."""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_tripwire import __version__
from pytest_tripwire.cases import CASE_IDS
from pytest_tripwire.cases.catalogue import CATALOGUE_VERSION
from pytest_tripwire.cli import main
from pytest_tripwire.gate import Entry, Evidence, Judged, NotApplicable, Planned, decide
from pytest_tripwire.gate.origin import Origin
from pytest_tripwire.gate.report import encode, report
from pytest_tripwire.oracle import Cell, State
from pytest_tripwire.replay.command import Streams

TODAY = dt.date.today()  # noqa: DTZ011 - as the command takes it
CASES = ("lost-write", "deadline")
#: The agent has no part in the other standard cases, so that two tests make a whole.
BARE = tuple(NotApplicable(agent="shop", case=case) for case in CASE_IDS if case not in CASES)


def cell(case: str, **fields: Any) -> Cell:
    base: dict[str, Any] = {"agent": "shop", "state": State.CONTAINED, "protection": "harness"}
    return Cell(case=case, **{**base, **fields})


def evidence(*cells: Cell, planned: tuple[str, ...] = CASES, **more: Any) -> Evidence:
    """What a run knows that has collected a test of each case, and run one for each cell."""
    base: dict[str, Any] = {
        "version": __version__,
        "catalogue_version": CATALOGUE_VERSION,
        "catalogue": CASE_IDS,
        "declared": ("shop",),
        "protection": "harness",
        "not_applicable": BARE,
    }
    return Evidence(
        planned=tuple(Planned(agent="shop", case=c, test=f"t[{c}]") for c in planned),
        judged=tuple(Judged(cell=each, test=f"t[{each.case}]") for each in cells),
        **{**base, **more},
    )


Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a report file; its name."""

    def written(
        name: str,
        made: Evidence,
        baseline: tuple[Entry, ...] | None = None,
        origin: Origin | None = None,
    ) -> str:
        verdict = decide(made, today=TODAY, baseline=baseline)
        whole = report(verdict, made, day=TODAY, baseline=baseline, origin=origin)
        path = tmp_path / name
        path.write_bytes(encode(whole))
        return str(path)

    return written


class Command:
    """`agent-tripwire`, in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.out = ""
        self.err = ""

    def __call__(self, *argv: str) -> int:
        stdout, stderr = io.BytesIO(), io.StringIO()
        used = Streams(stdin=io.BytesIO(), stdout=stdout, stderr=stderr, clock=lambda: 0.0)
        try:
            return main(argv, within=used)
        except SystemExit as ended:
            return int(ended.code or 0)
        finally:
            told = self._capsys.readouterr()
            self.out, self.err = stdout.getvalue().decode() + told.out, stderr.getvalue() + told.err


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    return Command(capsys)


RunPytest = Callable[..., pytest.RunResult]


@pytest.fixture
def run_pytest(
    pytester: pytest.Pytester, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> RunPytest:
    """Runs pytest in this process: starting another takes longer than what is tried.

    Nor do the SDKs' clients read the certificates of the world, as what they ask is on 127.0.0.1.
    """
    monkeypatch.setenv("SSL_CERT_FILE", "")
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    return pytester.runpytest_inprocess
