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
from pytest_tripwire.breaker import Interrupted, ResumeRefusedError

NEEDS = ("pydantic-ai-slim",)

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "frameworks" / "pydantic_ai.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)


class Bank:
    def __init__(self) -> None:
        self.paid: list[str] = []
        self.version = 7

    def invoice(self, name: str) -> dict[str, Any]:
        return {"invoice": name, "version": self.version}

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
    for block in BLOCKS[:3]:
        exec(block, names)  # noqa: S102 - it is the page's own
    return names


def test_the_page_has_the_blocks_that_are_tried_here() -> None:
    assert len(BLOCKS) == 4


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


def looks_then_pays(messages: list[Any], _info: Any) -> parts.ModelResponse:
    """Looks the invoice up, waits for the operator, and pays."""
    number = sum(isinstance(each, parts.ModelResponse) for each in messages)
    given = {"look_up": {"invoice": "I-1"}, "pay": {"invoice": "I-1", "note": "agreed"}}
    name = {0: "look_up", 2: "pay"}.get(number)
    if name is None:
        return parts.ModelResponse(parts=[parts.TextPart("Done.")])
    return parts.ModelResponse(parts=[parts.ToolCallPart(name, given[name])])


@pytest.mark.parametrize("changes", ["nothing", "the invoice"])
def test_what_it_says_of_resuming_works(typed: dict[str, Any], changes: str) -> None:
    bank = typed["bank"]

    async def resumed() -> str:
        state, wanted = await typed["look"]("Pay I-1 once an operator agrees.")
        bank.version += changes == "the invoice"
        try:
            answer: str = await typed["decided"](state, wanted)
        except Interrupted as stop:
            answer = stop.reason
        with pytest.raises(ResumeRefusedError):
            await typed["decided"](state, wanted)
        return answer

    with typed["cashier"].override(model=FunctionModel(looks_then_pays)):
        answer = asyncio.run(resumed())

    assert answer == ("Done." if changes == "nothing" else "stale_resume")
    assert bank.paid == (["I-1"] if changes == "nothing" else [])


def test_what_it_says_of_tests_works(monkeypatch: pytest.MonkeyPatch) -> None:
    def search_articles(topic: str, query: str, page: int = 1) -> None:
        """Search the help centre."""
        raise AssertionError(topic, query, page)

    desk = ModuleType("acme.desk")
    desk.clerk = Agent(name="clerk", tools=[search_articles])  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "acme", ModuleType("acme"))
    monkeypatch.setitem(sys.modules, "acme.desk", desk)
    names: dict[str, Any] = {}
    exec(BLOCKS[3], names)  # noqa: S102 - it is the page's own
    agent = names["tripwire_agent"].__wrapped__()

    run = Harness("empty-search", agent).run()

    run.check()
    assert run.reason == "empty_results"
