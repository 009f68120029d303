"""One plain loop for every wire and every way to ask: what a team without a framework writes."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from typing import Any

import anthropic
import openai
import pytest

from pytest_tripwire import Task

#: Seconds; far above what any answer takes, so that only a planned delay passes it.
PATIENCE = 5.0
RETRIES = 2
MAX_TURNS = 30


def use(task: Task, name: str, text: str, call_id: str) -> str:
    """What a proposed call came to, an error told to the model as most loops do."""
    try:
        result = task.tools.call(name, json.loads(text), call_id=call_id)
    except Exception as error:  # noqa: BLE001 - an ordinary agent tells its model of any error
        result = {"error": f"{type(error).__name__}: {error}"}
    return json.dumps(result)


def common(task: Task, provider: str, transport: Any) -> dict[str, Any]:
    """What every client is made with. On loopback there is nothing to encrypt, and to load the
    authorities for it would take as long as half a run.
    """
    return {
        "base_url": task.model.base_url(provider),
        "api_key": task.model.api_key,
        "timeout": PATIENCE,
        "max_retries": RETRIES,
        "http_client": transport(verify=False),
    }


def openai_client(task: Task) -> openai.OpenAI:
    return openai.OpenAI(**common(task, "openai", openai.DefaultHttpxClient))


def chat(task: Task, *, stream: bool) -> str:
    """OpenAI Chat Completions."""
    messages: list[Any] = [{"role": "user", "content": task.prompt}]
    with openai_client(task) as client:
        for _ in range(MAX_TURNS):
            asked: Any = {
                "model": task.model.name,
                "messages": messages,
                "tools": task.tools.schemas("openai"),
            }
            if stream:
                with client.chat.completions.stream(**asked) as events:
                    message = events.get_final_completion().choices[0].message
            else:
                message = client.chat.completions.create(**asked).choices[0].message
            messages.append(message.model_dump(exclude_none=True, exclude={"parsed"}))
            if not message.tool_calls:
                return message.content or ""
            for call in message.tool_calls:
                told = use(task, call.function.name, call.function.arguments, call.id)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": told})
    return "I could not finish this."


def responses(task: Task, *, stream: bool, keeps: bool = False) -> str:
    """OpenAI Responses. `keeps`: the server keeps the conversation."""
    items: list[Any] = [{"role": "user", "content": task.prompt}]
    more: dict[str, Any] = {}
    with openai_client(task) as client:
        for _ in range(MAX_TURNS):
            asked: Any = {
                "model": task.model.name,
                "input": items,
                "tools": task.tools.schemas("responses"),
                **more,
            }
            if stream:
                with client.responses.stream(**asked) as events:
                    response: Any = events.get_final_response()
            else:
                response = client.responses.create(**asked)
            calls = [each for each in response.output if each.type == "function_call"]
            if not calls:
                return str(response.output_text)
            told = [
                {
                    "type": "function_call_output",
                    "call_id": call.call_id,
                    "output": use(task, call.name, call.arguments, call.call_id),
                }
                for call in calls
            ]
            if keeps:
                items, more = told, {"previous_response_id": response.id}
            else:
                items += [*(each.to_dict() for each in response.output), *told]
    return "I could not finish this."


def messages(task: Task, *, stream: bool) -> str:
    """Anthropic Messages."""
    said: list[Any] = [{"role": "user", "content": task.prompt}]
    client = anthropic.Anthropic(**common(task, "anthropic", anthropic.DefaultHttpxClient))
    with closing(client):
        for _ in range(MAX_TURNS):
            asked: Any = {
                "model": task.model.name,
                "messages": said,
                "max_tokens": 1000,
                "tools": task.tools.schemas("anthropic"),
            }
            if stream:
                with client.messages.stream(**asked) as events:
                    message = events.get_final_message()
            else:
                message = client.messages.create(**asked)
            said.append({"role": "assistant", "content": message.content})
            calls = [each for each in message.content if each.type == "tool_use"]
            if not calls:
                return "".join(each.text for each in message.content if each.type == "text")
            said.append({"role": "user", "content": [_told(task, call) for call in calls]})
    return "I could not finish this."


def _told(task: Task, call: Any) -> dict[str, Any]:
    text = use(task, call.name, json.dumps(call.input), call.id)
    return {"type": "tool_result", "tool_use_id": call.id, "content": text}


async def chat_async(task: Task, *, stream: bool) -> str:
    """OpenAI Chat Completions by the async client."""
    said: list[Any] = [{"role": "user", "content": task.prompt}]
    async with openai.AsyncOpenAI(
        **common(task, "openai", openai.DefaultAsyncHttpxClient)
    ) as client:
        for _ in range(MAX_TURNS):
            asked: Any = {
                "model": task.model.name,
                "messages": said,
                "tools": task.tools.schemas("openai"),
            }
            if stream:
                async with client.chat.completions.stream(**asked) as events:
                    message = (await events.get_final_completion()).choices[0].message
            else:
                message = (await client.chat.completions.create(**asked)).choices[0].message
            said.append(message.model_dump(exclude_none=True, exclude={"parsed"}))
            if not message.tool_calls:
                return message.content or ""
            for call in message.tool_calls:
                told = use(task, call.function.name, call.function.arguments, call.id)
                said.append({"role": "tool", "tool_call_id": call.id, "content": told})
    return "I could not finish this."


async def messages_async(task: Task, *, stream: bool) -> str:
    """Anthropic Messages by the async client."""
    said: list[Any] = [{"role": "user", "content": task.prompt}]
    async with anthropic.AsyncAnthropic(
        **common(task, "anthropic", anthropic.DefaultAsyncHttpxClient)
    ) as client:
        for _ in range(MAX_TURNS):
            asked: Any = {
                "model": task.model.name,
                "messages": said,
                "max_tokens": 1000,
                "tools": task.tools.schemas("anthropic"),
            }
            if stream:
                async with client.messages.stream(**asked) as events:
                    message = await events.get_final_message()
            else:
                message = await client.messages.create(**asked)
            said.append({"role": "assistant", "content": message.content})
            calls = [each for each in message.content if each.type == "tool_use"]
            if not calls:
                return "".join(each.text for each in message.content if each.type == "text")
            said.append({"role": "user", "content": [_told(task, call) for call in calls]})
    return "I could not finish this."


def _agent(way: Callable[..., Any], **how: bool) -> Callable[[Task], Any]:
    return lambda task: way(task, **how)


AGENTS: dict[str, Callable[[Task], Any]] = {
    "chat": _agent(chat, stream=False),
    "chat-stream": _agent(chat, stream=True),
    "chat-async": _agent(chat_async, stream=False),
    "chat-async-stream": _agent(chat_async, stream=True),
    "responses": _agent(responses, stream=False),
    "responses-stream": _agent(responses, stream=True),
    "responses-kept": _agent(responses, stream=False, keeps=True),
    "responses-kept-stream": _agent(responses, stream=True, keeps=True),
    "messages": _agent(messages, stream=False),
    "messages-stream": _agent(messages, stream=True),
    "messages-async": _agent(messages_async, stream=False),
    "messages-async-stream": _agent(messages_async, stream=True),
}


@pytest.fixture(params=AGENTS)
def client(request: pytest.FixtureRequest) -> Callable[[Task], Any]:
    """A plain loop, one for each wire and way to ask."""
    return AGENTS[request.param]
