"""The command line of `agent-tripwire baseline`."""

from __future__ import annotations

import argparse
from pathlib import Path

import msgspec

SUMMARY = "show what is known to fail, or take out of it what does not fail any more"

#: As the plugin looks for it too.
FILE = "tripwire-baseline.toml"

_DESCRIPTION = """\
Show the entries of the baseline. With --prune, take out those that a report shows to be of no use:
the cell does not fail any more, or is not counted. What expired and still fails stays, as it has
to be put right, or a person has to put a later day into it. Nothing is ever added.
"""

_EPILOG = """\
example:
  pytest --tripwire-gate --tripwire-report=report.json
  agent-tripwire baseline --prune report.json

exit status:
  0    shown, or pruned
  2    wrong usage: no such file, a baseline that is malformed, a file that is no report
"""


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asks of `baseline`.

    Args:
        file: the baseline.
        prune: reports by which to prune it; None to show it.
    """

    file: Path
    prune: tuple[Path, ...] | None = None


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "--file", metavar="PATH", default=FILE, help="the baseline (default: %(default)s)"
    )
    parser.add_argument(
        "--prune",
        metavar="REPORT",
        nargs="+",
        help="take out what these reports of --tripwire-report show to be of no use",
    )


def wanted(given: argparse.Namespace) -> Wanted:
    """What the user asks of `baseline`."""
    prune = None if given.prune is None else tuple(map(Path, given.prune))
    return Wanted(file=Path(given.file), prune=prune)
