"""Which framework a thing is of, and what is said where that is not installed."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from pytest_tripwire.adapters import FRAMEWORKS, MissingFrameworkError, framework_of, required


def of(module: str, *bases: type) -> object:
    """An object whose type is defined in a module."""
    return type("Tool", bases or (object,), {"__module__": module})()


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("agents", "openai_agents"),
        ("agents.tool", "openai_agents"),
        ("langchain_core.tools.base", "langchain"),
        ("langgraph.graph.state", "langchain"),
        ("pydantic_ai.tools", "pydantic_ai"),
        ("anthropic.lib.tools", "anthropic"),
        ("mcp.client.session", "mcp"),
        ("google.adk.agents.llm_agent", "adk"),
        ("google.genai.types", None),
        ("google.adkins", None),
        ("acme.tools", None),
        ("agentsmith.tools", None),
        ("acme.agents", None),
    ],
)
def test_a_thing_is_of_the_framework_that_defines_its_type(module: str, name: str | None) -> None:
    assert framework_of(of(module)) == name


def test_what_derives_from_a_type_of_a_framework_is_of_it() -> None:
    base = type(of("langchain_core.tools.base"))

    assert framework_of(of("acme.tools", base)) == "langchain"


@pytest.mark.parametrize("thing", [len, lambda: None, {}, None, "agents", type])
def test_plain_things_are_of_none(thing: object) -> None:
    assert framework_of(thing) is None


def test_every_framework_has_roots_and_what_installs_it() -> None:
    assert all(each.roots and each.extra and each.package for each in FRAMEWORKS.values())


def test_a_framework_that_is_missing_is_named_with_what_installs_it() -> None:
    with pytest.raises(MissingFrameworkError) as raised:
        required("json", "no_such_framework", "some-extra", "task.tools.some()")

    assert str(raised.value) == (
        "task.tools.some() needs no_such_framework, which is not installed: "
        "pip install --upgrade 'pytest-agent-tripwire[some-extra]'"
    )


def test_a_framework_that_is_too_old_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    old = ModuleType("too_old")
    monkeypatch.setitem(sys.modules, "too_old", old)
    monkeypatch.setitem(sys.modules, "broken_adapter", None)

    with pytest.raises(MissingFrameworkError, match="needs a newer too_old than is installed"):
        required("broken_adapter", "too_old", "some-extra", "task.adopt()")


def test_what_an_installed_framework_cannot_import_is_its_own_trouble(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "needy_framework.py").write_text("import no_such_dependency\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    with pytest.raises(ModuleNotFoundError) as raised:
        required("json", "needy_framework", "some-extra", "task.adopt()")

    assert not isinstance(raised.value, MissingFrameworkError)
    assert raised.value.name == "no_such_dependency"
