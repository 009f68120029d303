"""What the tests of serve share: the command in this process and as one of its own, and an agent in
yet another.
"""

from __future__ import annotations

import io
import json
import os
import select
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from pytest_tripwire import cli
from pytest_tripwire.replay.command import Streams

SECONDS = 30
ROOT = Path(__file__).parents[2]
#: Bytes of a number that the process tells which forks.
NUMBER = 12

#: What every agent here does: ask until the model wants no more. Its tool is never run.
LOOP = """
import os, sys
name, nothing = "search_articles", {"type": "object", "properties": {}}
function = {"name": name, "description": "", "parameters": nothing}
body = {
    "model": os.environ["TRIPWIRE_MODEL"],
    "messages": [{"role": "user", "content": os.environ["TRIPWIRE_PROMPT"]}],
    "tools": [{"type": "function", "function": function}],
}
for turn in range(30):
    message = ask(body)
    body["messages"].append(message)
    if not message.get("tool_calls"):
        break
    for call in message["tool_calls"]:
        result = {"role": "tool", "tool_call_id": call["id"], "content": f"page {turn}"}
        body["messages"].append(result)
print("turns", turn)
sys.exit(int(os.environ.get("ENDS_WITH", "0")))
"""

#: How they ask, each with nothing but the environment to know where.
ASKS = {
    "plain": """
import json, os, urllib.request

def ask(body):
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    key = "Bearer " + os.environ["OPENAI_API_KEY"]
    headers = {"Content-Type": "application/json", "Authorization": key}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)["choices"][0]["message"]
""",
    "openai": """
from openai import OpenAI

client = OpenAI(max_retries=0)

def ask(body):
    reply = client.chat.completions.create(**body)
    return reply.choices[0].message.model_dump(exclude_none=True)
""",
}


class Typed:
    """What a command has printed, and its exit status."""

    def __init__(self, status: int, out: bytes, err: str) -> None:
        self.status = status
        self.out = out.decode()
        self.err = err


def _typed(*args: str | Path) -> Typed:
    out, err = io.BytesIO(), io.StringIO()
    within = Streams(stdin=io.BytesIO(), stdout=out, stderr=err, clock=lambda: 0.0)
    status = cli.main(["serve", *map(str, args)], within=within)
    return Typed(status, out.getvalue(), err.getvalue())


@pytest.fixture
def typed() -> Callable[..., Typed]:
    """`agent-tripwire serve ...` in this process."""
    return _typed


class Nursery:
    """Starts processes of the command, by one that has loaded it."""

    def __init__(self) -> None:
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.serve.nursery"], cwd=ROOT, stdin=theirs
            )

    def start(
        self, arguments: Sequence[str], environment: dict[str, str], streams: Sequence[int]
    ) -> int:
        """Start one. Returns a pipe that tells of it."""
        told, tell = os.pipe()
        message = json.dumps({"arguments": arguments, "environment": environment})
        socket.send_fds(self._ours, [message.encode()], [*streams, tell])
        os.close(tell)
        return told

    def close(self) -> None:
        self._ours.close()
        self._process.wait(SECONDS)


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    if not hasattr(socket, "send_fds"):
        pytest.skip("processes are forked here, and this system cannot")
    made = Nursery()
    yield made
    made.close()


class Served:
    """`agent-tripwire serve ...` as a process of its own, forked from one that has loaded it."""

    def __init__(self, nursery: Nursery, *args: str | Path, **environment: str) -> None:
        (theirs_in, ours_in), (ours_out, theirs_out), (ours_err, theirs_err) = (
            os.pipe() for _ in range(3)
        )
        theirs = (theirs_in, theirs_out, theirs_err)
        arguments = ["serve", *map(str, args)]
        told = nursery.start(arguments, {**os.environ, **environment}, theirs)
        for each in theirs:
            os.close(each)
        self._in = os.fdopen(ours_in, "w", encoding="utf-8")
        self._out = os.fdopen(ours_out, encoding="utf-8")
        self._err = os.fdopen(ours_err, encoding="utf-8")
        self._told = os.fdopen(told, "rb", buffering=0)
        self._pid = int(self._told.read(NUMBER))
        self._status: int | None = None

    def environment(self) -> dict[str, str]:
        """What it prints before it waits, as a shell would read it."""
        found: dict[str, str] = {}
        while "TRIPWIRE_MODEL" not in found:
            found |= self.line()
        return found

    def line(self) -> dict[str, str]:
        """One line of that."""
        line = self._out.readline()
        assert line, self._err.read()
        (word,) = shlex.split(line)
        name, _, value = word.partition("=")
        return {name: value}

    def tell(self, number: signal.Signals) -> None:
        os.kill(self._pid, number)

    def end(self, words: str = "") -> tuple[int, str, str]:
        """Its exit status, and the rest of what it has printed. `words`: its standard input."""
        with suppress(BrokenPipeError), self._in:
            self._in.write(words)
        found: dict[Any, str] = {}
        readers = [
            threading.Thread(
                target=lambda file=file: found.update({file: file.read()}), daemon=True
            )
            for file in (self._out, self._err)
        ]
        for each in readers:
            each.start()
        for each in readers:
            each.join(SECONDS)
        assert len(found) == len(readers), "it comes to no end"
        self._status = self._ended(SECONDS)
        assert self._status is not None, "it comes to no end"
        return self._status, found[self._out], found[self._err]

    def close(self) -> None:
        """End what is left of it."""
        if self._status is None and self._ended(0.0) is None:
            self.tell(signal.SIGKILL)
        for each in (self._in, self._out, self._err, self._told):
            with suppress(BrokenPipeError):
                each.close()

    def _ended(self, seconds: float) -> int | None:
        if not select.select([self._told], [], [], seconds)[0]:
            return None
        return int(self._told.read(NUMBER))


@pytest.fixture
def serve(nursery: Nursery) -> Iterator[Callable[..., Served]]:
    """Starts `agent-tripwire serve ...`; what a test has left running is ended."""
    started: list[Served] = []

    def start(*args: str | Path, **environment: str) -> Served:
        started.append(Served(nursery, *args, **environment))
        return started[-1]

    yield start
    for each in started:
        each.close()


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], list[str]]:
    """Some Python as a command."""

    def make(text: str) -> list[str]:
        file = tmp_path / "script.py"
        file.write_text(text, encoding="utf-8")
        return [sys.executable, str(file)]

    return make


@pytest.fixture
def agent(script: Callable[[str], list[str]]) -> Callable[..., list[str]]:
    """An agent as a command, by how it asks."""
    return lambda how="plain": script(ASKS[how] + LOOP)


@pytest.fixture
def soon() -> Callable[[Callable[[], Any]], None]:
    """Waits until something holds."""

    def until(holds: Callable[[], Any]) -> None:
        end = time.monotonic() + SECONDS
        while not holds():
            assert time.monotonic() < end, "it never came to that"
            time.sleep(0.02)

    return until
