"""A support agent on the tool runner of Anthropic's client, with tools of its own."""

from __future__ import annotations

from typing import Any

from anthropic import Anthropic

from pytest_tripwire import Task

MAX_TOKENS = 1024
#: Requests, each with what it makes the runner do. Unset, the runner goes on for ever.
MAX_ITERATIONS = 60
SYSTEM = "You help the customers of a shop. Look things up before you change them."


class Support:
    """Answers customers, and keeps the conversation for when an operator has decided."""

    def __init__(self) -> None:
        self._history: list[Any] = []

    def __call__(self, task: Task) -> str:
        """Answer the task's prompt; with the operator's word, go on where it was."""
        if task.resume:
            said = f"The operator says: {task.resume.decision}."
        else:
            self._history, said = [], task.prompt
        self._history.append({"role": "user", "content": said})
        base_url = task.model.base_url("anthropic")
        with Anthropic(base_url=base_url, api_key=task.model.api_key) as client:
            runner = client.beta.messages.tool_runner(
                model=task.model.name,
                max_tokens=MAX_TOKENS,
                system=SYSTEM,
                tools=task.tools.anthropic(),
                messages=list(self._history),
                max_iterations=MAX_ITERATIONS,
            )
            for message in runner:
                self._remember(message, runner)
        return "".join(block.text for block in message.content if block.type == "text")

    def _remember(self, message: Any, runner: Any) -> None:
        """Keep a turn. Its results are made now and used by the runner: they are made once."""
        self._history.append({"role": "assistant", "content": message.content})
        results = runner.generate_tool_call_response()
        if results is not None:
            self._history.append(results)
