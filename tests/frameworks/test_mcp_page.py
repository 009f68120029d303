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
from pytest_tripwire.breaker import Interrupted

NEEDS = ("mcp",)

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "frameworks" / "mcp.md"
FENCE = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks() -> list[str]:
    return FENCE.findall(PAGE.read_text("utf-8"))


def page(*names: str) -> dict[str, Any]:
    """The page's words about these, done one after the other."""
    namespace: dict[str, Any] = {}
    by_name = dict(zip(("client", "resume", "server", "agent"), blocks(), strict=True))
    for name in names:
        exec(by_name[name], namespace)  # noqa: S102 - the page's own words
    return namespace


def test_the_page_s_client_pays_once() -> None:
    assert page("client")["paid"] == ["I-1"]


def test_the_page_s_run_that_is_taken_up_pays_where_nothing_has_changed() -> None:
    said = page("client", "resume")
    said["totals"]["I-2"] = {"total": 40, "version": "7"}
    with pytest.raises(Interrupted) as stop:
        asyncio.run(said["look_and_wait"]())

    with pytest.raises(Interrupted):  # the page's payment loses its answer
        asyncio.run(said["go_on"](stop.value.record, "ada"))

    assert said["paid"] == ["I-1", "I-2"]


def test_the_page_s_server_pays_once_for_each_piece_of_work() -> None:
    said = page("client", "server")
    said["paid"].clear()
    said["guarded_server"].add_tool(said["pay"])

    async def pay(task: str, invoice: str) -> Any:
        given = {"invoice": invoice, "euros": 1, "note": "due"}
        async with Client(said["guarded_server"]) as asking:
            meta = {"shop.example/task": task}
            return [await asking.call_tool("pay", given, meta=meta) for _ in range(2)]

    for task, invoice in (("one", "I-2"), ("other", "I-3")):
        _, second = asyncio.run(pay(task, invoice))
        assert json.loads(second.content[0].text)["refused"] is True
    said["runs"].close()

    assert said["paid"] == ["I-2", "I-3"]
    assert [each.reason for each in said["interrupted"]] == ["unknown_side_effect"] * 2


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
    page("agent")

    Harness("lost-write", given[0]()).run()

    assert "issue_refund" in names
