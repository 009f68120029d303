"""Stands for the reader's own agent, which the documentation imports under this name: a loop that
asks the model, runs the tools that it wants, and tells it what they said. Nothing protects it."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

MAX_TURNS = 30


class SupportAgent:
    def __init__(
        self,
        *,
        base_url: str,
        api_key: str,
        schemas: Sequence[Mapping[str, Any]],
        call_tool: Callable[[str, Mapping[str, Any]], Any],
    ) -> None:
        self._url = urlsplit(base_url)
        self._key = api_key
        self._schemas = schemas
        self._call_tool = call_tool

    def answer(self, prompt: str) -> str:
        messages: list[dict[str, Any]] = [{"role": "user", "content": prompt}]
        for _ in range(MAX_TURNS):
            message = self._ask(messages)
            messages.append(message)
            if not message.get("tool_calls"):
                return str(message["content"])
            messages += [self._use(call) for call in message["tool_calls"]]
        return "I could not finish this."

    def _ask(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        body = {"model": "any", "messages": messages, "tools": self._schemas}
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        connection = http.client.HTTPConnection(self._url.netloc)
        try:
            path = f"{self._url.path}/chat/completions"
            connection.request("POST", path, json.dumps(body), headers)
            reply = json.load(connection.getresponse())
        finally:
            connection.close()
        message: dict[str, Any] = reply["choices"][0]["message"]
        return message

    def _use(self, call: dict[str, Any]) -> dict[str, Any]:
        try:
            arguments = json.loads(call["function"]["arguments"])
            result = self._call_tool(call["function"]["name"], arguments)
        except Exception as error:  # noqa: BLE001 - an ordinary agent tells its model of any error
            result = {"error": str(error)}
        return {"role": "tool", "tool_call_id": call["id"], "content": json.dumps(result)}
