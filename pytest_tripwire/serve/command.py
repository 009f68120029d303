"""`agent-tripwire serve`: puts a run together, waits for the agent, and says what came of it."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial

from pytest_tripwire.cases import UnknownCaseError, load_case
from pytest_tripwire.harness import Harness, HarnessError, Options, Protection, Run, Task
from pytest_tripwire.models import ModelServer
from pytest_tripwire.models.http.transport import PortError
from pytest_tripwire.replay.command import FAILED, OK, Streams
from pytest_tripwire.replay.options import UsageError
from pytest_tripwire.serve import protocol, report
from pytest_tripwire.serve.agent import Commanded, Elsewhere
from pytest_tripwire.serve.endpoint import Endpoint, Nowhere, OverHttp, OverStdio
from pytest_tripwire.serve.environment import EnvironmentFile, lines, variables
from pytest_tripwire.serve.facts import Facts
from pytest_tripwire.serve.offered import Offered
from pytest_tripwire.serve.options import Transport, Wanted
from pytest_tripwire.serve.waiting import Sign, Waiting, has_keyboard
from pytest_tripwire.world import VirtualClock

#: The exit status of a command that cannot do what it was asked for.
WRONG = 2

#: Real seconds for which tools still answer when the wait for an agent is over: what was under way
#: may end.
_SLACK_S = 60.0

#: Real seconds for which the second of two calls side by side is waited for. They come through
#: another runtime and a protocol, maybe on a busy machine.
_GRACE_S = 1.0

_TALKATIVE = ("pytest_tripwire", "uvicorn", "mcp")

_NO_TOOLS = (
    "without --mcp the agent gets a model but none of the tools, and what it does with tools "
    "of its own is not seen"
)


def execute(
    wanted: Wanted, streams: Streams, *, environment: Mapping[str, str] | None = None
) -> int:
    """Do what is wanted; the exit status.

    Args:
        wanted: what the user asks for.
        streams: where to read and write.
        environment: that of the agent's command; by default the one of this process.

    Raises:
        UsageError: if it cannot be done as it was asked for.
        BrokenPipeError: if nobody reads where the model is.
        KeyboardInterrupt, SystemExit: if the process is to end while a command runs.
    """
    around = os.environ if environment is None else environment
    try:
        with ExitStack() as stack:
            stack.enter_context(_quiet())
            return _Command(wanted, streams, around, stack).run()
    except _WRONG_USAGE as error:
        raise UsageError(str(error)) from None
    except _NobodyReadsError:
        raise BrokenPipeError from None


_WRONG_USAGE = (HarnessError, UnknownCaseError, PortError, protocol.MissingExtraError)


class _NobodyReadsError(BaseException):
    """Nobody learns where the model is. No `Exception`: those would be the agent's."""


class _Command:
    """One call of the command."""

    def __init__(
        self, wanted: Wanted, streams: Streams, environment: Mapping[str, str], stack: ExitStack
    ) -> None:
        self._wanted = wanted
        self._streams = streams
        self._environment = environment
        self._twice = load_case(wanted.case).interlude is not None
        self._waiting = stack.enter_context(Waiting())
        self._offered = Offered()
        self._endpoint = self._made()
        stack.callback(self._endpoint.close)
        self._facts = Facts()
        stack.callback(self._facts.close)
        self._file = EnvironmentFile(wanted.env_file) if wanted.env_file else None
        if self._file is not None:
            stack.callback(self._file.remove)
        self._calls = 0

    def run(self) -> int:
        """Play the case, judge, and tell."""
        wanted = self._wanted
        if wanted.mcp is None:
            self._note(_NO_TOOLS)
        if wanted.command:
            run, statuses = self._commanded()
        else:
            run, statuses = self._elsewhere(), ()
        kept = self._reported(run, statuses)
        print(report.as_text(run), file=self._streams.stderr, flush=True)
        if not kept:
            return WRONG
        return OK if report.is_good(run) else FAILED

    def _reported(self, run: Run, statuses: tuple[int, ...]) -> bool:
        """Write the report, if one is wanted. Returns whether it is where it was asked for. If not
        it is too late to ask for another place, and the judgement is told all the same.
        """
        path = self._wanted.report
        if path is None:
            return True
        try:
            report.write(path, run, statuses)
        except OSError as error:
            self._note(f"--report {path} cannot be written: {error.strerror}")
            return False
        return True

    def _commanded(self) -> tuple[Run, tuple[int, ...]]:
        wanted = self._wanted
        agent = Commanded(wanted.command, self._announced, self._waiting, wanted.max_seconds)
        try:
            run = self._harness(agent, wanted.max_seconds).run()
        except (KeyboardInterrupt, SystemExit):
            self._note(f"{wanted.command[0]} was ended before its end, so nothing is judged")
            raise
        for status in filter(None, agent.statuses):
            self._note(f"{wanted.command[0]} has ended with status {status}")
        return run, tuple(agent.statuses)

    def _elsewhere(self) -> Run:
        wanted = self._wanted
        keyboard = wanted.mcp is not Transport.STDIO and has_keyboard(self._streams.stdin)
        if self._twice and not keyboard and not hasattr(signal, "SIGUSR1"):
            raise UsageError(
                f"{wanted.case} calls the agent twice, and nothing here can tell when the first "
                "call is over: give the agent's command behind --, or use a terminal"
            )
        if keyboard:
            self._waiting.on_enter(self._streams.stdin)
        agent = Elsewhere(self._printed, self._waiting, wanted.max_seconds)
        run = self._harness(agent, wanted.max_seconds + _SLACK_S).run()
        if agent.sign is Sign.TIME:
            self._note(f"nobody ended the wait, so it is judged after {wanted.max_seconds:g} s")
        if self._twice and self._calls == 1:
            self._note("all was ended before the agent's second call")
        return run

    def _harness(self, agent: Commanded | Elsewhere, seconds: float) -> Harness:
        wanted = self._wanted
        options = Options(
            protection=Protection(wanted.protection),
            persona=wanted.persona,
            variant=wanted.variant,
            seed=wanted.seed,
            max_seconds=seconds,
        )
        return Harness(
            wanted.case,
            agent,
            agent_id=wanted.agent,
            options=options,
            model_server=partial(ModelServer, port=wanted.port),
            clock=partial(VirtualClock, grace=_GRACE_S),
            outside=True,
        )

    def _made(self) -> Endpoint:
        wanted = self._wanted
        if wanted.mcp is None:
            return Nowhere()
        protocol.check_installed()
        if wanted.mcp is Transport.STDIO:
            return OverStdio(self._offered, lambda: self._waiting.ring(Sign.CLOSED))
        return OverHttp(self._offered, wanted.mcp_port)

    def _announced(self, task: Task) -> dict[str, str]:
        """Let a call begin: offer its tools, and say where all is. The whole environment."""
        self._calls += 1
        self._offered.replace(task.tools)
        self._facts.tell_of(task)
        if self._calls == 1:
            self._endpoint.start()
        found = variables(
            task,
            case_id=self._wanted.case,
            mcp_url=self._endpoint.url,
            world_url=self._facts.url,
            inherited=self._environment,
        )
        if self._file is not None:
            self._file.write(found)
        self._found = found
        return {**self._environment, **found}

    def _printed(self, task: Task) -> dict[str, str]:
        """The same, for those who wait for it at the other end of standard output."""
        whole = self._announced(task)
        text = lines(self._found)
        if self._wanted.mcp is Transport.STDIO:
            print(text, end="", file=self._streams.stderr, flush=True)
        else:
            self._write(text)
        self._note(self._how_to_end())
        return whole

    def _write(self, text: str) -> None:
        try:
            self._streams.stdout.write(text.encode())
            self._streams.stdout.flush()
        except BrokenPipeError:
            raise _NobodyReadsError from None

    def _how_to_end(self) -> str:
        """What to do when the agent has come to its end."""
        first = self._twice and self._calls == 1
        which = "the first of two calls of the agent" if first else "the agent"
        ways = "SIGUSR1" if self._wanted.mcp is Transport.STDIO else "Enter, or SIGUSR1"
        return f"waiting for {which}; {ways} to process {os.getpid()}, when it is over"

    def _note(self, text: str) -> None:
        print(f"agent-tripwire: {text}", file=self._streams.stderr, flush=True)


@contextmanager
def _quiet() -> Iterator[None]:
    """What the breaker logs of a stop is in the report, and what servers log of clients that hang
    up is no news; where nobody has set up logging it would be printed amid the command's output.
    """
    nowhere = logging.NullHandler()
    loggers = [logging.getLogger(name) for name in _TALKATIVE]
    for each in loggers:
        each.addHandler(nowhere)
    try:
        yield
    finally:
        for each in loggers:
            each.removeHandler(nowhere)
