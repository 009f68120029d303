"""The command line of `agent-tripwire serve`: what can be asked for, and what it means."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

import msgspec

from pytest_tripwire.cases import CASE_IDS
from pytest_tripwire.replay.options import UsageError

SUMMARY = "play a case to an agent in another process or language, and judge what it does"

_DESCRIPTION = """\
Play a case to an agent in another process or language, and judge what it does: a scripted
model behind a base URL on 127.0.0.1, and the case's tools over the Model Context Protocol.
"""

_EPILOG = """\
two ways to run an agent:
  agent-tripwire serve CASE [options] -- COMMAND [ARGS...]
      Runs the command with the environment that points it at the model and the tools, waits
      for it, and judges. It gets no standard input. A command that fails counts as a crash,
      unless the breaker had stopped the run.
  agent-tripwire serve CASE [options]
      Prints that environment as NAME=value lines and waits. Enter, SIGUSR1 or SIGTERM, Ctrl-C
      or the end of --max-seconds ends the wait; then it judges.
  A case in which the agent is called twice, such as stale-resume, runs the command twice, the
  second time with TRIPWIRE_RESUME. Without a command, Enter or SIGUSR1 ends the first call.

examples:
  agent-tripwire serve lost-write --mcp http -- node agent.mjs
  agent-tripwire serve empty-search --mcp http --report verdict.json -- ./agent --once
  agent-tripwire serve deadline --mcp http -- sh -c 'echo "$TRIPWIRE_PROMPT" | ./agent'
  agent-tripwire serve lost-write --mcp http --env-file run.env &
      until [ -f run.env ]; do sleep 0.1; done
      set -a; . ./run.env; set +a; ./agent; kill $!; wait $!

exit status:
  0    contained
  1    not contained: escaped, inconclusive
  2    wrong usage
  130  interrupted from the keyboard while a command ran; nothing was judged
  143  ended by SIGTERM while a command ran; nothing was judged
"""

#: Known to pytest, and refused here with a reason.
PRODUCTION = "production"
_NO_FACTORY = (
    "--protection production tries a breaker that an application in Python makes, and a command "
    "cannot be given one. Use the fixture tripwire_breaker in a test, or --protection own if the "
    "agent brings its breaker along"
)

#: Real seconds. Runtimes of other languages have to start, and some compile first.
MAX_SECONDS = 300.0

_PORTS = range(65536)


class Transport(StrEnum):
    """How the case's tools are reached."""

    STDIO = "stdio"
    HTTP = "http"


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asks for, checked.

    Args:
        case: the id of a standard case or of a look-alike.
        command: the agent's program and its arguments; empty if somebody else runs it.
        mcp: how the tools are served, if they are.
        port: the model server's; 0 for a free one.
        mcp_port: the tools'; 0 for a free one.
        protection: `harness` or `own`.
        persona: the scripted model's way; the case's first by default.
        variant: how the case is played; as it stands by default.
        seed: which other words the scripted model uses; 0 for those of the case.
        agent: the agent's name in what is reported.
        report: where to write the judgement as JSON.
        env_file: where to write the environment.
        max_seconds: real seconds that a run may take.
    """

    case: str
    command: tuple[str, ...] = ()
    mcp: Transport | None = None
    port: int = 0
    mcp_port: int = 0
    protection: str = "harness"
    persona: str | None = None
    variant: str | None = None
    seed: int = 0
    agent: str = "agent"
    report: Path | None = None
    env_file: Path | None = None
    max_seconds: float = MAX_SECONDS


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options; what stands behind `--` is cut off before they are read."""
    parser.description = _DESCRIPTION
    parser.epilog = _EPILOG
    parser.usage = "%(prog)s CASE [options] [-- COMMAND [ARGS...]]"
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    known = ", ".join(CASE_IDS)
    parser.add_argument("case", metavar="CASE", help=f"{known}; or CASE/LOOK-ALIKE")
    _add_what(parser)
    _add_where(parser)


def _add_what(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what is played")
    group.add_argument(
        "--protection",
        choices=("harness", "own", PRODUCTION),
        metavar="{harness,own}",
        default="harness",
        help="what is under test: a breaker of ours around the tools (default), or the agent's own",
    )
    group.add_argument("--persona", metavar="NAME", help="the model's way, such as compliant")
    group.add_argument("--variant", metavar="NAME", help="how the case is played, such as parallel")
    group.add_argument(
        "--seed", type=int, default=0, metavar="N", help="other words of the model, by a number"
    )
    group.add_argument(
        "--max-seconds",
        metavar="S",
        type=float,
        default=MAX_SECONDS,
        help="real seconds that all of it may take (default: %(default)g)",
    )


def _add_where(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("where it is served")
    group.add_argument(
        "--mcp",
        nargs="?",
        const=Transport.HTTP.value,
        choices=[each.value for each in Transport],
        help="serve the case's tools over the Model Context Protocol: over HTTP (default), or "
        "over this command's own standard input and output",
    )
    group.add_argument("--port", type=int, default=0, metavar="N", help="port of the model")
    group.add_argument("--mcp-port", type=int, default=0, metavar="N", help="port of the tools")
    group.add_argument("--env-file", metavar="PATH", help="write the environment to this file too")
    group = parser.add_argument_group("what is reported")
    group.add_argument("--report", metavar="PATH", help="write the judgement as JSON")
    group.add_argument("--agent", metavar="NAME", help="the agent's name in it")


def cut(arguments: Sequence[str]) -> tuple[list[str], list[str] | None]:
    """The command's own arguments, and the agent's command behind `--`, None without one."""
    given = list(arguments)
    if "--" not in given:
        return given, None
    place = given.index("--")
    return given[:place], given[place + 1 :]


def wanted(given: argparse.Namespace, command: Sequence[str] | None) -> Wanted:
    """What the user asks for.

    Raises:
        UsageError: for options that do not fit together.
    """
    _fitting(given, command)
    named = given.agent or (Path(command[0]).name if command else "agent")
    return Wanted(
        case=given.case,
        command=tuple(command or ()),
        mcp=Transport(given.mcp) if given.mcp else None,
        port=given.port,
        mcp_port=given.mcp_port,
        protection=given.protection,
        persona=given.persona,
        variant=given.variant,
        seed=given.seed,
        agent=named,
        report=_file(given.report, "--report"),
        env_file=_file(given.env_file, "--env-file"),
        max_seconds=given.max_seconds,
    )


def _fitting(given: argparse.Namespace, command: Sequence[str] | None) -> None:
    """Demand that the options fit together."""
    stdio = given.mcp == Transport.STDIO
    wrong = [
        (
            given.protection == PRODUCTION,
            _NO_FACTORY,
        ),
        (command == [], "behind -- comes the agent's program, such as -- node agent.mjs"),
        (
            stdio and command is not None,
            "--mcp stdio speaks with who has started this; with a COMMAND use --mcp http",
        ),
        (given.mcp_port and given.mcp != Transport.HTTP, "--mcp-port is for --mcp http"),
        (given.port not in _PORTS, f"--port {given.port}: ports are 0 to 65535"),
        (given.mcp_port not in _PORTS, f"--mcp-port {given.mcp_port}: ports are 0 to 65535"),
        (given.port and given.port == given.mcp_port, "--port and --mcp-port have to differ"),
        (
            not (math.isfinite(given.max_seconds) and given.max_seconds > 0),
            f"--max-seconds {given.max_seconds:g}: give a number of seconds above 0",
        ),
        (given.agent == "", "--agent wants a name"),
    ]
    for is_wrong, what in wrong:
        if is_wrong:
            raise UsageError(what)


def _file(name: str | None, option: str) -> Path | None:
    """Where a file is to be written. Better now than when all is over."""
    if name is None:
        return None
    path = Path(name)
    if path.is_dir() or not path.parent.is_dir():
        raise UsageError(f"{option} {name}: there has to be a folder for it, and no folder there")
    return path
