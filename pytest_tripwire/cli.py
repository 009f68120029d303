"""The console command `agent-tripwire`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any

from pytest_tripwire import __version__
from pytest_tripwire.replay import options
from pytest_tripwire.replay.command import Streams, execute, streams
from pytest_tripwire.replay.drive import replay_trace
from pytest_tripwire.replay.run import Replay

#: What a shell says of a process that a signal has ended: 128 and the signal's number.
INTERRUPTED = 130
NOBODY_READS = 141


def main(
    argv: Sequence[str] | None = None,
    *,
    replay: Replay = replay_trace,
    within: Streams | None = None,
) -> int:
    """Run the command; returns the exit status and raises SystemExit for wrong usage.

    Args:
        argv: the arguments; by default those of the process.
        replay: feeds one trace to a breaker; by default `replay.drive` does.
        within: where to read and write; by default the streams of the process.
    """
    parser, replaying = _parsers()
    given = parser.parse_args(argv)
    try:
        wanted = options.wanted(given)
    except options.UsageError as error:
        replaying.error(str(error))
    used = streams() if within is None else within
    try:
        status = execute(wanted, used, replay=replay)
        used.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _say_no_more()
        return NOBODY_READS
    return status


def _parsers() -> tuple[argparse.ArgumentParser, argparse.ArgumentParser]:
    """The parser of the command, and that of `replay`."""
    parser = argparse.ArgumentParser(
        prog="agent-tripwire",
        description="Stop an agent that repeats itself before its next mutation.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    how: dict[str, Any] = {"help": options.SUMMARY, "allow_abbrev": False}
    replaying = commands.add_parser("replay", **how)
    options.add_options(replaying)
    return parser, replaying


def _say_no_more() -> None:
    """Send what is still buffered nowhere, so that the end of the process does not complain."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


if __name__ == "__main__":
    sys.exit(main())
