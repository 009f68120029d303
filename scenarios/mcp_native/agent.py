"""An agent that reaches the desk as a server of the Model Context Protocol."""

from __future__ import annotations

import json
from typing import Any

from mcp import Client
from openai import AsyncOpenAI

from pytest_tripwire import Task

MAX_TURNS = 60


class Support:
    """Answers customers with whatever tools its server lists."""

    def __init__(self) -> None:
        self._messages: list[Any] = []

    async def __call__(self, task: Task) -> str:
        """Answer the task's prompt; with the operator's word, go on where it was."""
        if task.resume:
            said = f"The operator says: {task.resume.decision}."
        else:
            self._messages, said = [], task.prompt
        self._messages.append({"role": "user", "content": said})
        base_url, api_key = task.model.base_url("openai"), task.model.api_key
        async with (
            Client(task.tools.mcp()) as desk,
            AsyncOpenAI(base_url=base_url, api_key=api_key) as model,
        ):
            tools = [function(each) for each in (await desk.list_tools()).tools]
            for _ in range(MAX_TURNS):
                completion = await model.chat.completions.create(
                    model=task.model.name, messages=self._messages, tools=tools
                )
                reply = completion.choices[0].message
                self._messages.append(reply)
                if not reply.tool_calls:
                    return reply.content or ""
                for call in reply.tool_calls:
                    self._messages.append(await answer(desk, call))
        return "I could not finish this."


def function(tool: Any) -> dict[str, Any]:
    """A tool of the server as the model is offered it."""
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.input_schema,
        },
    }


async def answer(desk: Client, call: Any) -> dict[str, Any]:
    """Run one call; what the server says of it, an error too, is told to the model."""
    try:
        arguments = json.loads(call.function.arguments)
    except ValueError as error:
        return told(call, f"The arguments are no JSON: {error}")
    result = await desk.call_tool(call.function.name, arguments)
    return told(call, "".join(part.text for part in result.content if part.type == "text"))


def told(call: Any, text: str) -> dict[str, Any]:
    """A result as the model is told it."""
    return {"role": "tool", "tool_call_id": call.id, "content": text}
