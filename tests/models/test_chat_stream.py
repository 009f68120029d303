"""A streamed answer is the plain one in pieces."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import openai
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_tripwire.models import Calls, ModelServer, Move, Propose, Say, Seen
from pytest_tripwire.models.wire.chat import ChatCompletions
from pytest_tripwire.models.wire.sse import pieces

Body = Callable[..., dict[str, Any]]
Run = Callable[..., Any]
USAGE = {"stream_options": {"include_usage": True}}


def gathered(chunks: list[dict[str, Any]]) -> dict[str, Any]:
    """The message that the deltas of a stream add up to."""
    message: dict[str, Any] = {"role": None, "content": None, "refusal": None}
    calls: list[dict[str, Any]] = []
    for delta in (each["choices"][0]["delta"] for each in chunks if each["choices"]):
        message["role"] = delta.get("role") or message["role"]
        if delta.get("content") is not None:
            message["content"] = (message["content"] or "") + delta["content"]
        for part in delta.get("tool_calls") or []:
            if part["index"] == len(calls):
                calls.append({"id": part["id"], "type": part["type"], "function": {}})
            function = calls[part["index"]]["function"]
            for name, text in part["function"].items():
                function[name] = function.get(name, "") + (text or "")
    return {**message, **({"tool_calls": calls} if calls else {})}


def test_the_sdk_puts_a_stream_together(run: Run, ask: Body) -> None:
    running = run()
    with openai.OpenAI(base_url=running.url, api_key="any") as client:
        with client.chat.completions.stream(**ask()) as stream:
            streamed = stream.get_final_completion()
        plain = client.chat.completions.create(**ask())

    call, other = streamed.choices[0].message.tool_calls[0], plain.choices[0].message.tool_calls[0]  # type: ignore[index]
    assert (call.id, call.function.name) == (other.id, other.function.name)  # type: ignore[union-attr]
    assert call.function.arguments == other.function.arguments  # type: ignore[union-attr]
    assert streamed.choices[0].finish_reason == "tool_calls"


def test_an_async_client_streams_a_whole_loop(run: Run, ask: Body) -> None:
    running = run()

    async def agent() -> str:
        body = ask()
        async with openai.AsyncOpenAI(base_url=running.url, api_key="any") as client:
            while True:
                stream = await client.chat.completions.create(**body, stream=True)
                message = gathered([chunk.model_dump() async for chunk in stream])
                if "tool_calls" not in message:
                    return str(message["content"])
                results = (
                    {"role": "tool", "tool_call_id": call["id"], "content": "nothing"}
                    for call in message["tool_calls"]
                )
                body["messages"] += [message, *results]

    assert asyncio.run(agent()) == "2 results"
    assert [seen.turn for seen in running.observed] == [0, 1, 2]


def test_usage_comes_last_and_only_when_asked_for(run: Run, ask: Body) -> None:
    running = run()
    with openai.OpenAI(base_url=running.url, api_key="any") as client:
        silent = list(client.chat.completions.create(**ask(), stream=True))
        told = list(client.chat.completions.create(**ask(), stream=True, **USAGE))

    seen = running.observed[0]
    assert all(chunk.usage is None for chunk in [*silent, *told[:-1]])
    assert all(chunk.choices for chunk in silent)
    usage = told[-1].usage
    assert told[-1].choices == []
    assert usage is not None
    assert (usage.prompt_tokens, usage.completion_tokens) == (
        seen.prompt_tokens,
        seen.completion_tokens,
    )


def test_a_structured_answer_is_streamed(run: Run, ask: Body) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    running = run(script=lambda _seen: Say(text="words"))
    with openai.OpenAI(base_url=running.url, api_key="any") as client:
        chunks = client.chat.completions.create(**ask(response_format=form), stream=True)
        message = gathered([chunk.model_dump() for chunk in chunks])

    assert json.loads(message["content"]) == {"n": 0}


MOVES: st.SearchStrategy[Move] = st.builds(lambda text: Say(text=text), st.text()) | st.builds(
    lambda proposals, says: Calls(proposals=tuple(proposals), says=says),
    st.lists(
        st.builds(
            lambda role, slots: Propose(role=role, slots=slots),
            st.sampled_from(["search", "write"]),
            st.dictionaries(st.text(), st.text() | st.integers(0, 9) | st.none(), max_size=3),
        ),
        min_size=1,
        max_size=3,
    ),
    st.text(),
)


class Plain:
    """Tools named after their roles."""

    def tool_name(self, role: str) -> str:
        return role

    def arguments(self, role: str, slots: Any) -> dict[str, Any]:
        return {"role": role, **slots}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(move=MOVES)
def test_a_stream_adds_up_to_the_plain_answer(move: Move, ask: Body) -> None:
    tools = [{"type": "function", "function": {"name": name}} for name in ("search", "write")]
    dialect = ChatCompletions()
    asked = dialect.parse(ask(tools=tools, stream=True))

    def script(_seen: Seen) -> Move:
        return move

    server = ModelServer(script=script, binder=Plain(), observe=lambda _seen: None)
    given = server.exchange.answer(asked.conversation)
    plain = dialect.render(asked, given.answer, given.usage)["choices"][0]

    *events, last = dialect.stream(asked, given.answer, given.usage)
    chunks = [json.loads(each.data) for each in events]
    assert last.data == "[DONE]"
    assert gathered(chunks) == plain["message"]
    assert chunks[-1]["choices"][0]["finish_reason"] == plain["finish_reason"]


@given(st.text())
def test_pieces_add_up_and_none_is_empty(text: str) -> None:
    parts = list(pieces(text))

    assert "".join(parts) == text
    assert all(parts)
