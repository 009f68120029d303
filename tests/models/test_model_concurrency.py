"""Hundreds of agents at once get each its own answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from pytest_tripwire.models import Calls, Move, Propose, Say, Seen

Body = Callable[..., dict[str, Any]]
Run = Callable[..., Any]
MANY = 500


def echo(seen: Seen) -> Move:
    """Searches, then says what it was told."""
    if seen.turn == 0:
        return Calls(proposals=(Propose(role="search"),))
    return Say(text=" ".join(each.text for each in seen.results))


async def post(port: int, body: dict[str, Any], ready: asyncio.Barrier) -> dict[str, Any]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    await ready.wait()
    data = json.dumps(body).encode()
    head = (
        "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"
        f"Content-Length: {len(data)}\r\n\r\n"
    )
    writer.write(head.encode() + data)
    await writer.drain()
    answer = await reader.read()
    writer.close()
    message: dict[str, Any] = json.loads(answer.partition(b"\r\n\r\n")[2])["choices"][0]["message"]
    return message


def test_five_hundred_agents_at_once_get_each_its_own_answers(run: Run, ask: Body) -> None:
    running = run(script=echo, max_requests=2 * MANY)
    ready = asyncio.Barrier(MANY)

    async def agent(number: int) -> str:
        first = await post(running.port, ask(prompt=f"order {number}"), ready)
        call_id = first["tool_calls"][0]["id"]
        told = {"role": "tool", "tool_call_id": call_id, "content": f"found {number}"}
        body = ask(first, told, prompt=f"order {number}")
        return str((await post(running.port, body, ready))["content"])

    async def everybody() -> list[str]:
        return await asyncio.gather(*(agent(number) for number in range(MANY)))

    assert asyncio.run(everybody()) == [f"found {number}" for number in range(MANY)]
    assert len({seen.conversation for seen in running.observed}) == MANY
    assert running.server.requests == 2 * MANY
