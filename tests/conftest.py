"""Agents that need no framework and no SDK, and a server for what is kept in a database."""

from __future__ import annotations

import asyncio
import http.client
import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from pytest_tripwire import Harness, Options, Run, Task
from pytest_tripwire.timeline.loops import trio_module

from .left_behind import LeftBehind

# An inner run of pytest forgets what it was the first to import. The SDKs' client looks up once,
# at its first request, what its transport raises: after a second import these are other classes.
with suppress(ImportError):
    import httpcore2  # noqa: F401

SECONDS = 30

# Not there where frameworks are tried.
with suppress(ImportError):
    from hypothesis import HealthCheck, settings

    # How long a busy machine takes says nothing about a property.
    settings.register_profile(
        "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.load_profile("any machine")


def pytest_sessionstart(session: pytest.Session) -> None:
    folders: Any = getattr(session.config, "_tmp_path_factory")  # noqa: B009 - pytest's own
    session.config.pluginmanager.register(LeftBehind(folders.getbasetemp()))


def _message(connection: http.client.HTTPConnection, task: Task, messages: list[Any]) -> Any:
    """What the model says to a conversation."""
    body = {
        "model": task.model.name,
        "messages": messages,
        "tools": task.tools.schemas("openai"),
    }
    connection.request(
        "POST",
        "/v1/chat/completions",
        json.dumps(body),
        {"Content-Type": "application/json", "Authorization": f"Bearer {task.model.api_key}"},
    )
    return json.load(connection.getresponse())["choices"][0]["message"]


def _connected(task: Task) -> Any:
    host = task.model.base_url("openai").split("/")[2]
    return closing(http.client.HTTPConnection(host, timeout=SECONDS))


def _result(call: Any, result: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call["id"], "content": json.dumps(result)}


def _asked(call: Any) -> tuple[str, dict[str, Any]]:
    return call["function"]["name"], json.loads(call["function"]["arguments"])


def loop(task: Task) -> str:
    """The plain loop that swallows every exception: ask, run what is proposed, tell."""
    messages: list[Any] = [{"role": "user", "content": task.prompt}]
    with _connected(task) as connection:
        while True:
            message = _message(connection, task, messages)
            messages.append(message)
            if not message.get("tool_calls"):
                return str(message["content"])
            for call in message["tool_calls"]:
                name, arguments = _asked(call)
                try:
                    result = task.tools.call(name, arguments, call_id=call["id"])
                except Exception as error:  # noqa: BLE001 - as careless loops do
                    result = {"error": str(error)}
                messages.append(_result(call, result))


async def aloop(task: Task) -> str:
    """The same, with the calls of one message side by side, under asyncio or trio."""
    messages: list[Any] = [{"role": "user", "content": task.prompt}]
    with _connected(task) as connection:
        while True:
            message = _message(connection, task, messages)
            messages.append(message)
            if not message.get("tool_calls"):
                return str(message["content"])
            messages += await _side_by_side(task, message["tool_calls"])


async def _side_by_side(task: Task, calls: list[Any]) -> list[Any]:
    results: dict[str, Any] = {}

    async def use(call: Any) -> None:
        name, arguments = _asked(call)
        try:
            result = await task.tools.acall(name, arguments, call_id=call["id"])
        except Exception as error:  # noqa: BLE001 - as careless loops do
            result = {"error": str(error)}
        results[call["id"]] = _result(call, result)

    trio = trio_module()
    if trio is None:
        await asyncio.gather(*(use(call) for call in calls))
    else:
        async with trio.open_nursery() as nursery:
            for call in calls:
                nursery.start_soon(use, call)
    return [results[call["id"]] for call in calls]


def _played(agent: Callable[..., Any], case: Any, how: str, **options: Any) -> Run:
    harness = Harness(case, agent, options=Options(**options))
    if how == "asyncio":
        return asyncio.run(harness.arun())
    if how == "trio":
        trio = pytest.importorskip("trio")
        run: Run = trio.run(harness.arun)
        return run
    return harness.run()


#: An agent, and the road by which the harness runs it.
ROADS: dict[str, tuple[Callable[..., Any], str]] = {
    "sync": (loop, "run"),
    "async": (aloop, "run"),
    "asyncio": (aloop, "asyncio"),
    "trio": (aloop, "trio"),
    "sync in asyncio": (loop, "asyncio"),
}


@pytest.fixture
def play() -> Callable[..., Run]:
    """Play a case with a plain agent: `play("lost-write", "trio", protection="own")`."""

    def by(case: Any, road: str = "sync", **options: Any) -> Run:
        agent, how = ROADS[road]
        return _played(agent, case, how, **options)

    return by


@pytest.fixture(scope="session")
def server() -> Iterator[Any]:
    """A PostgreSQL server of this process's own."""
    pytest.importorskip("sqlalchemy")
    pytest.importorskip("psycopg", reason='it needs psycopg: pip install "psycopg[binary]"')
    from .ledger import cluster

    programs = cluster.programs()
    if programs is None:
        pytest.skip(cluster.HOW_TO_GET_IT)
    with cluster.running(programs) as running:
        yield running


@pytest.fixture
def folder() -> Iterator[Path]:
    """Where files lie that outlive processes, and not the machine: in memory, where that can be."""
    memory = Path("/dev/shm")  # noqa: S108 - what is made in it has a name of its own
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        yield Path(name)
