"""The console command `agent-tripwire`."""

from __future__ import annotations

import argparse
import datetime as dt
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from pytest_tripwire import __version__
from pytest_tripwire.console import baseline_options as of_baseline
from pytest_tripwire.console import gate_options as of_gate
from pytest_tripwire.console import init_options as of_init
from pytest_tripwire.console.records import options as of_records
from pytest_tripwire.replay import options as of_replay
from pytest_tripwire.replay.command import Streams, streams
from pytest_tripwire.replay.command import execute as execute_replay
from pytest_tripwire.replay.drive import replay_trace
from pytest_tripwire.replay.run import Replay
from pytest_tripwire.serve import options as of_serve

#: What a shell says of a process that a signal has ended: 128 and the signal's number.
INTERRUPTED = 130
NOBODY_READS = 141

#: By name: the options of each sub-command.
_COMMANDS: dict[str, Any] = {
    "init": of_init,
    "replay": of_replay,
    "serve": of_serve,
    "gate": of_gate,
    "baseline": of_baseline,
    "records": of_records,
}

#: Does what was asked for; the exit status.
Run: TypeAlias = Callable[[Streams], int]


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
    parser, commands = _parsers()
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] == ["serve"]:
        arguments, command = of_serve.cut(arguments)
    else:
        command = None
    given, strange = parser.parse_known_args(arguments)
    if strange:
        commands[given.name].error(_unknown(strange, may_be_agent=given.name == "serve"))
    used = streams() if within is None else within
    try:
        run = _replay(given, replay) if given.name == "replay" else _other(given, command)
        status = run(used)
        used.stdout.flush()
    except of_replay.UsageError as error:
        commands[given.name].error(str(error))
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _say_no_more()
        return NOBODY_READS
    return status


def _replay(given: argparse.Namespace, replay: Replay) -> Run:
    wanted = of_replay.wanted(given)
    return lambda used: execute_replay(wanted, used, replay=replay)


def _other(given: argparse.Namespace, command: list[str] | None) -> Run:
    """What is loaded only when it is asked for."""
    if given.name == "serve":
        return _serve(given, command)
    if given.name == "init":
        from pytest_tripwire.console import init

        return lambda used: init.execute(of_init.wanted(given), used)
    if given.name == "records":
        from pytest_tripwire.console.records import command as records

        return lambda used: records.execute(of_records.wanted(given), used)
    today = dt.date.today()  # noqa: DTZ011 - people write the days of a baseline by their calendar
    if given.name == "gate":
        from pytest_tripwire.console import gate

        return lambda used: gate.execute(of_gate.wanted(given), used, today=today)
    from pytest_tripwire.console import baseline

    return lambda used: baseline.execute(of_baseline.wanted(given), used, today=today)


def _serve(given: argparse.Namespace, command: list[str] | None) -> Run:
    wanted = of_serve.wanted(given, command)
    # A replay needs neither worlds nor cases nor a server.
    from pytest_tripwire.serve.command import execute

    return lambda used: execute(wanted, used)


def _parsers() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """The parser of the command, and those of its sub-commands by name."""
    parser = argparse.ArgumentParser(
        prog="agent-tripwire",
        description="Stop an agent that repeats itself before its next mutation.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(
        dest="name", metavar="COMMAND", required=True, parser_class=_SubCommand
    )
    found: dict[str, argparse.ArgumentParser] = {}
    for name, options in _COMMANDS.items():
        how: dict[str, Any] = {"help": options.SUMMARY, "allow_abbrev": False}
        found[name] = commands.add_parser(name, add_options=options.add_options, **how)
    return parser, found


class _SubCommand(argparse.ArgumentParser):
    """Has its options from the moment that it is asked: of all sub-commands, one is."""

    def __init__(self, *, add_options: Callable[[Any], None] | None = None, **how: Any) -> None:
        super().__init__(**how)
        self._add_options = add_options

    def parse_known_args(self, *given: Any, **named: Any) -> Any:
        """As its base does."""
        add_options, self._add_options = self._add_options, None
        if add_options is not None:
            add_options(self)
        return super().parse_known_args(*given, **named)


def _unknown(strange: Sequence[str], *, may_be_agent: bool) -> str:
    """What to say of arguments that nothing is made of."""
    words = " ".join(strange)
    if may_be_agent and not strange[0].startswith("-"):
        return f"unrecognized arguments: {words}; an agent's command stands behind --: -- {words}"
    return f"unrecognized arguments: {words}"


def _say_no_more() -> None:
    """Send what is still buffered nowhere, so that the end of the process does not complain."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


if __name__ == "__main__":
    sys.exit(main())
