"""The idempotency key that a tool is handed is the breaker's own, whatever a model makes up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_tripwire.breaker import Breaker, Outcome, Status, ToolCall, ToolSpec, tool_spec
from pytest_tripwire.ledger import MemoryLedger


class NothingHappenedError(Exception):
    """Comes before any effect."""


class Provider:
    """Knows keys, as providers of payments do."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.fates: list[str] = []

    @tool_spec(
        effect="write",
        identity=("order",),
        key_argument="key",
        definite_failures=(NothingHappenedError,),
    )
    def pay(self, order: str, amount: int = 1, key: str = "") -> str:
        self.keys.append(key)
        fate = self.fates.pop(0) if self.fates else "ok"
        if fate == "definite":
            raise NothingHappenedError
        if fate == "lost":
            raise TimeoutError
        return f"{order} {amount}"


def begun(provider: Provider, breaker: Breaker | None = None, **about: Any) -> Any:
    run = (breaker or Breaker()).run(**about)
    run.guard([provider.pay])
    return run


@pytest.fixture
def provider() -> Provider:
    return Provider()


def test_a_tool_gets_a_key_and_whoever_calls_it_need_not_know(provider: Provider) -> None:
    (pay,) = Breaker().run().guard([provider.pay])

    assert pay("A", 3) == "A 3"
    (key,) = provider.keys
    assert len(key) >= 32


def test_what_a_model_makes_up_is_ignored(provider: Provider) -> None:
    run = begun(provider)

    run.call("pay", {"order": "A", "key": "made-up-1"})
    told = run.call("pay", {"order": "A", "key": "made-up-2"})

    assert told["reason"] == "duplicate_write"
    assert "made-up-1" not in provider.keys


def test_every_attempt_at_one_thing_has_the_same_key(provider: Provider) -> None:
    run = begun(provider)
    provider.fates = ["definite", "definite", "ok"]
    for _ in range(2):
        with pytest.raises(NothingHappenedError):
            run.call("pay", {"order": "A"})
    run.call("pay", {"order": "A"})

    assert len(provider.keys) == 3
    assert len(set(provider.keys)) == 1


def test_another_thing_has_another_key(provider: Provider) -> None:
    run = begun(provider)
    for order, amount in (("A", 1), ("B", 1), ("B", 2)):
        run.call("pay", {"order": order, "amount": amount})

    assert len(set(provider.keys)) == 3


def test_doing_it_once_more_after_something_else_has_another_key(provider: Provider) -> None:
    """Or a provider would take putting a value back for the first time that it was put."""
    run = begun(provider)
    for amount in (1, 2, 1):
        assert run.call("pay", {"order": "A", "amount": amount}) == f"A {amount}"

    assert len(set(provider.keys)) == 3


def test_what_is_done_in_between_makes_no_other_attempt(provider: Provider) -> None:
    run = begun(provider)
    provider.fates = ["definite", "ok", "ok"]
    with pytest.raises(NothingHappenedError):
        run.call("pay", {"order": "A", "amount": 1})
    run.call("pay", {"order": "A", "amount": 2})
    run.call("pay", {"order": "A", "amount": 1})

    first, other, again = provider.keys
    assert first == again != other


def test_what_is_done_for_another_message_makes_no_other_attempt(provider: Provider) -> None:
    breaker = Breaker()
    provider.fates = ["definite", "ok", "ok"]
    with pytest.raises(NothingHappenedError):
        begun(provider, breaker, request_id="m-2").call("pay", {"order": "A"})
    begun(provider, breaker, request_id="m-1").call("pay", {"order": "A"})
    begun(provider, breaker, request_id="m-2").call("pay", {"order": "A"})

    first, other, again = provider.keys
    assert first == again != other


def test_after_the_user_has_spoken_it_is_another_act(provider: Provider) -> None:
    run = begun(provider)
    run.call("pay", {"order": "A"})
    run.user_message()
    run.call("pay", {"order": "A"})

    assert len(set(provider.keys)) == 2


def test_a_message_that_is_delivered_again_tries_with_the_same_key(provider: Provider) -> None:
    breaker = Breaker(store=MemoryLedger())
    provider.fates = ["definite", "ok"]
    with pytest.raises(NothingHappenedError):
        begun(provider, breaker, tenant="acme", request_id="m-1").call("pay", {"order": "A"})
    begun(provider, breaker, tenant="acme", request_id="m-1").call("pay", {"order": "A"})

    assert len(set(provider.keys)) == 1


@pytest.mark.parametrize(
    "about", [{"tenant": "umbrella", "request_id": "m-1"}, {"tenant": "acme", "request_id": "m-2"}]
)
def test_another_tenant_or_message_has_another_key(
    provider: Provider, about: dict[str, str]
) -> None:
    breaker = Breaker()
    begun(provider, breaker, tenant="acme", request_id="m-1").call("pay", {"order": "A"})
    begun(provider, breaker, **about).call("pay", {"order": "A"})

    assert len(set(provider.keys)) == 2


def test_a_write_that_is_watched_and_runs_twice_has_the_same_key() -> None:
    """So that a provider who knows keys does it once, though nothing was stopped."""
    provider = Provider()
    provider.fates = ["lost", "ok"]
    run = begun(provider, Breaker(mode="shadow"))
    with pytest.raises(TimeoutError):
        run.call("pay", {"order": "A"})
    run.call("pay", {"order": "A"})

    assert len(provider.keys) == 2
    assert len(set(provider.keys)) == 1


# -- however the argument is taken

TAKEN: dict[str, Callable[..., Any]] = {}


def taken(tool: Callable[..., Any]) -> Callable[..., Any]:
    TAKEN[tool.__name__] = tool
    return tool


@taken
def by_name(order: str, *, key: str) -> tuple[str, str]:
    return order, key


@taken
def by_position(key: str, order: str) -> tuple[str, str]:
    return order, key


@taken
def only_by_position(key: str, order: str, /) -> tuple[str, str]:
    return order, key


@taken
def with_the_rest(order: str, **rest: str) -> tuple[str, str]:
    return order, rest["key"]


@pytest.mark.parametrize("name", ["by_name", "by_position", "with_the_rest"])
def test_a_required_key_is_filled_in(name: str) -> None:
    spec = ToolSpec(name=name, effect="write", identity=("order",), key_argument="key")  # type: ignore[arg-type]
    run = Breaker().run()
    run.guard({name: TAKEN[name]}, {name: spec})

    order, key = run.call(name, {"order": "A"})

    assert order == "A"
    assert len(key) >= 32
    assert run.call(name, {"order": "B", "key": "made up"})[1] not in {"made up", key}


def test_a_key_that_is_passed_by_position_is_replaced() -> None:
    spec = ToolSpec(name="pay", effect="write", identity=("order",), key_argument="key")  # type: ignore[arg-type]
    run = Breaker().run()
    for name, tool in (("pay", only_by_position),):
        tools = run.guard({name: tool}, {name: spec})

    order, key = tools["pay"]("made up", "A")

    assert order == "A"
    assert key != "made up"


def test_arguments_that_are_wrong_are_told_of_as_ever(provider: Provider) -> None:
    run = begun(provider)

    told = run.call("pay", {"orders": "A"})

    assert told["reason"] == "invalid_arguments"
    assert "order" in told["message"]
    assert "key" not in told["message"].replace("keyword", "")


@given(st.text() | st.none() | st.integers() | st.lists(st.integers()))
def test_whatever_stands_in_its_place_makes_no_other_write(key: Any) -> None:
    provider = Provider()
    run = begun(provider)
    run.call("pay", {"order": "A"})

    assert run.call("pay", {"order": "A", "key": key})["reason"] == "duplicate_write"


def test_a_tool_without_the_argument_is_told_when_it_is_guarded() -> None:
    @tool_spec(effect="write", key_argument="key")
    def pay(order: str) -> None:
        del order

    with pytest.raises(TypeError, match="'pay' takes no argument 'key'"):
        Breaker().run().guard([pay])


def test_an_async_tool_gets_its_key_too() -> None:
    @tool_spec(effect="write", identity=("order",), key_argument="key")
    async def pay(order: str, key: str) -> str:
        await asyncio.sleep(0)
        return key

    (tool,) = Breaker().run().guard([pay])

    assert len(asyncio.run(tool(order="A"))) >= 32


def test_a_read_is_handed_none() -> None:
    @tool_spec(effect="read", key_argument="key")
    def look(order: str, key: str = "its own") -> str:
        return f"{order} {key}"

    (tool,) = Breaker().run().guard([look])

    assert tool("A") == "A its own"


def test_nobody_is_shown_what_a_model_has_made_up(provider: Provider) -> None:
    seen: list[dict[str, Any]] = []

    @tool_spec(effect="read", key_argument="key")
    def look(order: str, key: str = "") -> str:
        return f"{order} {key}"

    def policy(call: ToolCall, _spec: ToolSpec) -> None:
        seen.append(dict(call.arguments))

    run = Breaker(policy=policy).run()
    run.guard([provider.pay, look])
    run.call("pay", {"order": "A", "key": "made up"})
    run.call("look", {"order": "A", "key": "its own"})

    assert seen == [{"order": "A", "amount": 1}, {"order": "A", "key": "its own"}]


def test_a_made_up_key_makes_no_other_write_where_tools_are_run_elsewhere() -> None:
    spec = ToolSpec(name="pay", effect="write", identity=("order",), key_argument="key")  # type: ignore[arg-type]
    run = Breaker(specs={"pay": spec}).run()
    calls = [
        ToolCall(call_id=key, tool="pay", arguments={"order": "A", "key": key}) for key in "xy"
    ]
    assert run.decide(calls[0]).allowed
    run.settle(calls[0], Outcome(status=Status.OK))

    assert str(run.decide(calls[1]).reason) == "duplicate_write"


def test_whoever_runs_its_own_tools_asks_for_the_key() -> None:
    specs = {
        "pay": ToolSpec(name="pay", effect="write", identity=("order",)),  # type: ignore[arg-type]
        "look": ToolSpec(name="look", effect="read"),  # type: ignore[arg-type]
    }
    run = Breaker(specs=specs).run()
    keys = []
    for number in range(2):
        call = ToolCall(call_id=f"{number}", tool="pay", arguments={"order": "A"})
        assert run.decide(call).allowed
        keys.append(run.idempotency_key(call))
        run.settle(call, Outcome(status=Status.DEFINITE))
        with pytest.raises(KeyError):
            run.idempotency_key(call)
    look = ToolCall(call_id="3", tool="look", arguments={})
    run.decide(look)

    assert keys[0] == keys[1] is not None
    assert run.idempotency_key(look) is None
