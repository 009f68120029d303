"""Anthropic's SDK, sync and async, streaming or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from anthropic import Anthropic, AsyncAnthropic

from pytest_tripwire import Task
from pytest_tripwire.models.faults import CutStream, Drop, Status

NEEDS = ("anthropic",)

WAYS = ["sync/whole", "sync/stream", "async/whole", "async/stream"]

#: So that a retry costs no time.
AT_ONCE = {"retry-after-ms": "1"}


class Talk:
    """A conversation over Messages."""

    def __init__(self, task: Task, make_call: Any) -> None:
        self.messages: list[Any] = [{"role": "user", "content": task.prompt}]
        self.tools = task.tools.schemas("anthropic")
        self.model = task.model.name
        self.make_call = make_call
        self.results: list[Any] = []
        self.text = ""

    def request(self) -> dict[str, Any]:
        if self.results:
            self.messages.append({"role": "user", "content": self.results})
            self.results = []
        return {
            "model": self.model,
            "max_tokens": 1000,
            "system": "Help.",
            "messages": self.messages,
            "tools": self.tools,
        }

    def heard(self, response: Any) -> list[Any]:
        assert response.usage.input_tokens > 0
        assert response.usage.output_tokens > 0
        self.messages.append({"role": "assistant", "content": response.content})
        self.text = "".join(each.text for each in response.content if each.type == "text")
        return [
            self.make_call(id=each.id, name=each.name, arguments=each.input)
            for each in response.content
            if each.type == "tool_use"
        ]

    def result(self, call: Any, text: str) -> None:
        self.results.append({"type": "tool_result", "tool_use_id": call.id, "content": text})


Agents = Callable[..., Callable[[Task], Any]]


@pytest.fixture
def agents(loops: Any, make_call: Any) -> Agents:
    """Makes an agent that uses the SDK in a certain way."""

    def made(way: str) -> Callable[[Task], Any]:
        mode, form = way.split("/")
        stream = form == "stream"

        def sync(task: Task) -> str:
            with Anthropic(base_url=task.model.base_url("anthropic"), api_key="any") as client:

                def ask(**arguments: Any) -> Any:
                    if not stream:
                        return client.messages.create(**arguments)
                    with client.messages.stream(**arguments) as events:
                        return events.get_final_message()

                return loops.sync(task, Talk(task, make_call), ask)

        async def asynchronous(task: Task) -> str:
            url = task.model.base_url("anthropic")
            async with AsyncAnthropic(base_url=url, api_key="any") as client:

                async def ask(**arguments: Any) -> Any:
                    if not stream:
                        return await client.messages.create(**arguments)
                    async with client.messages.stream(**arguments) as events:
                        return await events.get_final_message()

                return await loops.asynchronous(task, Talk(task, make_call), ask)

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
    busy = Status(turn=0, status=529, headers=AT_ONCE)
    broken = Status(turn=1, status=500, attempts=(1, 2), headers=AT_ONCE)

    struck = play(agents(way), "empty-search", faults=[busy, broken])

    assert struck.requests == len(struck.moves) + 3


def test_what_is_dropped_or_cut_is_asked_for_again_and_paid_once(play: Any, agents: Agents) -> None:
    struck = play(agents("sync/whole"), "empty-search", faults=[Drop(turn=0), CutStream(turn=1)])

    assert struck.requests == len(struck.moves) + 2
