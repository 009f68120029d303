"""Processes of the command, forked from one that has loaded it: to load it takes ten times as long
as what most of them do. Each is a process of its own, with pipes, an environment and signals.

Run by `python -m tests.serve.nursery`: its standard input is a socket, and each message there is
the arguments and the environment of one, as JSON, with its three streams and a pipe. Into that goes
the number of the process, and when it has ended what it has ended with.
"""

from __future__ import annotations

import atexit
import gc
import io
import json
import os
import random
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Sequence
from typing import Any

from pytest_tripwire import cli
from pytest_tripwire.replay.command import Streams

#: A message has to be whole in one read.
LARGEST = 1 << 20
#: All of one length, so that one can be read and not the next.
NUMBER = b"%11d\n"


def born(message: dict[str, Any], streams: Sequence[int], tell: int) -> None:
    """Fork one that forks it, tells of it, and waits for its end."""
    warden = os.fork()
    if warden:
        return
    pid = os.fork()
    if pid == 0:
        os.close(tell)
        os._exit(lived(message, streams))
    for each in streams:
        os.close(each)
    os.write(tell, NUMBER % pid)
    _, status = os.waitpid(pid, 0)
    os.write(tell, NUMBER % os.waitstatus_to_exitcode(status))
    os._exit(0)


def lived(message: dict[str, Any], streams: Sequence[int]) -> int:
    """Be the command; returns what the process ends with, as the interpreter would."""
    for number, each in enumerate(streams):
        os.dup2(each, number)
        os.close(each)
    os.environ.clear()
    os.environ.update(message["environment"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    random.seed()
    try:
        status = cli.main(message["arguments"])
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    except BaseException:  # noqa: BLE001 - as the interpreter tells of it
        traceback.print_exc()
        status = 1
    threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001 - as the interpreter does
    atexit._run_exitfuncs()  # noqa: SLF001 - the same
    sys.stdout.flush()
    sys.stderr.flush()
    return status


def warm() -> None:
    """Load what the command loads when it is used."""
    within = Streams(
        stdin=io.BytesIO(), stdout=io.BytesIO(), stderr=io.StringIO(), clock=lambda: 0.0
    )
    cli.main(["serve", "lost-write", "--max-seconds", "0.01"], within=within)


def reap() -> None:
    """Forget those that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def main() -> None:
    with socket.socket(fileno=os.dup(0)) as orders:
        while True:
            message, passed, _, _ = socket.recv_fds(orders, LARGEST, 4)
            reap()
            if not message:
                return
            *streams, tell = passed
            born(json.loads(message), streams, tell)
            for each in passed:
                os.close(each)


if __name__ == "__main__":
    warm()
    gc.freeze()
    main()
