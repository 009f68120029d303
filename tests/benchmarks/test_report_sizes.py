"""The sizes of reports are told, of the example that `agent-tripwire init` writes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_sizes_are_those_of_whole_reports() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--only", "reports", "--json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    kib = {line["what"]: line["value"] for line in json.loads(done.stdout)}

    assert list(kib) == [
        "the page of 8 cells",
        "the report of 8 cells",
        "the page of 160 cells",
        "the report of 160 cells",
    ]
    # Twenty times the runs, and style and head only once.
    assert 10 < kib["the page of 160 cells"] / kib["the page of 8 cells"] < 20
    assert 10 < kib["the report of 160 cells"] / kib["the report of 8 cells"] <= 20
