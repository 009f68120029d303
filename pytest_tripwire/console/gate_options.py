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
  agent-tripwire gate reports/*.json --expect 4

On GitHub the verdict is appended to the job's summary, and marks the job where it fails.

exit status:
  0    every declared agent is contained in every standard case
  1    it is not, a report is missing, or one could not be written
  2    wrong usage: a file that is no report or does not agree with itself, reports of different
       projects, commits or CI runs, or of another version than this one
"""


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asks of `gate`.

    Args:
        reports: the files to put together.
        report: where to write the whole as JSON.
        html: where to write it as a page.
        quiet: whether to say the verdict alone, without the table.
        expect: how many reports there have to be; None if nobody says.
    """

    reports: tuple[Path, ...]
    report: Path | None = None
    html: Path | None = None
    quiet: bool = False
    expect: int | None = None


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gate`."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("reports", metavar="REPORT", nargs="+", help="a file of --tripwire-report")
    parser.add_argument(
        "--expect",
        metavar="N",
        type=_number,
        help="fail unless there are so many reports: a shard that is lost may lack no cell",
    )
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
        expect=given.expect,
    )


def _number(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of reports, from 1 on")
    return int(text)
