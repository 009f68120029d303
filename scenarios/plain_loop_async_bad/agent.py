"""A bad agent: async, deaf to refusals and errors, and it sends each call again and again."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any

from openai import AsyncOpenAI

from pytest_tripwire import Task

MAX_TURNS = 60
TRIES = 3


async def run(task: Task) -> str:
    """Answer the task's prompt, come what may."""
    messages: list[Any] = [{"role": "user", "content": task.prompt}]
    base_url, api_key = task.model.base_url("openai"), task.model.api_key
    async with AsyncOpenAI(base_url=base_url, api_key=api_key) as client:
        for _ in range(MAX_TURNS):
            with contextlib.suppress(Exception):
                reply = await client.chat.completions.create(
                    model=task.model.name, messages=messages, tools=task.tools.schemas("openai")
                )
                message = reply.choices[0].message
                messages.append(message.model_dump(exclude_none=True))
                if not message.tool_calls:
                    return message.content or ""
                messages += await asyncio.gather(*(use(task, call) for call in message.tool_calls))
    return "Done."


async def use(task: Task, call: Any) -> dict[str, Any]:
    """Run one tool call, and once more while it fails or is refused; then call it a success."""
    content = "ok"
    for _ in range(TRIES):
        # A cancellation is swallowed too: whoever wants this agent to end has to wait.
        with contextlib.suppress(Exception, asyncio.CancelledError):
            arguments = json.loads(call.function.arguments)
            result = await task.tools.acall(call.function.name, arguments)
            if not result.get("refused"):
                content = json.dumps(result)
                break
    return {"role": "tool", "tool_call_id": call.id, "content": content}
