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


def proposed(role: str, seen: Seen) -> Calls:
    given = {"invoice": "I-1", "euros": 40, "note": f"try {seen.turn}"}
    slots = given if role == "pay" else {"invoice": "I-1"}
    return Calls(proposals=(Propose(role=role, slots=slots),))


def pays(seen: Seen) -> Any:
    """Pays, hears of an error, and pays again."""
    return proposed("pay", seen) if seen.turn < 3 else Say(text="ok")


def waits(seen: Seen) -> Any:
    """Looks, waits for a word, and pays."""
    moves = (proposed("find", seen), Say(text="I wait."), proposed("pay", seen), Say(text="ok"))
    return moves[min(seen.turn, 3)]


@pytest.fixture
def page(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The production parts of the page, at a model that pays three times, or goes another way."""
    server = ModelServer(
        script=getattr(request, "param", pays),
        binder=Anybody(),
        observe=lambda _: None,
        roles=("pay", "find"),
    )
    with server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url("anthropic"))
        monkeypatch.setenv("ANTHROPIC_API_KEY", "any")
        *shown, _ = FENCE.findall(PAGE.read_text("utf-8"))
        namespace: dict[str, Any] = {}
        exec("".join(shown), namespace)  # noqa: S102 - the page's own words
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


@pytest.mark.parametrize("page", [waits], indirect=True)
@pytest.mark.parametrize(("now", "paid"), [("1", ["I-1"]), ("2", [])])
def test_the_page_takes_a_run_up_and_pays_only_on_what_has_not_changed(
    page: dict[str, Any], now: str, paid: list[str]
) -> None:
    finds = {"type": "object", "properties": {"invoice": {"type": "string"}}}
    tools = [page["pay"].to_dict(), {"name": "find", "input_schema": finds}]
    run = page["breaker"].run(workflow="invoices@1")
    kept = page["put_off"]([{"role": "user", "content": "Pay I-1."}], tools, run)
    page["versions"]["I-1"] = now

    with pytest.raises(Interrupted) as stop:
        page["take_up"](kept, tools, "olga")

    assert page["paid"] == paid
    # The page's payment gets no answer: that is why the one that was made stops the run too.
    assert stop.value.record.reason == ("unknown_side_effect" if paid else "stale_resume")


def test_the_page_plugs_an_agent_in(monkeypatch: pytest.MonkeyPatch) -> None:
    *_, plugged = FENCE.findall(PAGE.read_text("utf-8"))
    given: list[Callable[..., Any]] = []
    monkeypatch.setattr(pytest, "fixture", given.append)

    exec(plugged, {})  # noqa: S102 - the page's own words

    run = Harness("lost-write", given[0]()).run()
    run.check()
    assert run.reason == "unknown_side_effect"
