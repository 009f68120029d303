"""What the page about Anthropic's client says, done."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_tripwire import Harness
from pytest_tripwire.breaker import Interrupted
from pytest_tripwire.models import Calls, ModelServer, Propose, Say, Seen

NEEDS = ("anthropic",)

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "frameworks" / "anthropic.md"
FENCE = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


class Anybody:
    def tool_name(self, role: str) -> str:
        return role

    def arguments(self, role: str, slots: Any) -> dict[str, Any]:
        return dict(slots)


def pays(seen: Seen) -> Any:
    """Pays, hears of an error, and pays again."""
    given = {"invoice": "I-1", "euros": 40, "note": f"try {seen.turn}"}
    return Calls(proposals=(Propose(role="pay", slots=given),)) if seen.turn < 3 else Say(text="ok")


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The production parts of the page, at a model that pays three times."""
    server = ModelServer(script=pays, binder=Anybody(), observe=lambda _: None, roles=("pay",))
    with server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url("anthropic"))
        monkeypatch.setenv("ANTHROPIC_API_KEY", "any")
        production, own, _ = FENCE.findall(PAGE.read_text("utf-8"))
        namespace: dict[str, Any] = {}
        exec(production + own, namespace)  # noqa: S102 - the page's own words
        yield namespace
        namespace["client"].close()


def test_the_page_s_runner_pays_once(page: dict[str, Any]) -> None:
    with pytest.raises(Interrupted, match="unknown_side_effect"):
        page["work"]("Pay I-1.", "message-17")

    assert page["paid"] == ["I-1"]


def test_the_page_s_loop_pays_once(page: dict[str, Any]) -> None:
    tool = page["pay"].to_dict()
    run = page["breaker"].run(request_id="message-18")
    with pytest.raises(Interrupted, match="unknown_side_effect"), run:
        page["loop"]([{"role": "user", "content": "Pay I-1."}], [tool], run)

    assert page["paid"] == ["I-1"]
    assert run.stats().turns > 1


def test_the_page_plugs_an_agent_in(monkeypatch: pytest.MonkeyPatch) -> None:
    *_, plugged = FENCE.findall(PAGE.read_text("utf-8"))
    given: list[Callable[..., Any]] = []
    monkeypatch.setattr(pytest, "fixture", given.append)

    exec(plugged, {})  # noqa: S102 - the page's own words

    run = Harness("lost-write", given[0]()).run()
    run.check()
    assert run.reason == "unknown_side_effect"
