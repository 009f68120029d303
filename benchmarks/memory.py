"""How much memory one long run holds on to: the resident set after some calls, and after many."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from benchmarks.line import Line
from benchmarks.plan import Plan

NAME = "memory"

#: KiB between the first count of calls and the last.
GOAL = 64.0
ARGUMENTS = ("distinct", "repeated")
_HERE = Path(__file__).parents[1]


def run(plan: Plan) -> Iterator[Line]:
    """Grow one run in a process of its own, for each kind of arguments."""
    first, last = (1_000, 20_000) if plan.quick else (10_000, 1_000_000)
    for kind in ARGUMENTS:
        grown = _grown(kind, first, last)
        yield Line(
            benchmark=NAME,
            what=f"growth from {first:,} to {last:,} reads, {kind} arguments",
            value=grown.kib,
            goal=GOAL,
            unit="KiB",
            note=grown.note,
        )


class Grown(msgspec.Struct, frozen=True, kw_only=True):
    """What a process says of itself when it is done.

    Args:
        kib: growth of the resident set; None where the system does not tell.
        note: what else to know.
    """

    kib: float | None
    note: str = ""


def _grown(kind: str, first: int, last: int) -> Grown:
    done = subprocess.run(  # noqa: S603 - this interpreter runs this package
        [sys.executable, "-m", "benchmarks.growing", kind, str(first), str(last)],
        cwd=_HERE,
        stdout=subprocess.PIPE,
        check=True,
    )
    return msgspec.json.decode(done.stdout, type=Grown)
