"""The plain loop on the async client: the tools of one message run side by side."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from openai import AsyncOpenAI

from pytest_tripwire import Task

MAX_TURNS = 60


async def run(task: Task) -> str:
    """Answer the task's prompt."""
    messages: list[Any] = [{"role": "user", "content": task.prompt}]
    base_url, api_key = task.model.base_url("openai"), task.model.api_key
    async with AsyncOpenAI(base_url=base_url, api_key=api_key) as client:
        for _ in range(MAX_TURNS):
            reply = await client.chat.completions.create(
                model=task.model.name, messages=messages, tools=task.tools.schemas("openai")
            )
            message = reply.choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                return message.content or ""
            messages += await asyncio.gather(*(use(task, call) for call in message.tool_calls))
    return "I could not finish this."


async def use(task: Task, call: Any) -> dict[str, Any]:
    """Run one tool call; a tool that fails is told to the model, as it might know better."""
    try:
        arguments = json.loads(call.function.arguments)
        result = await task.tools.acall(call.function.name, arguments, call_id=call.id)
    except Exception as error:
        result = {"error": f"{type(error).__name__}: {error}"}
    return {"role": "tool", "tool_call_id": call.id, "content": json.dumps(result)}
