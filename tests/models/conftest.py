"""What the tests of the model's side share: a server per test, and raw requests to it."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest

from pytest_tripwire.models import Calls, ModelServer, Move, Observed, Propose, Say, Seen


class ShopBinder:
    """Binds the roles of the tests to the tools of a shop's agent."""

    names = {"search": "search_orders", "write": "refund_order"}  # noqa: RUF012

    def tool_name(self, role: str) -> str:
        return self.names[role]

    def arguments(self, role: str, slots: Mapping[str, Any]) -> dict[str, Any]:
        return {"role": role, **slots}


def search_twice(seen: Seen) -> Move:
    """Search at turns 0 and 1, then stop."""
    if seen.turn < 2:
        return Calls(proposals=(Propose(role="search", slots={"query": f"order {seen.turn}"}),))
    return Say(text=f"{len(seen.all_results)} results")


class Running:
    """A server that runs, and what it was seen to do."""

    def __init__(self, **options: Any) -> None:
        self.observed: list[Observed] = []
        self.server = ModelServer(
            **{
                "script": search_twice,
                "binder": ShopBinder(),
                "observe": self.observed.append,
                **options,
            }
        ).start()
        self.url = self.server.base_url("openai")
        self.port = urlsplit(self.url).port

    def send(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] = {}
    ) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, path, body, dict(headers))
            response = connection.getresponse()
            text = response.read()
            return response.status, json.loads(text) if text else None
        finally:
            connection.close()

    def post(self, body: Any) -> tuple[int, Any]:
        data = body if isinstance(body, bytes) else msgspec.json.encode(body)
        return self.send("POST", "/v1/chat/completions", data)


@pytest.fixture
def tools() -> list[dict[str, Any]]:
    parameters = {"type": "object", "properties": {}}
    return [
        {"type": "function", "function": {"name": name, "parameters": parameters}}
        for name in ("search_orders", "refund_order")
    ]


@pytest.fixture
def ask(tools: list[dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """A request body with the shop's tools; keywords change it."""

    def body(*history: dict[str, Any], prompt: str = "Refund A-1", **more: Any) -> dict[str, Any]:
        messages = [
            {"role": "system", "content": "You are support."},
            {"role": "user", "content": prompt},
            *history,
        ]
        return {"model": "any", "messages": messages, "tools": tools, **more}

    return body


@pytest.fixture
def run() -> Iterator[Callable[..., Running]]:
    """Starts servers; keywords replace the options of `ModelServer`."""
    started: list[Running] = []

    def start(**options: Any) -> Running:
        started.append(Running(**options))
        return started[-1]

    yield start
    for running in started:
        running.server.stop()
