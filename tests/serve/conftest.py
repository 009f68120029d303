"""What the tests of serve share: the command in this process and as one of its own, and an agent in
yet another.
"""

from __future__ import annotations

import io
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import pytest

from pytest_tripwire import cli
from pytest_tripwire.replay.command import Streams

SECONDS = 30

#: The command where signals count, also if this suite runs in the background of a shell: that has
#: its children ignore the keyboard.
CLI = """
import signal, sys
from pytest_tripwire import cli

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(cli.main(sys.argv[1:]))
"""

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


class Served:
    """`agent-tripwire serve ...` as a process of its own."""

    def __init__(self, *args: str | Path, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", CLI, "serve", *map(str, args)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )

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

    def read_no_more(self) -> None:
        """Close the other end of its standard output."""
        self._out.close()
        self.process.stdout = None

    def tell(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def end(self, words: str = "") -> tuple[int, str, str]:
        """Its exit status, and the rest of what it has printed. `words`: its standard input."""
        out, err = self.process.communicate(words, timeout=SECONDS)
        return self.process.returncode, out, err

    @property
    def _out(self) -> IO[str]:
        assert self.process.stdout is not None
        return self.process.stdout

    @property
    def _err(self) -> IO[str]:
        assert self.process.stderr is not None
        return self.process.stderr


@pytest.fixture
def serve() -> Iterator[Callable[..., Served]]:
    """Starts `agent-tripwire serve ...`; what a test has left running is ended."""
    started: list[Served] = []

    def start(*args: str | Path, **environment: str) -> Served:
        started.append(Served(*args, **environment))
        return started[-1]

    yield start
    for each in started:
        each.process.kill()
        each.process.communicate()


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
