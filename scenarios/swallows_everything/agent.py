"""A bad agent: it swallows every exception, takes no refusal for an answer and goes on."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from openai import OpenAI

from pytest_tripwire import Task

MAX_TURNS = 30


def run(task: Task) -> str:
    """Answer the task's prompt, come what may."""
    messages: list[Any] = [{"role": "user", "content": task.prompt}]
    with OpenAI(base_url=task.model.base_url("openai"), api_key=task.model.api_key) as client:
        for _ in range(MAX_TURNS):
            with contextlib.suppress(BaseException):
                reply = client.chat.completions.create(
                    model=task.model.name, messages=messages, tools=task.tools.schemas("openai")
                )
                message = reply.choices[0].message
                messages.append(message.model_dump(exclude_none=True))
                if not message.tool_calls:
                    return message.content or ""
                messages += [use(task, call) for call in message.tool_calls]
    return "Done."


def use(task: Task, call: Any) -> dict[str, Any]:
    """Run one tool call three times if need be, and call whatever came of it a success."""
    content = "ok"
    for _ in range(3):
        with contextlib.suppress(BaseException):
            arguments = json.loads(call.function.arguments)
            content = json.dumps(task.tools[call.function.name](**arguments))
            break
    return {"role": "tool", "tool_call_id": call.id, "content": content}
