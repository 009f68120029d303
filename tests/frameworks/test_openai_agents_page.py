"""What the page about the OpenAI Agents SDK says, done."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, Runner, RunState, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call

from pytest_tripwire import Harness
from pytest_tripwire.adapters.openai_agents import guarded
from pytest_tripwire.breaker import Interrupted, Resume, ResumeRefusedError, tool_spec

NEEDS = ("openai-agents",)

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "frameworks" / "openai_agents.md"
PIECE = {"tenant": "acme", "workflow": "invoices@1", "request_id": "message-18"}
FENCE = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.fixture(autouse=True)
def untraced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")


def blocks() -> list[str]:
    return FENCE.findall(PAGE.read_text("utf-8"))


def test_the_page_pays_once_and_tells_of_the_lost_answer() -> None:
    production, *_ = blocks()
    namespace: dict[str, Any] = {}

    exec(production, namespace)  # noqa: S102 - the page's own words

    assert namespace["paid"] == ["I-1"]


def test_the_page_takes_a_stored_state_up_twice_and_pays_once() -> None:
    production, resume, *_ = blocks()
    page: dict[str, Any] = {"RunState": RunState}
    exec(production + resume, page)  # noqa: S102 - the page's own words
    paid: list[str] = []

    @function_tool
    @tool_spec(effect="write", identity=("invoice",), requires_approval=True)
    async def pay(invoice: str) -> str:
        """Pay an invoice."""
        paid.append(invoice)
        return "paid"

    def clerk(*steps: Any) -> Any:
        return Agent[None](name="clerk", tools=[pay], model=ScriptedModel(steps))

    async def put_up() -> str:
        asks = [function_call("pay", {"invoice": "I-2"}, call_id="call-9")]
        with page["breaker"].run(**PIECE) as run:
            result = await Runner.run(guarded(clerk(asks), run), "Pay I-2.")
        return str(result.to_state().to_string())

    stored = asyncio.run(put_up())
    assert paid == []
    for _ in range(2):
        page["clerk"] = clerk([assistant_message("Paid.")])
        asyncio.run(page["take_up"](stored, PIECE["request_id"]))

    assert paid == ["I-2"]


@pytest.mark.parametrize(("now", "made"), [("7", ["I-3"]), ("8", [])])
def test_the_page_takes_a_waiting_run_up_and_pays_if_nothing_has_changed(
    now: str, made: list[str]
) -> None:
    production, _, resume, _ = blocks()
    page: dict[str, Any] = {
        "RunState": RunState,
        "Resume": Resume,
        "may_resume": lambda who, _record, _action: who == "ada",
        "version_of": {"I-3": now}.get,
    }
    exec(production + resume, page)  # noqa: S102 - the page's own words
    paid: list[str] = []

    @function_tool
    @tool_spec(effect="read", identity=("invoice",), result_version="version")
    async def look_up(invoice: str) -> dict[str, Any]:
        """Look an invoice up."""
        return {"invoice": invoice, "version": 7}

    @function_tool
    @tool_spec(effect="write", identity=("invoice",), requires_approval=True)
    async def pay(invoice: str) -> str:
        """Pay an invoice."""
        paid.append(invoice)
        return "paid"

    def call(name: str) -> Any:
        return [function_call(name, {"invoice": "I-3"}, call_id=f"call-{name}")]

    def clerk(*steps: Any) -> Any:
        return Agent[None](name="clerk", tools=[look_up, pay], model=ScriptedModel(steps))

    page["clerk"] = clerk(call("look_up"), call("pay"))
    stored, record = asyncio.run(page["until_asked"]("Pay I-3.", "message-19"))
    assert paid == []
    page["clerk"] = clerk([assistant_message("Done.")])
    with contextlib.suppress(Interrupted):
        asyncio.run(page["go_on"](stored, record, "ada"))
    with pytest.raises(ResumeRefusedError):
        asyncio.run(page["go_on"](stored, record, "ada"))

    assert paid == made


def test_the_page_plugs_an_agent_in(monkeypatch: pytest.MonkeyPatch) -> None:
    *_, plugged = blocks()
    given: list[Callable[..., Any]] = []
    monkeypatch.setattr(pytest, "fixture", given.append)

    exec(plugged, {})  # noqa: S102 - the page's own words

    run = Harness("lost-write", given[0]()).run()
    run.check()
    assert run.reason == "unknown_side_effect"
