"""A framework's own tool in a part: it is shown to the agent by its definition."""

from __future__ import annotations

import contextlib
import sys
from types import ModuleType
from typing import Any

import pytest

from pytest_tripwire import Harness, HarnessError, Options, Role, Task
from pytest_tripwire.plugin.handle import open_desk
from pytest_tripwire.timeline import Mutation
from pytest_tripwire.world import AMOUNT, NONCE, RESOURCE, WORDING

DEFINITION = {
    "name": "pay_back",
    "description": "Pay an order back.",
    "parameters": {
        "type": "object",
        "properties": {name: {"type": "string"} for name in ("order", "why", "nonce")},
        "required": ["order", "why", "nonce"],
    },
}
ARGS = {"order": RESOURCE, "why": WORDING, "nonce": NONCE}


class NativeTool:
    """Stands for a tool of Pydantic AI's."""

    __module__ = "pydantic_ai.tools"
    definition: Any = DEFINITION


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch) -> None:
    """An adapter that stands for the real one, which may be missing here as its framework is."""
    ours = ModuleType("pytest_tripwire.adapters.pydantic_ai")
    ours.__dict__["definition"] = lambda tool: dict(tool.definition)
    monkeypatch.setitem(sys.modules, "pydantic_ai", ModuleType("pydantic_ai"))
    monkeypatch.setitem(sys.modules, ours.__name__, ours)


def names(**options: Any) -> list[str]:
    """The names of an agent's tools."""
    seen: list[str] = []

    def agent(task: Task) -> None:
        seen.extend(task.tools)

    Harness("lost-write", agent, options=Options(**options)).run()
    return seen


@pytest.mark.usefixtures("adapter")
def test_an_agent_is_shown_a_native_tool_by_its_definition() -> None:
    roles = {"write": Role(NativeTool(), ARGS)}

    assert names(roles=roles) == ["pay_back", "get_refund"]


@pytest.mark.usefixtures("adapter")
def test_its_name_may_be_declared() -> None:
    roles = {"write": Role(NativeTool(), ARGS)}

    assert "pay_back" in names(roles=roles, specs={"pay_back": {"reconcile": "get_refund"}})


@pytest.mark.usefixtures("adapter")
def test_the_plugin_takes_it_too() -> None:
    seen: list[str] = []
    desk = open_desk(
        agent=lambda task: seen.extend(task.tools),
        agent_id="agent",
        protection="harness",
        declared=True,
        breaker=None,
        budget=None,
        specs={"pay_back": {"reconcile": "get_refund"}},
        roles={"write": Role(NativeTool(), ARGS)},
        persona=None,
        seed=0,
        stops=(),
        model_faults=(),
        model="scripted",
        model_name="",
        record_mode=None,
        cassette=None,
    )

    desk.handle("lost-write").run()

    assert seen == ["pay_back", "get_refund"]


def test_a_framework_that_is_missing_is_told_with_the_role(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)

    with pytest.raises(HarnessError) as raised:
        names(roles={"write": Role(NativeTool(), ARGS)})

    assert str(raised.value) == (
        "tripwire_tools['write'] needs pydantic_ai, which is not installed: "
        "pip install --upgrade 'pytest-agent-tripwire[pydantic-ai]'"
    )


@pytest.mark.usefixtures("adapter")
def test_what_is_of_a_framework_and_no_tool_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NativeTool, "definition", None)

    with pytest.raises(HarnessError, match=r"tripwire_tools\['write'\] has a NativeTool of pyd"):
        names(roles={"write": Role(NativeTool(), ARGS)})


def test_what_is_no_role_is_told_as_before() -> None:
    with pytest.raises(HarnessError, match="give a Role"):
        names(roles={"write": NativeTool()})
    with pytest.raises(HarnessError, match="tripwire_tools gave a list"):
        names(roles=[])


@pytest.mark.usefixtures("adapter")
def test_several_native_tools_may_play_one_part() -> None:
    other = NativeTool()
    other.definition = {**DEFINITION, "name": "wire_back"}
    roles = {"write": Role([NativeTool(), other, {**DEFINITION, "name": "post_back"}], ARGS)}

    assert names(roles=roles) == ["pay_back", "wire_back", "post_back", "get_refund"]
    declared = {"wire_back": {"reconcile": "get_refund"}}
    assert "wire_back" in names(roles=roles, specs=declared)


def test_a_lost_write_of_the_last_of_them_is_settled_by_the_read_of_the_case() -> None:
    args = {"order_id": RESOURCE, "amount": AMOUNT, "nonce": NONCE}
    parameters = {"type": "object", "properties": {name: {} for name in args}}
    both = ("pay_by_card", "pay_by_bank")
    tools = [{"name": name, "parameters": parameters} for name in both]

    def agent(task: Task) -> None:
        for nonce in ("n-1", "n-2"):
            given = {"order_id": "A-1001", "amount": 40.0, "nonce": nonce}
            with contextlib.suppress(TimeoutError):
                task.tools.call("pay_by_bank", given)

    options = Options(roles={"write": Role(tools, args)})
    run = Harness("lost-write/reconciled", agent, options=options).run()

    assert sum(isinstance(each, Mutation) for each in run.events) == 1
    assert "pay_by_bank reconciled: confirmed" in run.timeline()
