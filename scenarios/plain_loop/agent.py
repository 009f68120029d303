"""The plain loop: ask the model, run the tools that it wants, tell it what they said."""

from __future__ import annotations

import json
from typing import Any

from openai import OpenAI

from pytest_tripwire import Task

MAX_TURNS = 30


def run(task: Task) -> str:
    """Answer the task's prompt."""
    messages: list[Any] = [{"role": "user", "content": task.prompt}]
    with OpenAI(base_url=task.model.base_url("openai"), api_key=task.model.api_key) as client:
        for _ in range(MAX_TURNS):
            reply = client.chat.completions.create(
                model=task.model.name, messages=messages, tools=task.tools.schemas("openai")
            )
            message = reply.choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                return message.content or ""
            messages += [use(task, call) for call in message.tool_calls]
    return "I could not finish this."


def use(task: Task, call: Any) -> dict[str, Any]:
    """Run one tool call; a tool that fails is told to the model, as it might know better."""
    try:
        arguments = json.loads(call.function.arguments)
        result = task.tools.call(call.function.name, arguments, call_id=call.id)
    except Exception as error:
        result = {"error": f"{type(error).__name__}: {error}"}
    return {"role": "tool", "tool_call_id": call.id, "content": json.dumps(result)}
