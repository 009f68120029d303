"""A run's tools whose bodies are a framework's."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from pytest_tripwire import Breaker, ToolSpec
from pytest_tripwire.adapters import Bridge, as_text, is_refused
from pytest_tripwire.guard import UndeclaredToolError

PAY = ToolSpec(name="pay", effect="write", identity=("order",), reconcile="look")
LOOK = ToolSpec(name="look", effect="read", identity=("order",))
SPECS = {"pay": PAY, "look": LOOK}


class Native:
    """A framework's way to run a tool, and what of it has run."""

    def __init__(self, label: str = "") -> None:
        self.label = label
        self.ran: list[tuple[str, str]] = []
        self.lost = False

    def __call__(self, name: str, arguments: dict[str, Any]) -> Any:
        self.ran.append((name, arguments["order"]))
        if self.lost and name == "pay":
            raise TimeoutError
        return {"order": arguments["order"], "by": self.label}

    async def later(self, name: str, arguments: dict[str, Any]) -> Any:
        await asyncio.sleep(0)
        return self(name, arguments)


def bridge(run: Any = None, *, asynchronous: bool = False) -> Bridge:
    one = Bridge(run or Breaker().run(), SPECS)
    for name in SPECS:
        one.take(name, asynchronous=asynchronous)
    return one


def test_a_call_is_made_by_what_comes_with_it() -> None:
    one, native = bridge(), Native("n-1")

    result = one.call("pay", {"order": "A-1"}, native, call_id="c-1", agent="billing")

    assert result == {"order": "A-1", "by": "n-1"}
    assert native.ran == [("pay", "A-1")]


def test_the_same_for_async_code() -> None:
    one, native = bridge(asynchronous=True), Native("n-1")

    result = asyncio.run(one.acall("pay", {"order": "A-1"}, native.later))

    assert result == {"order": "A-1", "by": "n-1"}


def test_a_refused_call_runs_nothing() -> None:
    run = Breaker().run()
    one, native = bridge(run), Native()
    run.interrupt("Enough.")

    assert is_refused(one.call("pay", {"order": "A-1"}, native))
    assert native.ran == []


def test_a_lost_write_is_settled_by_a_read_of_the_frameworks() -> None:
    one, native = bridge(), Native()
    native.lost = True

    with pytest.raises(TimeoutError):
        one.call("pay", {"order": "A-1"}, native)
    one.call("pay", {"order": "A-1"}, native)

    assert native.ran == [("pay", "A-1"), ("look", "A-1")]


def test_side_by_side_each_call_is_made_by_its_own() -> None:
    one = bridge()
    both = threading.Barrier(2)
    results: dict[str, Any] = {}

    def use(order: str) -> None:
        native = Native(order)

        def meets(name: str, arguments: dict[str, Any]) -> Any:
            both.wait(5)
            return native(name, arguments)

        results[order] = one.call("pay", {"order": order}, meets)

    threads = [threading.Thread(target=use, args=(order,)) for order in ("A-1", "A-2")]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert results == {each: {"order": each, "by": each} for each in ("A-1", "A-2")}


def test_as_tasks_too() -> None:
    one = bridge(asynchronous=True)

    async def use(order: str) -> Any:
        return await one.acall("pay", {"order": order}, Native(order).later)

    async def main() -> list[Any]:
        return await asyncio.gather(use("A-1"), use("A-2"))

    assert [each["by"] for each in asyncio.run(main())] == ["A-1", "A-2"]


def test_within_a_tool_another_call_is_made_by_its_own_and_then_the_first_goes_on() -> None:
    one, inner = bridge(), Native("inner")

    def outer(name: str, arguments: dict[str, Any]) -> Any:
        assert one.call("look", {"order": "A-2"}, inner)["by"] == "inner"
        return name

    assert one.call("pay", {"order": "A-1"}, outer) == "pay"


def test_what_nobody_declared_is_not_taken() -> None:
    one = Bridge(Breaker().run())

    with pytest.raises(UndeclaredToolError, match="delete"):
        one.take("delete", asynchronous=False)


def test_what_a_tool_says_about_itself_counts_and_what_is_declared_outweighs_it() -> None:
    run = Breaker().run()
    one = Bridge(run, {"pay": PAY})

    one.take("mail", asynchronous=False, spec=ToolSpec(name="mail", effect="write"))
    one.take("pay", asynchronous=False, spec=ToolSpec(name="pay", effect="read"))

    assert run.declared("mail").effect == "write"
    assert run.declared("pay").effect == "write"


def test_taken_twice_it_stays_what_it_was() -> None:
    run = Breaker().run()
    one = bridge(run)

    one.take("pay", asynchronous=True)

    assert one.call("pay", {"order": "A-1"}, Native("n")) == {"order": "A-1", "by": "n"}


@pytest.mark.parametrize(
    ("result", "is_one", "text"),
    [
        ({"refused": True, "reason": "denied"}, True, '{"refused": true, "reason": "denied"}'),
        ({"refused": "yes"}, False, '{"refused": "yes"}'),
        ("refused", False, "refused"),
        (None, False, "null"),
    ],
)
def test_results_as_text(result: Any, *, is_one: bool, text: str) -> None:
    assert (is_refused(result), as_text(result)) == (is_one, text)
