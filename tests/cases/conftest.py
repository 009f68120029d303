"""An agent that asks its model without HTTP, for suites that play very many cases."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from pytest_tripwire import Harness, Options, Run, Task
from pytest_tripwire.harness.setting import Setting
from pytest_tripwire.models import ChatCompletions, ModelServer
from pytest_tripwire.models.answer import Answer


class Direct:
    """The plain loop that swallows every exception, on the model of one setting."""

    server: ModelServer

    def __call__(self, task: Task) -> str:
        messages: list[Any] = [{"role": "user", "content": task.prompt}]
        while True:
            answer = self._ask(task, messages)
            messages.append(self._told(answer))
            if not answer.calls:
                return answer.text
            for call in answer.calls:
                try:
                    result = task.tools.call(call.tool, dict(call.arguments), call_id=call.call_id)
                except Exception as error:  # noqa: BLE001 - as careless loops do
                    result = {"error": str(error)}
                messages.append(
                    {"role": "tool", "tool_call_id": call.call_id, "content": json.dumps(result)}
                )

    def _ask(self, task: Task, messages: list[Any]) -> Answer:
        body = {
            "model": task.model.name,
            "messages": messages,
            "tools": task.tools.schemas("openai"),
        }
        asked = ChatCompletions().parse(body)
        return self.server.exchange.answer(asked.conversation).answer

    @staticmethod
    def _told(answer: Answer) -> dict[str, Any]:
        calls = [
            {
                "id": call.call_id,
                "type": "function",
                "function": {"name": call.tool, "arguments": json.dumps(dict(call.arguments))},
            }
            for call in answer.calls
        ]
        return {
            "role": "assistant",
            "content": answer.text,
            **({"tool_calls": calls} if calls else {}),
        }


class Quick(Harness):
    """A harness whose model server need not listen."""

    def _setting(self) -> Setting:
        setting = super()._setting()
        assert isinstance(self._agent, Direct)
        self._agent.server = setting.server
        return setting

    def run(self) -> Run:
        setting = self._setting()
        answer, error = self._attempt(setting)
        if self._goes_on(setting, error):
            answer, error = self._attempt(setting)
        return self._judged(setting, answer, error)


@pytest.fixture
def quick() -> Callable[..., Run]:
    """Play a case without a socket: `quick("lost-write", persona="forgetful", seed=7)`."""
    return lambda case, **options: Quick(case, Direct(), options=Options(**options)).run()
