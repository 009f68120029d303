"""OpenAI's SDK over both of its protocols, sync and async, streaming or not."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from openai import AsyncOpenAI, OpenAI
from openai.lib.streaming.chat import ChatCompletionStreamState

from pytest_tripwire import Task
from pytest_tripwire.models.faults import CutStream, Drop, Status

NEEDS = ("openai",)

WAYS = [
    f"{wire}/{mode}/{form}"
    for wire in ("chat", "responses", "previous-response")
    for mode in ("sync", "async")
    for form in ("whole", "stream")
]

#: So that a retry costs no time.
AT_ONCE = {"retry-after-ms": "1"}


class Chat:
    """A conversation over Chat Completions."""

    def __init__(self, task: Task, make_call: Any, *, stream: bool) -> None:
        self.messages: list[Any] = [{"role": "user", "content": task.prompt}]
        self.fixed = {
            "model": task.model.name,
            "tools": task.tools.schemas("openai"),
            **({"stream": True, "stream_options": {"include_usage": True}} if stream else {}),
        }
        self.make_call = make_call
        self.text = ""

    def create(self, client: Any) -> Any:
        return client.chat.completions.create

    def request(self) -> dict[str, Any]:
        return {"messages": self.messages, **self.fixed}

    def whole(self, chunks: list[Any]) -> Any:
        state = ChatCompletionStreamState()
        for chunk in chunks:
            state.handle_chunk(chunk)
        return state.get_final_completion()

    def heard(self, response: Any) -> list[Any]:
        message = response.choices[0].message
        assert response.usage.total_tokens > 0
        self.text = message.content
        self.messages.append(message.to_dict())
        return [
            self.make_call(
                id=each.id, name=each.function.name, arguments=json.loads(each.function.arguments)
            )
            for each in message.tool_calls or []
        ]

    def result(self, call: Any, text: str) -> None:
        self.messages.append({"role": "tool", "tool_call_id": call.id, "content": text})


class Responses:
    """A conversation over Responses, which sends its history or names the response before."""

    keeps_history = True

    def __init__(self, task: Task, make_call: Any, *, stream: bool) -> None:
        self.items: list[Any] = [{"role": "user", "content": task.prompt}]
        self.fixed = {
            "model": task.model.name,
            "tools": task.tools.schemas("responses"),
            "instructions": "Help.",
            **({"stream": True} if stream else {}),
        }
        self.make_call = make_call
        self.before: dict[str, Any] = {}
        self.text = ""

    def create(self, client: Any) -> Any:
        return client.responses.create

    def request(self) -> dict[str, Any]:
        return {"input": self.items, **self.before, **self.fixed}

    def whole(self, events: list[Any]) -> Any:
        (completed,) = [each for each in events if each.type == "response.completed"]
        deltas = [each.delta for each in events if each.type == "response.output_text.delta"]
        assert "".join(deltas) == completed.response.output_text
        return completed.response

    def heard(self, response: Any) -> list[Any]:
        assert response.usage.total_tokens > 0
        self.text = response.output_text
        if self.keeps_history:
            self.items += response.output
        else:
            self.items, self.before = [], {"previous_response_id": response.id}
        return [
            self.make_call(id=each.call_id, name=each.name, arguments=json.loads(each.arguments))
            for each in response.output
            if each.type == "function_call"
        ]

    def result(self, call: Any, text: str) -> None:
        self.items.append({"type": "function_call_output", "call_id": call.id, "output": text})


class PreviousResponse(Responses):
    keeps_history = False


WIRES = {"chat": Chat, "responses": Responses, "previous-response": PreviousResponse}

Agents = Callable[..., Callable[[Task], Any]]


@pytest.fixture
def agents(loops: Any, make_call: Any) -> Agents:
    """Makes an agent that uses the SDK in a certain way."""

    def made(way: str) -> Callable[[Task], Any]:
        wire, mode, form = way.split("/")
        stream = form == "stream"

        def sync(task: Task) -> str:
            talk = WIRES[wire](task, make_call, stream=stream)
            with OpenAI(base_url=task.model.base_url("openai"), api_key="any") as client:
                create = talk.create(client)

                def ask(**arguments: Any) -> Any:
                    answer = create(**arguments)
                    return talk.whole(list(answer)) if stream else answer

                return loops.sync(task, talk, ask)

        async def asynchronous(task: Task) -> str:
            talk = WIRES[wire](task, make_call, stream=stream)
            async with AsyncOpenAI(base_url=task.model.base_url("openai"), api_key="any") as client:
                create = talk.create(client)

                async def ask(**arguments: Any) -> Any:
                    answer = await create(**arguments)
                    return talk.whole([each async for each in answer]) if stream else answer

                return await loops.asynchronous(task, talk, ask)

        return asynchronous if mode == "async" else sync

    return made


@pytest.mark.parametrize("case", ["empty-search", "lost-write"])
@pytest.mark.parametrize("way", WAYS)
def test_a_stubborn_model_is_contained(play: Any, agents: Agents, case: str, way: str) -> None:
    play(agents(way), case)


@pytest.mark.parametrize("way", WAYS)
def test_a_compliant_model_comes_to_its_end(play: Any, agents: Agents, way: str) -> None:
    play(agents(way), "empty-search", persona="compliant")


@pytest.mark.parametrize("way", WAYS)
def test_hidden_retries_cause_no_wrong_turn(play: Any, agents: Agents, way: str) -> None:
    busy = Status(turn=0, status=429, headers=AT_ONCE)
    broken = Status(turn=1, status=500, attempts=(1, 2), headers=AT_ONCE)

    struck = play(agents(way), "empty-search", faults=[busy, broken])

    assert struck.requests == len(struck.moves) + 3


@pytest.mark.parametrize("wire", ["chat", "responses"])
def test_what_is_dropped_or_cut_is_asked_for_again_and_paid_once(
    play: Any, agents: Agents, wire: str
) -> None:
    struck = play(
        agents(f"{wire}/sync/whole"), "empty-search", faults=[Drop(turn=0), CutStream(turn=1)]
    )

    assert struck.requests == len(struck.moves) + 2
