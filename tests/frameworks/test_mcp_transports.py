"""Both sides over real transports: a server in another process, by standard input and output and by
streamable HTTP, spoken to in the protocol's sessions and without.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from pytest_tripwire.adapters.mcp import guarded_session
from pytest_tripwire.breaker import Breaker

NEEDS = ["mcp"]

TILL = str(Path(__file__).with_name("mcp_till.py"))
ENV = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
#: What asks for a session, and what does without where it can.
MODES = pytest.mark.parametrize("mode", ["legacy", "auto"])
WAYS = pytest.mark.parametrize("way", ["stdio", "http"])
LOOP = 5
#: Servers outlive a test, so that each acts on something of its own.
NUMBERS = itertools.count(1)


class Server:
    """How a server is reached, and what it says that it has done."""

    def __init__(self, journal: Path, url: str, *options: str) -> None:
        self.journal, self._url, self._options = journal, url, options

    def client(self, mode: str) -> Client:
        """A client of it; by standard input and output, of a process of its own."""
        args = [TILL, "stdio", str(self.journal), *self._options]
        started = StdioServerParameters(command=sys.executable, args=args, env=ENV)
        return Client(self._url or started, mode=mode)

    def done(self, given: dict[str, str]) -> list[str]:
        """What it has done to an invoice."""
        lines = self.journal.read_text("utf-8").splitlines()
        return [line.split()[0] for line in lines if line.split()[1] == given["invoice"]]


@contextmanager
def started(way: str, journal: Path, *options: str) -> Iterator[Server]:
    """A server; by standard input and output, one for each client."""
    if way == "stdio":
        yield Server(journal, "", *options)
        return
    command = [sys.executable, TILL, way, str(journal), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=ENV) as process:
        assert process.stdout is not None
        try:
            yield Server(journal, process.stdout.readline().strip())
        finally:
            process.terminate()


Servers = Callable[..., Server]


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """Starts each kind of server once."""
    journal = tmp_path_factory.mktemp("till") / "journal"
    with ExitStack() as stack:
        yield cache(lambda *kind: stack.enter_context(started(kind[0], journal, *kind[1:])))


@pytest.fixture
def given() -> dict[str, str]:
    """Arguments of a call."""
    return {"invoice": f"I-{next(NUMBERS)}"}


def play(body: Callable[[], Any]) -> Any:
    async def in_time() -> Any:
        async with asyncio.timeout(60):
            return await body()

    return asyncio.run(in_time())


def reason(result: Any) -> str:
    return str(json.loads(result.content[0].text)["reason"])


async def asks(client: Any, given: Any, times: int, **more: Any) -> list[bool]:
    """Which of so many times one question is refused."""
    return [(await client.call_tool("find", given, **more)).is_error for _ in range(times)]


def task(name: str, given: dict[str, str]) -> Any:
    return {"meta": {"shop.example/task": f"{name} {given['invoice']}"}}


# -- the server asks


@WAYS
def test_a_session_s_loop_stops_that_session_alone(
    way: str, given: dict[str, str], tmp_path: Path
) -> None:
    async def body() -> tuple[list[bool], list[bool]]:
        async with server.client("legacy") as looping, server.client("legacy") as other:
            return await asks(looping, given, LOOP), await asks(other, given, 1)

    with started(way, tmp_path / "journal") as server:
        looped, other = play(body)

    assert looped == [False] * 3 + [True] * 2
    assert other == [False]
    # The end of the session, or of the server, tells what has become of its run.
    told = (tmp_path / "journal").read_text("utf-8").splitlines()
    assert told[-1] == "stopped repeated_intent_same_outcome"
    assert server.done(given) == ["find"] * 4


def test_without_sessions_a_connection_s_loop_is_seen_by_standard_input(
    given: dict[str, str], tmp_path: Path
) -> None:
    async def body() -> list[bool]:
        async with server.client("auto") as client:
            assert client.protocol_version >= "2026"
            return await asks(client, given, LOOP)

    with started("stdio", tmp_path / "journal") as server:
        assert play(body) == [False] * 3 + [True] * 2

    told = (tmp_path / "journal").read_text("utf-8").splitlines()
    assert told[-1] == "stopped repeated_intent_same_outcome"


@pytest.mark.parametrize("way", ["http", "stateless"])
@MODES
def test_without_sessions_a_loop_over_http_is_seen_by_its_task(
    mode: str, way: str, given: dict[str, str], servers: Servers
) -> None:
    server = servers(way)

    async def body() -> list[list[bool]]:
        found = []
        for name, times in (("T-1", LOOP), ("T-2", LOOP), ("T-1", 1)):
            async with server.client(mode) as client:
                found.append(await asks(client, given, times, **task(name, given)))
        return found

    first, second, again = play(body)
    assert first == second == [False] * 3 + [True] * 2
    assert again == [True]


def test_without_sessions_and_names_a_request_over_http_is_alone(
    given: dict[str, str], servers: Servers
) -> None:
    async def body() -> list[bool]:
        async with servers("http").client("auto") as client:
            return await asks(client, given, 2 * LOOP)

    assert play(body) == [False] * 2 * LOOP


@MODES
def test_a_write_that_was_lost_is_held_for_who_connects_anew(
    mode: str, given: dict[str, str], servers: Servers
) -> None:
    server = servers("http")

    async def body() -> list[Any]:
        results = []
        for name in ("T-1", "T-2"):
            async with server.client(mode) as client:
                results.append(await client.call_tool("lose", given, **task(name, given)))
        return results

    _, again = play(body)
    assert reason(again) == "unknown_side_effect"
    assert server.done(given) == ["lose"]


# -- the client asks


@WAYS
@MODES
def test_a_guarded_client_pays_once(
    mode: str, way: str, given: dict[str, str], servers: Servers
) -> None:
    server, run = servers(way, "plain"), Breaker().run()

    async def body() -> list[Any]:
        async with server.client(mode) as client:
            session = guarded_session(client, run)
            return [await session.call_tool("pay", given) for _ in range(2)]

    first, second = play(body)
    assert first.structured_content == {"payment_id": f"P-{given['invoice']}"}
    assert reason(second) == "duplicate_write"
    assert server.done(given) == ["pay"]


@WAYS
@MODES
def test_a_guarded_client_that_gives_up_waiting_leaves_the_write_unknown(
    mode: str, way: str, given: dict[str, str], servers: Servers
) -> None:
    server, run = servers(way, "plain"), Breaker().run()

    async def body() -> Any:
        begun = asyncio.Event()

        async def heard(*_progress: Any) -> None:
            begun.set()

        async with server.client(mode) as client:
            session = guarded_session(client, run)
            asked = session.call_tool("hang", given, progress_callback=heard)
            call = asyncio.create_task(asked)
            await begun.wait()
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
            return await session.call_tool("hang", given)

    assert reason(play(body)) == "unknown_side_effect"
    assert server.done(given) == ["hang"]


@MODES
def test_a_server_that_dies_under_way_is_not_asked_again(
    mode: str, given: dict[str, str], servers: Servers
) -> None:
    server, run = servers("stdio", "plain"), Breaker().run()

    async def present() -> Any:
        try:
            async with server.client(mode) as client:
                session = guarded_session(client, run)
                return await session.call_tool("die", given, call_id="call-1")
        except Exception as error:  # noqa: BLE001 - how a lost connection is told is the package's
            return error

    lost, again = play(present), play(present)
    assert isinstance(lost, Exception)
    assert reason(again) == "unknown_side_effect"
    assert server.done(given) == ["die"]
