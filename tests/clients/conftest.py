"""One plain loop for every wire and every way to ask: what a team without a framework writes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, ClassVar

import anthropic
import openai
import pytest

from pytest_tripwire import Task

#: Seconds; far above what any answer takes.
PATIENCE = 5.0
RETRIES = 2
MAX_TURNS = 30


class Call:
    """A call as a response has it, whatever the wire."""

    def __init__(self, call_id: str, name: str, text: str) -> None:
        self.id, self.name, self.text = call_id, name, text


class Chat:
    """OpenAI Chat Completions."""

    provider, schemas, final = "openai", "openai", "get_final_completion"
    more: ClassVar[dict[str, Any]] = {}
    clients = (openai.OpenAI, openai.AsyncOpenAI)
    transports = (openai.DefaultHttpxClient, openai.DefaultAsyncHttpxClient)

    def __init__(self, task: Task) -> None:
        self.said: list[Any] = [{"role": "user", "content": task.prompt}]
        self.answer = ""

    @staticmethod
    def resource(client: Any) -> Any:
        return client.chat.completions

    def history(self) -> dict[str, Any]:
        return {"messages": self.said}

    def heard(self, response: Any) -> list[Call]:
        message = response.choices[0].message
        self.said.append(message.model_dump(exclude_none=True, exclude={"parsed"}))
        self.answer = message.content or ""
        made = message.tool_calls or []
        return [Call(each.id, each.function.name, each.function.arguments) for each in made]

    def told(self, results: list[tuple[Call, str]]) -> None:
        for call, text in results:
            self.said.append({"role": "tool", "tool_call_id": call.id, "content": text})


class Responses(Chat):
    """OpenAI Responses, with the whole history in every request."""

    schemas, final = "responses", "get_final_response"

    @staticmethod
    def resource(client: Any) -> Any:
        return client.responses

    def history(self) -> dict[str, Any]:
        return {"input": self.said}

    def heard(self, response: Any) -> list[Call]:
        self.said += [each.to_dict() for each in response.output]
        self.answer = response.output_text
        made = [each for each in response.output if each.type == "function_call"]
        return [Call(each.call_id, each.name, each.arguments) for each in made]

    def told(self, results: list[tuple[Call, str]]) -> None:
        for call, text in results:
            answer = {"type": "function_call_output", "call_id": call.id, "output": text}
            self.said.append(answer)


class Kept(Responses):
    """OpenAI Responses, with the history kept by the server."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.before: dict[str, Any] = {}

    def history(self) -> dict[str, Any]:
        return {"input": self.said, **self.before}

    def heard(self, response: Any) -> list[Call]:
        calls = super().heard(response)
        self.said, self.before = [], {"previous_response_id": response.id}
        return calls


class Messages(Chat):
    """Anthropic Messages."""

    provider, schemas, final = "anthropic", "anthropic", "get_final_message"
    more: ClassVar[dict[str, Any]] = {"max_tokens": 1000}
    clients = (anthropic.Anthropic, anthropic.AsyncAnthropic)
    transports = (anthropic.DefaultHttpxClient, anthropic.DefaultAsyncHttpxClient)

    @staticmethod
    def resource(client: Any) -> Any:
        return client.messages

    def heard(self, response: Any) -> list[Call]:
        self.said.append({"role": "assistant", "content": response.content})
        self.answer = "".join(each.text for each in response.content if each.type == "text")
        made = [each for each in response.content if each.type == "tool_use"]
        return [Call(each.id, each.name, json.dumps(each.input)) for each in made]

    def told(self, results: list[tuple[Call, str]]) -> None:
        blocks = [
            {"type": "tool_result", "tool_use_id": call.id, "content": text}
            for call, text in results
        ]
        self.said.append({"role": "user", "content": blocks})


def made_with(wire: type[Chat], task: Task, place: int) -> Any:
    """A client, sync or async. On loopback there is nothing to encrypt, and to load the authorities
    for it would take as long as half a run.
    """
    return wire.clients[place](
        base_url=task.model.base_url(wire.provider),
        api_key=task.model.api_key,
        timeout=PATIENCE,
        max_retries=RETRIES,
        http_client=wire.transports[place](verify=False),
    )


def request(wire: type[Chat], talk: Chat, task: Task) -> dict[str, Any]:
    tools = task.tools.schemas(wire.schemas)
    return {"model": task.model.name, "tools": tools, **wire.more, **talk.history()}


def use(task: Task, call: Call) -> tuple[Call, str]:
    """What a proposed call came to, an error told to the model as most loops do."""
    try:
        result = task.tools.call(call.name, json.loads(call.text), call_id=call.id)
    except Exception as error:  # noqa: BLE001 - an ordinary agent tells its model of any error
        result = {"error": f"{type(error).__name__}: {error}"}
    return call, json.dumps(result)


def sync_agent(wire: type[Chat], *, stream: bool) -> Callable[[Task], Any]:
    def agent(task: Task) -> str:
        talk = wire(task)
        with made_with(wire, task, 0) as client:
            for _ in range(MAX_TURNS):
                asked = request(wire, talk, task)
                if stream:
                    with wire.resource(client).stream(**asked) as events:
                        response = getattr(events, wire.final)()
                else:
                    response = wire.resource(client).create(**asked)
                calls = talk.heard(response)
                if not calls:
                    break
                talk.told([use(task, call) for call in calls])
        return talk.answer

    return agent


def async_agent(wire: type[Chat], *, stream: bool) -> Callable[[Task], Any]:
    async def agent(task: Task) -> str:
        talk = wire(task)
        async with made_with(wire, task, 1) as client:
            for _ in range(MAX_TURNS):
                asked = request(wire, talk, task)
                if stream:
                    async with wire.resource(client).stream(**asked) as events:
                        response = await getattr(events, wire.final)()
                else:
                    response = await wire.resource(client).create(**asked)
                calls = talk.heard(response)
                if not calls:
                    break
                talk.told([use(task, call) for call in calls])
        return talk.answer

    return agent


WIRES = {"chat": Chat, "responses": Responses, "kept": Kept, "messages": Messages}
WAYS = {"sync": sync_agent, "async": async_agent}
FORMS = {"whole": False, "stream": True}
CLIENTS = [f"{wire}-{way}-{form}" for wire in WIRES for way in WAYS for form in FORMS]


@pytest.fixture(params=CLIENTS)
def client(request: pytest.FixtureRequest) -> Callable[[Task], Any]:
    """A plain loop, one for each wire and way to ask."""
    wire, way, form = request.param.split("-")
    return WAYS[way](WIRES[wire], stream=FORMS[form])


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a client waits between its tries is its own affair, and no test's time."""
    for package in ("openai", "anthropic"):
        monkeypatch.setattr(f"{package}._base_client.INITIAL_RETRY_DELAY", 0.001)
