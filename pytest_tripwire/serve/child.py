"""Runs the agent as a command: a process group of its own, which ends with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence

from pytest_tripwire.harness import HarnessError
from pytest_tripwire.serve.waiting import Sign, Waiting

#: Real seconds between asking a command to end and ending it.
GRACE_S = 2.0
_LOOK_S = 0.02


class CommandError(HarnessError):
    """The command cannot be run, which is no crash of an agent's."""


class Child:
    """The agent's process, and all that it starts.

    Args:
        command: the program and its arguments.
        environment: its whole environment.
        waiting: told when it has ended.

    Raises:
        CommandError: if there is no such program.
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], waiting: Waiting
    ) -> None:
        self._waiting = waiting
        self._process = _started(command, environment)
        threading.Thread(target=self._watch, name="tripwire-command", daemon=True).start()

    def stop(self, number: signal.Signals) -> None:
        """End it: by this signal, and by force what is left of it after two seconds."""
        self._tell(number)
        end = time.monotonic() + GRACE_S
        while self._is_there() and time.monotonic() < end:
            time.sleep(_LOOK_S)
        self.finish()

    def finish(self) -> int:
        """Its exit status, as a shell has it. What it has left behind is ended: it could act on,
        and nobody would judge it.
        """
        self._tell(_BY_FORCE)
        status = self._process.wait()
        return status if status >= 0 else 128 - status

    def _watch(self) -> None:
        if sys.platform == "win32":
            self._process.wait()
        else:
            # Left a zombie, it keeps its group's number from being given to others.
            os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        self._waiting.ring(Sign.ENDED)

    def _tell(self, number: signal.Signals | int) -> None:
        if sys.platform == "win32":
            if self._process.poll() is None:
                self._process.terminate()
            return
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            return
        except PermissionError:  # macOS, of a group in which all are zombies
            return

    def _is_there(self) -> bool:
        if sys.platform == "win32":
            return self._process.poll() is None
        seen = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
        return seen is None


_BY_FORCE = getattr(signal, "SIGKILL", signal.SIGTERM)


def _started(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """A group of its own keeps what the keyboard says for us, and lets us end all of it. It can
    read no terminal, so it gets no input at all.
    """
    try:
        return subprocess.Popen(  # noqa: S603 - to run what the user names is what this is for
            list(command),
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            process_group=None if sys.platform == "win32" else 0,
        )
    except (FileNotFoundError, PermissionError, NotADirectoryError) as error:
        raise CommandError(
            f"{command[0]} cannot be run ({error.strerror}): after -- comes a program and its "
            "arguments"
        ) from None
    except OSError as error:
        raise CommandError(f"{command[0]} cannot be run: {error}") from None
