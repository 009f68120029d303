"""A plain loop on Anthropic's client: ask, run what it wants, hand the results back together."""

from __future__ import annotations

import json
from typing import Any

from anthropic import Anthropic

from pytest_tripwire import Task

MAX_TURNS = 30
MAX_TOKENS = 1024


def run(task: Task) -> str:
    """Answer the task's prompt."""
    messages: list[Any] = [{"role": "user", "content": task.prompt}]
    base_url = task.model.base_url("anthropic")
    with Anthropic(base_url=base_url, api_key=task.model.api_key) as client:
        for _ in range(MAX_TURNS):
            reply = client.messages.create(
                model=task.model.name,
                max_tokens=MAX_TOKENS,
                messages=messages,
                tools=task.tools.schemas("anthropic"),
            )
            messages.append({"role": "assistant", "content": reply.content})
            if reply.stop_reason != "tool_use":
                return "".join(block.text for block in reply.content if block.type == "text")
            results = [use(task, block) for block in reply.content if block.type == "tool_use"]
            messages.append({"role": "user", "content": results})
    return "I could not finish this."


def use(task: Task, block: Any) -> dict[str, Any]:
    """Run one tool call; a tool that fails is told to the model, as it might know better."""
    answer = {"type": "tool_result", "tool_use_id": block.id}
    try:
        result = task.tools.call(block.name, block.input, call_id=block.id)
    except Exception as error:
        return {**answer, "content": f"{type(error).__name__}: {error}", "is_error": True}
    return {**answer, "content": json.dumps(result)}
