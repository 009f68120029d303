"""The agent as the harness sees it: what it is called for happens in another process."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from pytest_tripwire.harness import Task
from pytest_tripwire.harness.ceiling import OverrunError
from pytest_tripwire.serve.child import Child
from pytest_tripwire.serve.waiting import Sign, Span, Waiting

#: What a shell says of a process that was asked to end.
TERMINATED = 143

#: Told of each call of the agent: points those who wait for it at the run, and returns the whole
#: environment of a command.
Announce: TypeAlias = Callable[[Task], Mapping[str, str]]


class CommandFailedError(Exception):
    """The agent's command has ended with another status than 0."""


class Elsewhere:
    """An agent that somebody else runs.

    Args:
        announce: tells of each call.
        waiting: how its end is noticed.
        seconds: how long to wait for it, both calls together.
    """

    def __init__(self, announce: Announce, waiting: Waiting, seconds: float) -> None:
        self._announce = announce
        self._waiting = waiting
        self._span = Span(seconds)
        #: What ended the last wait.
        self.sign: Sign | None = None

    def __call__(self, task: Task) -> None:
        """Wait until the agent has come to its end. Once all is over no further call begins."""
        if self.sign in (None, Sign.NEXT):
            self._announce(task)
            self.sign = self._waiting.wait(self._span.left())


class Commanded:
    """An agent that is a command of its own.

    Args:
        command: the program and its arguments.
        announce: tells of each call.
        waiting: how its end is noticed.
        seconds: how long it may take, both calls together.
    """

    def __init__(
        self, command: Sequence[str], announce: Announce, waiting: Waiting, seconds: float
    ) -> None:
        self._command = command
        self._announce = announce
        self._waiting = waiting
        self._span = Span(seconds)
        #: With which exit status the command has ended, each time.
        self.statuses: list[int] = []

    def __call__(self, task: Task) -> None:
        """Run the command to its end.

        Raises:
            CommandError: if it cannot be run.
            CommandFailedError: if it fails.
            OverrunError: if its time is over.
            KeyboardInterrupt, SystemExit: if this process is to end.
        """
        child = Child(self._command, self._announce(task), self._waiting)
        sign = self._ended()
        if sign is Sign.ENDED:
            self._check(child.finish())
        elif sign is Sign.KEYBOARD:
            child.stop(signal.SIGINT)
            raise KeyboardInterrupt
        elif sign is Sign.TERMINATED:
            child.stop(signal.SIGTERM)
            raise SystemExit(TERMINATED)
        else:
            child.stop(signal.SIGTERM)
            raise OverrunError("the command has taken all the time that it had, and was ended")

    def _ended(self) -> Sign:
        """The next sign that means an end; that the agent has come to its own end says the command
        itself.
        """
        while True:
            sign = self._waiting.wait(self._span.left())
            if sign is not Sign.NEXT:
                return sign

    def _check(self, status: int) -> None:
        self.statuses.append(status)
        if status:
            raise CommandFailedError(f"the command has ended with status {status}")
