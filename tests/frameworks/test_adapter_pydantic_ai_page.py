"""The page about Pydantic AI: what it says is typed in and run."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai import messages as parts
from pydantic_ai.models.function import FunctionModel

from pytest_tripwire import Harness

NEEDS = ("pydantic-ai-slim",)

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "frameworks" / "pydantic_ai.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)


class Bank:
    def __init__(self) -> None:
        self.paid: list[str] = []

    def pay(self, invoice: str, _note: str) -> dict[str, str]:
        self.paid.append(invoice)
        return {"payment_id": "P-1"}


def pays(messages: list[Any], _info: Any) -> parts.ModelResponse:
    if sum(isinstance(each, parts.ModelResponse) for each in messages):
        return parts.ModelResponse(parts=[parts.TextPart("Done.")])
    call = parts.ToolCallPart("pay", {"invoice": "I-1", "note": "due"}, tool_call_id="call-1")
    return parts.ModelResponse(parts=[call])


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names of the page's own code, with a bank and without a provider."""
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    names: dict[str, Any] = {"bank": Bank()}
    for block in BLOCKS[:2]:
        exec(block, names)  # noqa: S102 - it is the page's own
    return names


def test_the_page_has_the_blocks_that_are_tried_here() -> None:
    assert len(BLOCKS) == 3


def test_what_it_says_of_production_works(typed: dict[str, Any]) -> None:
    async def both() -> None:
        await typed["work"]("Pay I-1", "message-17")
        await typed["work"]("Pay I-1", "message-17")

    with typed["clerk"].override(model=FunctionModel(pays)):
        asyncio.run(both())

    assert typed["bank"].paid == ["I-1"]


def test_what_it_says_of_approvals_works(typed: dict[str, Any]) -> None:
    breaker = typed["Breaker"](specs={"pay": asked(typed)})
    typed["breaker"] = breaker

    async def twice() -> list[str]:
        state = await typed["put_up"]("Pay I-1", "message-17")
        before = len(typed["bank"].paid)
        answers = [await typed["go_on"](state, "message-17", "call-1") for _ in range(2)]
        assert before == 0
        return answers

    with typed["asking"].override(model=FunctionModel(pays)):
        answers = asyncio.run(twice())

    assert answers == ["Done.", "Done."]
    assert typed["bank"].paid == ["I-1"]


def asked(typed: dict[str, Any]) -> Any:
    import msgspec

    from pytest_tripwire.timeline import spec_of

    spec = spec_of(typed["pay"])
    assert spec is not None
    return msgspec.structs.replace(spec, requires_approval=True)


def test_what_it_says_of_tests_works(monkeypatch: pytest.MonkeyPatch) -> None:
    def search_articles(topic: str, query: str, page: int = 1) -> None:
        """Search the help centre."""
        raise AssertionError(topic, query, page)

    desk = ModuleType("acme.desk")
    desk.clerk = Agent(name="clerk", tools=[search_articles])  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "acme", ModuleType("acme"))
    monkeypatch.setitem(sys.modules, "acme.desk", desk)
    names: dict[str, Any] = {}
    exec(BLOCKS[2], names)  # noqa: S102 - it is the page's own
    agent = names["tripwire_agent"].__wrapped__()

    run = Harness("empty-search", agent).run()

    run.check()
    assert run.reason == "empty_results"
