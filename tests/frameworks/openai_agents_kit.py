"""A scripted model of the OpenAI Agents SDK, and what it was told, for the tests of the adapter."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agents import RunConfig, Runner
from agents.testing import ScriptedModel, assistant_message, function_call

WAYS = pytest.mark.parametrize("way", ["run", "stream"])


async def go(agent: Any, words: Any = "Help.", *, way: str = "run", **options: Any) -> Any:
    options = {"run_config": RunConfig(tracing_disabled=True), **options}
    if way == "run":
        return await Runner.run(agent, words, **options)
    result = Runner.run_streamed(agent, words, **options)
    async for _ in result.stream_events():
        pass
    return result


def script(*turns: list[tuple[str, Any]]) -> ScriptedModel:
    """A model that makes these calls, turn by turn, and then says goodbye."""
    steps = [
        [
            function_call(name, given, call_id=f"call-{turn}-{number}")
            for number, (name, given) in enumerate(made)
        ]
        for turn, made in enumerate(turns)
    ]
    return ScriptedModel([*steps, [assistant_message("Goodbye.")]])


def told(result: Any) -> list[Any]:
    """What the model was told of its calls, in order."""
    items = result.to_input_list()
    return [each["output"] for each in items if each.get("type") == "function_call_output"]


def reason(output: Any) -> str | None:
    """Why a call was refused; None where it was not."""
    text = output if isinstance(output, str) else ""
    return json.loads(text).get("reason") if text.startswith('{"refused"') else None
