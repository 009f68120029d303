"""What the tests of the harness share: agents that need no framework."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest

from pytest_tripwire import Task

REFUND = {"order_id": "A-1001", "amount": 40, "reason": "sent back"}
# No proxy of the environment stands between a test and its own machine.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Agents:
    """Agents by what they do."""

    @staticmethod
    def refund(task: Task, nonce: str = "r-1", **more: Any) -> Any:
        """One refund by the agent itself, without asking its model."""
        return task.tools.call("issue_refund", {**REFUND, "request_id": nonce, **more})

    @classmethod
    def twice(cls, task: Task) -> str:
        """Pay, and pay again under a new nonce when the answer is lost."""
        for nonce in ("r-1", "r-2"):
            try:
                cls.refund(task, nonce)
            except TimeoutError:
                continue
        return "paid"

    @staticmethod
    async def twice_async(task: Task) -> str:
        """The same, async."""
        for nonce in ("r-1", "r-2"):
            try:
                await task.tools.acall("issue_refund", {**REFUND, "request_id": nonce})
            except TimeoutError:
                continue
        return "paid"

    @staticmethod
    def ask(task: Task, messages: list[Any]) -> dict[str, Any]:
        """One model request."""
        body = {"model": task.model.name, "messages": messages}
        request = urllib.request.Request(  # noqa: S310 - the URL is the loopback server's
            f"{task.model.base_url('openai')}/chat/completions",
            json.dumps({**body, "tools": task.tools.schemas("openai")}).encode(),
            {"Content-Type": "application/json", "Authorization": f"Bearer {task.model.api_key}"},
        )
        try:
            with OPENER.open(request, timeout=30) as response:
                message: dict[str, Any] = json.load(response)["choices"][0]["message"]
                return message
        except urllib.error.HTTPError as error:
            # It is a response too, and holds a socket.
            error.close()
            raise

    @classmethod
    def loop(cls, task: Task) -> str:
        """The plain loop: ask, run what is proposed, tell, until the model only talks."""
        messages: list[Any] = [{"role": "user", "content": task.prompt}]
        while True:
            message = cls.ask(task, messages)
            messages.append(message)
            if not message.get("tool_calls"):
                return str(message["content"])
            for call in message["tool_calls"]:
                result = cls.used(task, call)
                messages.append(
                    {"role": "tool", "tool_call_id": call["id"], "content": json.dumps(result)}
                )

    @staticmethod
    def used(task: Task, call: dict[str, Any]) -> Any:
        """What a proposed call came to, an error told to the model as most loops do."""
        function = call["function"]
        try:
            arguments = json.loads(function["arguments"])
            return task.tools.call(function["name"], arguments, call_id=call["id"])
        except TimeoutError as error:
            return {"error": str(error)}


@pytest.fixture
def agents() -> type[Agents]:
    return Agents


@pytest.fixture
def kinds() -> Callable[[Any], list[str]]:
    """The kinds of a run's events, in order."""
    return lambda run: [type(event).__name__ for event in run.events]
