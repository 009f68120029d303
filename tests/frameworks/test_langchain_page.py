"""What the page about LangChain and LangGraph says, done."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langsmith import tracing_context

from pytest_tripwire import Harness
from pytest_tripwire.timeline import Mode

NEEDS = ("langchain", "langgraph")

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "frameworks" / "langchain.md"
FENCE = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.fixture(autouse=True)
def _untraced() -> Iterator[None]:
    # Whatever the environment says, a scripted run is nobody's trace.
    with tracing_context(enabled=False):
        yield


def blocks() -> list[str]:
    return FENCE.findall(PAGE.read_text("utf-8"))


def test_the_page_pays_once_and_makes_a_node() -> None:
    production, by_hand, counting, _, _ = blocks()
    namespace: dict[str, Any] = {}

    exec(production + by_hand + counting, namespace)  # noqa: S102 - the page's own words

    assert namespace["paid"] == ["I-1"]
    assert set(namespace["node"].tools_by_name) == {"pay"}


def test_the_page_does_not_pay_on_an_old_version() -> None:
    production, _, _, resume, _ = blocks()
    namespace: dict[str, Any] = {}

    exec(production + resume, namespace)  # noqa: S102 - the page's own words

    assert namespace["paid"] == ["I-1"]
    assert namespace["run"].mode is not Mode.OPEN


def test_the_page_plugs_an_agent_in(monkeypatch: pytest.MonkeyPatch) -> None:
    *_, plugged = blocks()
    given: list[Callable[..., Any]] = []
    monkeypatch.setattr(pytest, "fixture", given.append)

    exec(plugged, {})  # noqa: S102 - the page's own words

    run = Harness("lost-write", given[0]()).run()
    run.check()
    assert run.reason == "unknown_side_effect"
