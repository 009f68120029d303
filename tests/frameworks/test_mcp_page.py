"""What the page about the Model Context Protocol says, done."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from mcp import Client

from pytest_tripwire import Harness, Task

NEEDS = ("mcp",)

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "frameworks" / "mcp.md"
FENCE = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks() -> list[str]:
    return FENCE.findall(PAGE.read_text("utf-8"))


def test_the_page_s_client_pays_once() -> None:
    namespace: dict[str, Any] = {}

    exec(blocks()[0], namespace)  # noqa: S102 - the page's own words

    assert namespace["paid"] == ["I-1"]


def test_the_page_s_server_pays_once_for_each_customer() -> None:
    client, server, _ = blocks()
    page: dict[str, Any] = {}
    exec(client + server, page)  # noqa: S102 - the page's own words
    page["paid"].clear()
    page["guarded_server"].add_tool(page["pay"])

    async def pay(customer: str) -> Any:
        async with Client(page["guarded_server"]) as asking:
            return [
                await asking.call_tool(
                    "pay",
                    {"invoice": "I-2", "euros": 1, "note": note},
                    meta={"shop.example/customer": customer},
                )
                for note in "ab"
            ]

    for customer in ("one", "other"):
        _, second = asyncio.run(pay(customer))
        assert json.loads(second.content[0].text)["refused"] is True

    assert page["paid"] == ["I-2", "I-2"]


def test_the_page_plugs_an_agent_in(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Callable[..., Any]] = []
    monkeypatch.setattr(pytest, "fixture", given.append)
    support = ModuleType("acme_support")
    monkeypatch.setitem(sys.modules, "acme_support", support)
    names: list[str] = []

    async def answer_with(desk: Client, task: Task) -> str:
        names.extend(each.name for each in (await desk.list_tools()).tools)
        return "Done."

    support.__dict__["answer_with"] = answer_with
    exec(blocks()[-1], {})  # noqa: S102 - the page's own words

    Harness("lost-write", given[0]()).run()

    assert "issue_refund" in names
