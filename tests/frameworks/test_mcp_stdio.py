"""The case's tools over the Model Context Protocol, by standard input and output: a host starts the
command as it starts any server.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

NEEDS = ["mcp"]

CLI = ("-m", "pytest_tripwire.cli", "serve")
REFUND = {"order_id": "A-1001", "amount": 40.0, "reason": "broken", "request_id": "r-1"}


async def _hosted(args: list[str], do: Callable[[ClientSession], Any], log: Path) -> None:
    server = StdioServerParameters(
        command=sys.executable, args=[*CLI, *args], env={"PYTHONPATH": os.pathsep.join(sys.path)}
    )
    with log.open("w", encoding="utf-8") as errors:
        async with (
            stdio_client(server, errlog=errors) as (read, write),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            await do(session)


def test_a_host_that_hangs_up_has_the_run_judged(tmp_path: Path) -> None:
    report, env, log = (tmp_path / name for name in ("verdict.json", "run.env", "log"))
    results: list[Any] = []

    async def pay_twice(session: ClientSession) -> None:
        assert "OPENAI_BASE_URL=http://127.0.0.1:" in env.read_text("utf-8")
        results.append(await session.call_tool("issue_refund", REFUND))
        results.append(await session.call_tool("issue_refund", REFUND))

    args = ["lost-write", "--mcp", "stdio", "--report", str(report), "--env-file", str(env)]
    asyncio.run(_hosted(args, pay_twice, log))

    assert [each.is_error for each in results] == [True, False]
    cell = json.loads(report.read_text("utf-8"))["cell"]
    assert (cell["state"], cell["reason"]) == ("contained", "unknown_side_effect")
    said = log.read_text("utf-8")
    assert (
        "TRIPWIRE_CASE=lost-write" in said
    )  # on standard error: the other belongs to the protocol
    assert "lost-write: contained" in said
    assert not env.exists()


def _started(*args: str) -> subprocess.Popen[str]:
    """The command, ready, without a host."""
    process = subprocess.Popen(
        [sys.executable, *CLI, "lost-write", "--mcp", "stdio", *args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stderr is not None
    assert any("waiting for" in line for line in process.stderr)
    return process


def _ended(process: subprocess.Popen[str]) -> str:
    """What it has said since, on standard error alone."""
    assert process.stderr is not None
    assert process.stdout is not None
    rest = process.stderr.read()
    assert process.stdout.read() == ""
    assert process.wait(30) == 1
    return rest


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1])
def test_a_signal_ends_it_though_its_input_is_open(number: signal.Signals) -> None:
    with _started() as process:
        process.send_signal(number)
        rest = _ended(process)

    assert rest.rstrip().endswith("lost-write: inconclusive, answered")
    assert "Fatal" not in rest
    assert "Traceback" not in rest


def test_the_end_of_its_input_ends_it() -> None:
    with _started("--max-seconds", "20") as process:
        assert process.stdin is not None
        process.stdin.close()
        rest = _ended(process)

    assert "nobody ended the wait" not in rest
    assert rest.rstrip().endswith("lost-write: inconclusive, answered")
