"""What the page about the Agent Development Kit says, done."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from google.adk.tools import FunctionTool, google_search
from google.adk.tools.base_toolset import BaseToolset

from pytest_tripwire import Harness
from pytest_tripwire.breaker import Interrupted

from .adk_shop import Driven, confirmation, replies

NEEDS = ("google-adk",)

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "frameworks" / "adk.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
PAYS = ("pay", {"invoice": "I-1", "note": "due"})


class Bank:
    def __init__(self) -> None:
        self.paid: list[str] = []

    def pay(self, invoice: str, _note: str) -> dict[str, str]:
        self.paid.append(invoice)
        return {"payment_id": "P-1"}


@pytest.fixture
def typed() -> dict[str, Any]:
    """The names of the page's own code for production, with a bank."""
    names: dict[str, Any] = {"bank": Bank()}
    exec(BLOCKS[0], names)  # noqa: S102 - it is the page's own
    return names


def test_the_page_has_the_blocks_that_are_tried_here() -> None:
    assert len(BLOCKS) == 4


def test_what_it_says_of_production_works(typed: dict[str, Any]) -> None:
    answers: list[str] = []

    async def both() -> None:
        for _ in range(2):
            typed["clerk"].model = replies([PAYS], [PAYS])
            answers.append(await typed["work"]("Pay I-1", "message-17"))

    asyncio.run(both())

    assert answers == ["Goodbye."] * 2
    assert typed["bank"].paid == ["I-1"]


@pytest.mark.parametrize("confirmed", [True, False])
def test_a_tool_that_asks_within_asks_first_as_it_says(
    typed: dict[str, Any],
    confirmed: bool,  # noqa: FBT001
) -> None:
    exec(BLOCKS[1], typed)  # noqa: S102 - the page's own words
    large = ("pay_large", {"invoice": "I-1"})
    typed["clerk"].tools = [typed["pay_large"]]
    typed["clerk"].model = replies([large])

    async def answered(run: Any) -> None:
        driven = Driven(typed["guarded"](typed["clerk"], run))
        await driven.go()
        await driven.go(confirmation(driven, confirmed=confirmed))

    with typed["breaker"].run() as run:
        asyncio.run(answered(run))

    assert typed["bank"].paid == (["I-1"] if confirmed else [])


@pytest.mark.parametrize("version", ["1", "2"])
def test_a_run_is_taken_up_as_it_says(typed: dict[str, Any], version: str) -> None:
    exec(BLOCKS[2], typed)  # noqa: S102 - the page's own words

    async def work() -> None:
        typed["clerk"].model = replies([("find", {"invoice": "I-1"})])
        record = await typed["put_off"]("s-1", "Pay I-1.")
        typed["versions"]["I-1"] = version
        typed["clerk"].model = replies([PAYS])
        await typed["take_up"](record, "s-1", "olga")

    stale = version != "1"
    with pytest.raises(Interrupted, match="stale_resume") if stale else nullcontext():
        asyncio.run(work())

    assert typed["bank"].paid == (["I-1"] if not stale else [])


def test_a_toolsets_tools_are_had_as_it_says(typed: dict[str, Any]) -> None:
    class Till(BaseToolset):
        async def get_tools(self, readonly_context: Any = None) -> list[Any]:
            return [FunctionTool(typed["pay"])]

        async def close(self) -> None:
            pass

    async def work() -> None:
        typed["clerk"].tools = await Till(tool_name_prefix="till").get_tools_with_prefix()
        typed["clerk"].model = replies([("till_pay", PAYS[1])], [("till_pay", PAYS[1])])
        await typed["work"]("Pay I-1", "message-18")

    asyncio.run(work())

    assert typed["bank"].paid == ["I-1"]


def test_what_only_reads_may_be_named(typed: dict[str, Any]) -> None:
    typed["clerk"].tools = [typed["pay"], google_search]

    with typed["breaker"].run() as run:
        clone = typed["guarded"](typed["clerk"], run, unguarded=["google_search"])

    assert clone.tools[1] is google_search


def test_the_page_plugs_an_agent_in(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Callable[..., Any]] = []
    monkeypatch.setattr(pytest, "fixture", given.append)

    exec(BLOCKS[3], {})  # noqa: S102 - the page's own words

    run = Harness("lost-write", given[0]()).run()
    run.check()
    assert run.reason == "unknown_side_effect"
