"""The command line of `agent-tripwire gate`."""

from __future__ import annotations

import argparse
from pathlib import Path

import msgspec

SUMMARY = "make one verdict of the reports of several test runs"

_DESCRIPTION = """\
Make one verdict of the reports of several test runs that shared the work, such as the shards of
a CI pipeline. Each of them is run with --tripwire-report=PATH and without --tripwire-gate.
"""

_EPILOG = """\
example, in a job after the shards:
  agent-tripwire gate reports/*.json

On GitHub the verdict is appended to the job's summary, and marks the job where it fails.

exit status:
  0    every declared agent is contained in every standard case
  1    it is not, or a report could not be written
  2    wrong usage: a file that is no report, or reports of different projects or versions
"""


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asks of `gate`.

    Args:
        reports: the files to put together.
        report: where to write the whole as JSON.
        html: where to write it as a page.
        quiet: whether to say the verdict alone, without the table.
    """

    reports: tuple[Path, ...]
    report: Path | None = None
    html: Path | None = None
    quiet: bool = False


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gate`."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("reports", metavar="REPORT", nargs="+", help="a file of --tripwire-report")
    parser.add_argument("--report", metavar="PATH", help="write the whole as JSON too")
    parser.add_argument("--html", metavar="PATH", help="write the whole as a page too")
    parser.add_argument("-q", "--quiet", action="store_true", help="the verdict alone, no table")


def wanted(given: argparse.Namespace) -> Wanted:
    """What the user asks of `gate`."""
    return Wanted(
        reports=tuple(map(Path, given.reports)),
        report=Path(given.report) if given.report else None,
        html=Path(given.html) if given.html else None,
        quiet=given.quiet,
    )
