"""A loop's own dispatch, guarded: one call at a time, and all calls of one message."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Callable
from typing import Any

import pytest

from pytest_tripwire import Breaker, Denial, RunBudget, ToolSpec
from pytest_tripwire.adapters import Bridge, NotBegun, in_order
from pytest_tripwire.adapters.callables import aguarded_dispatch, guarded_dispatch
from pytest_tripwire.guard import UndeclaredToolError
from pytest_tripwire.timeline import ToolCall

SPECS = {
    "search": ToolSpec(name="search", effect="read", identity=("topic",), wording=("words",)),
    "pay": ToolSpec(
        name="pay",
        effect="write",
        identity=("order",),
        volatile=("nonce",),
        definite_failures=("RejectedError",),
        denials=("PermissionError",),
    ),
}


class RejectedError(Exception):
    """Nothing happened."""


class Shop:
    """What a loop dispatches to, and what of it has run."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.raises: dict[str, BaseException] = {}
        self.waits: threading.Barrier | None = None

    def dispatch(self, name: str, arguments: dict[str, Any]) -> Any:
        what = " ".join([name, *map(str, arguments.values())])
        self.ran.append(what)
        if self.waits is not None:
            self.waits.wait(5)
        if what in self.raises:
            raise self.raises[what]
        return {"did": what} if name == "pay" else []

    async def adispatch(self, name: str, arguments: dict[str, Any]) -> Any:
        await asyncio.sleep(0)
        return self.dispatch(name, arguments)


def pay(call_id: str, order: str, **more: Any) -> ToolCall:
    return ToolCall(call_id=call_id, tool="pay", arguments={"order": order, **more})


def search(call_id: str, words: str) -> ToolCall:
    return ToolCall(call_id=call_id, tool="search", arguments={"topic": "lamp", "words": words})


@pytest.fixture
def shop() -> Shop:
    return Shop()


@pytest.fixture(params=["sync", "async"])
def use(request: pytest.FixtureRequest, shop: Shop) -> Callable[..., Any]:
    """Uses the shop by calls, or by one batch: `use(run, calls, batch=True)`."""

    def sync(run: Any, calls: list[ToolCall], *, batch: bool = False) -> list[Any]:
        guarded = guarded_dispatch(shop.dispatch, run, SPECS)
        if batch:
            return guarded.batch(calls)
        return [guarded(e.tool, e.arguments, call_id=e.call_id, agent=e.agent) for e in calls]

    async def asynchronous(run: Any, calls: list[ToolCall], *, batch: bool = False) -> list[Any]:
        guarded = aguarded_dispatch(shop.adispatch, run, SPECS)
        if batch:
            return await guarded.batch(calls)
        return [await guarded(e.tool, e.arguments, call_id=e.call_id) for e in calls]

    if request.param == "sync":
        return sync
    return lambda *given, **more: asyncio.run(asynchronous(*given, **more))


def test_a_call_that_is_let_through_is_run(use: Any, shop: Shop) -> None:
    with Breaker().run() as run:
        (result,) = use(run, [pay("c-1", "A-1")])

    assert result == {"did": "pay A-1"}
    assert shop.ran == ["pay A-1"]


def test_a_refused_call_does_not_run_and_says_why(use: Any, shop: Shop) -> None:
    run = Breaker(policy=lambda _call, _spec: Denial(rule="R-7", message="Not you.")).run()

    (result,) = use(run, [pay("c-1", "A-1")])

    assert (result["refused"], result["reason"]) == (True, "denied")
    assert shop.ran == []


def test_call_ids_and_agents_are_handed_on(shop: Shop) -> None:
    seen: list[ToolCall] = []

    def policy(call: ToolCall, _spec: ToolSpec) -> None:
        seen.append(call)

    guarded = guarded_dispatch(shop.dispatch, Breaker(policy=policy).run(), SPECS)
    guarded("pay", {"order": "A-1"}, call_id="c-7", agent="billing")

    assert [(each.call_id, each.agent) for each in seen] == [("c-7", "billing")]


def test_what_a_tool_raises_comes_through_and_is_settled(shop: Shop) -> None:
    shop.raises["pay A-1"] = TimeoutError()
    run = Breaker().run()
    guarded = guarded_dispatch(shop.dispatch, run, SPECS)

    with pytest.raises(TimeoutError):
        guarded("pay", {"order": "A-1"})
    again = guarded("pay", {"order": "A-1"})

    assert again["reason"] == "unknown_side_effect"
    assert shop.ran == ["pay A-1"]


def test_nobody_declared_it_so_nothing_runs(use: Any, shop: Shop) -> None:
    unknown = ToolCall(call_id="c-2", tool="delete", arguments={})

    for batch in (False, True):
        with pytest.raises(UndeclaredToolError, match="delete"):
            use(Breaker().run(), [unknown, pay("c-1", "A-1")], batch=batch)

    assert shop.ran == []


def test_declarations_of_the_breaker_count_too(shop: Shop) -> None:
    guarded = guarded_dispatch(shop.dispatch, Breaker(specs=SPECS).run())

    assert guarded("pay", {"order": "A-1"}) == {"did": "pay A-1"}


class Later:
    """A dispatch whose call is async, whatever it is written as."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop

    async def __call__(self, name: str, arguments: dict[str, Any]) -> Any:
        return self.shop.dispatch(name, arguments)


async def tenants(_tenant: str, name: str, arguments: dict[str, Any], *, shop: Shop) -> Any:
    return shop.dispatch(name, arguments)


ASYNC: dict[str, Callable[[Shop], Any]] = {
    "function": lambda shop: shop.adispatch,
    "object": Later,
    "partial": lambda shop: functools.partial(tenants, "acme", shop=shop),
}


@pytest.mark.parametrize("form", ASYNC)
def test_an_async_function_is_told_where_it_belongs(shop: Shop, form: str) -> None:
    with pytest.raises(TypeError, match="aguarded_dispatch"):
        guarded_dispatch(ASYNC[form](shop), Breaker().run(), SPECS)


@pytest.mark.parametrize("form", ASYNC)
def test_where_it_belongs_each_of_them_runs(shop: Shop, form: str) -> None:
    guarded = aguarded_dispatch(ASYNC[form](shop), Breaker().run(), SPECS)

    assert asyncio.run(guarded("pay", {"order": "A-1"})) == {"did": "pay A-1"}


def test_what_shows_only_in_its_result_is_told_and_not_taken_for_a_tool_s_answer(
    shop: Shop,
) -> None:
    def hidden(name: str, arguments: dict[str, Any]) -> Any:
        return shop.adispatch(name, arguments)

    guarded = guarded_dispatch(hidden, Breaker().run(), SPECS)

    with pytest.raises(TypeError, match="aguarded_dispatch"):
        guarded("pay", {"order": "A-1"})
    with pytest.raises(TypeError, match="aguarded_dispatch"):
        guarded.batch([pay("c-2", "A-2"), pay("c-3", "A-3")])
    assert shop.ran == []


def test_a_function_that_is_not_async_works_in_the_async_form(shop: Shop) -> None:
    run = Breaker().run()
    guarded = aguarded_dispatch(shop.dispatch, run, SPECS)

    assert asyncio.run(guarded("pay", {"order": "A-1"})) == {"did": "pay A-1"}
    assert asyncio.run(guarded.batch([pay("c-2", "A-2")])) == [{"did": "pay A-2"}]
    assert asyncio.run(guarded("pay", {"order": "A-1"}))["reason"] == "duplicate_write"


# -- one message


def test_of_the_same_write_twice_in_one_message_one_is_run(use: Any, shop: Shop) -> None:
    calls = [pay("c-1", "A-1", nonce="n-1"), pay("c-2", "A-1", nonce="n-2")]

    first, second = use(Breaker().run(), calls, batch=True)

    assert first == {"did": "pay A-1 n-1"}
    assert second["refused"] is True
    assert shop.ran == ["pay A-1 n-1"]


def test_a_message_that_asks_for_more_than_there_is_stops_the_run_before_any_of_it_has_run(
    use: Any, shop: Shop
) -> None:
    run = Breaker(budget=RunBudget(max_side_effects=2)).run()

    results = use(run, [pay(f"c-{n}", f"A-{n}") for n in range(4)], batch=True)

    assert [each["refused"] for each in results] == [True] * 4
    assert {each["reason"] for each in results} == {"side_effect_budget"}
    assert shop.ran == []
    assert [each.spent for each in run.budgets()] == [0]


def test_calls_of_one_message_run_side_by_side(shop: Shop) -> None:
    shop.waits = threading.Barrier(3)
    guarded = guarded_dispatch(shop.dispatch, Breaker().run(), SPECS)

    results = guarded.batch([pay(f"c-{n}", f"A-{n}") for n in range(3)])

    assert results == [{"did": f"pay A-{n}"} for n in range(3)]


def test_an_exception_stands_in_its_place_and_the_others_are_run(use: Any, shop: Shop) -> None:
    shop.raises["pay A-1"] = TimeoutError("no answer")
    run = Breaker().run()

    lost, good = use(run, [pay("c-1", "A-1"), pay("c-2", "A-2")], batch=True)

    assert isinstance(lost, TimeoutError)
    assert good == {"did": "pay A-2"}
    (again,) = use(run, [pay("c-3", "A-1")], batch=True)
    assert again["reason"] == "unknown_side_effect"


def test_a_definite_failure_may_be_tried_again(use: Any, shop: Shop) -> None:
    shop.raises["pay A-1"] = RejectedError()
    run = Breaker().run()

    (failed,) = use(run, [pay("c-1", "A-1")], batch=True)
    shop.raises.clear()
    (again,) = use(run, [pay("c-2", "A-1")], batch=True)

    assert isinstance(failed, RejectedError)
    assert again == {"did": "pay A-1"}


@pytest.mark.parametrize("batch", [True, False])
def test_a_function_may_answer_before_anything_has_begun(
    use: Any,
    shop: Shop,
    batch: bool,  # noqa: FBT001
) -> None:
    shop.raises["pay A-1"] = NotBegun({"error": "a note is missing"})
    run = Breaker().run()

    (told,) = use(run, [pay("c-1", "A-1")], batch=batch)
    shop.raises.clear()
    (again,) = use(run, [pay("c-2", "A-1")], batch=batch)

    assert told == {"error": "a note is missing"}
    assert again == {"did": "pay A-1"}


def test_an_empty_message(use: Any) -> None:
    assert use(Breaker().run(), [], batch=True) == []


def test_a_fruitless_call_of_a_message_carries_a_hint(use: Any, shop: Shop) -> None:
    shop.dispatch = lambda _name, _arguments: {"found": []}  # type: ignore[method-assign]
    run = Breaker().run()

    results = [
        use(run, [search(f"c-{n}", words)], batch=True)[0]
        for n, words in enumerate(("a lamp", "some lamp", "lamps", "the lamp"))
    ]

    assert "tripwire_hint" in results[1]
    assert results[-1]["refused"] is True


def test_a_stop_that_comes_between_refuses_what_was_let_through(shop: Shop) -> None:
    run = Breaker().run()
    guarded = guarded_dispatch(shop.dispatch, run, SPECS)
    calls = [pay("c-1", "A-1"), pay("c-2", "A-2")]
    guarded("search", {"topic": "lamp", "words": "a"})

    verdicts = run.decide_batch(calls)
    run.interrupt("Enough.")
    results = [run.perform(call, verdict) for call, verdict in zip(calls, verdicts, strict=True)]

    assert all(verdict.allowed for verdict in verdicts)
    assert all(each["refused"] for each in results)
    assert shop.ran == ["search lamp a"]


def test_calls_that_are_cancelled_together_are_settled_each() -> None:
    begun: list[str] = []
    both = asyncio.Event()
    run = Breaker(budget=RunBudget(max_side_effects=2)).run()

    async def forever(_name: str, arguments: dict[str, Any]) -> None:
        begun.append(arguments["order"])
        if len(begun) == 2:
            both.set()
        await asyncio.sleep(60)

    async def main() -> None:
        guarded = aguarded_dispatch(forever, run, SPECS)
        batch = asyncio.ensure_future(guarded.batch([pay("c-1", "A-1"), pay("c-2", "A-2")]))
        await both.wait()
        batch.cancel()
        with pytest.raises(asyncio.CancelledError):
            await batch

    asyncio.run(main())

    again = guarded_dispatch(lambda _name, _arguments: "paid", run, SPECS)
    assert [again("pay", {"order": each})["reason"] for each in begun] == [
        "unknown_side_effect",
        "unknown_side_effect",
    ]


def test_what_was_not_begun_when_a_batch_ended_early_is_taken_back(shop: Shop) -> None:
    run = Breaker(budget=RunBudget(max_side_effects=2)).run()
    bridge = Bridge(run, SPECS)
    bridge.take("pay", asynchronous=False)
    shop.raises["pay A-1"] = KeyboardInterrupt()

    with pytest.raises(KeyboardInterrupt):
        in_order(bridge, [pay("c-1", "A-1"), pay("c-2", "A-2")], shop.dispatch)

    assert [each.spent for each in run.budgets()] == [1]
    assert shop.ran == ["pay A-1"]


# -- a cancellation of a tool's own, and one of the batch


def _under(name: str, main: Callable[[], Any]) -> Any:
    if name == "asyncio":
        return asyncio.run(asyncio.wait_for(main(), 5))
    trio = pytest.importorskip("trio")

    async def limited() -> Any:
        with trio.fail_after(5):
            return await main()

    return trio.run(limited)


async def _leaks_its_own_scope() -> None:
    import trio

    kept: BaseException | None = None
    with trio.CancelScope() as scope:
        scope.cancel()
        try:
            await trio.lowlevel.checkpoint()
        except trio.Cancelled as error:
            kept = error
            raise
    assert kept is not None
    raise kept


async def _raises_it() -> None:
    raise asyncio.CancelledError


async def _awaits_what_somebody_has_cancelled() -> None:
    future = asyncio.get_running_loop().create_future()
    future.cancel()
    await future


async def _cancels_its_own_task() -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("loop", "cancels"),
    [
        ("asyncio", _raises_it),
        ("asyncio", _awaits_what_somebody_has_cancelled),
        ("asyncio", _cancels_its_own_task),
        ("trio", _raises_it),
        ("trio", _leaks_its_own_scope),
    ],
)
def test_a_cancellation_of_a_tool_s_own_is_its_answer(
    shop: Shop, loop: str, cancels: Callable[[], Any]
) -> None:
    async def dispatch(name: str, arguments: dict[str, Any]) -> Any:
        result = shop.dispatch(name, arguments)
        if arguments["order"] == "A-1":
            await cancels()
        return result

    async def main() -> list[Any]:
        guarded = aguarded_dispatch(dispatch, run, SPECS)
        calls = [pay("c-1", "A-1"), pay("c-2", "A-2"), pay("c-3", "A-3")]
        return [*await guarded.batch(calls), *await guarded.batch([pay("c-4", "A-1")])]

    run = Breaker().run()
    lost, second, third, again = _under(loop, main)

    assert type(lost).__name__ in {"CancelledError", "Cancelled"}
    assert (second, third) == ({"did": "pay A-2"}, {"did": "pay A-3"})
    # It had begun, and nobody knows what became of it.
    assert again["reason"] == "unknown_side_effect"


def test_without_tasks_too(shop: Shop) -> None:
    shop.raises["pay A-1"] = asyncio.CancelledError()
    guarded = guarded_dispatch(shop.dispatch, Breaker().run(), SPECS)

    lost, good = guarded.batch([pay("c-1", "A-1"), pay("c-2", "A-2")])

    assert isinstance(lost, asyncio.CancelledError)
    assert good == {"did": "pay A-2"}


def test_under_trio_calls_that_are_cancelled_together_are_settled_each() -> None:
    trio = pytest.importorskip("trio")
    begun: list[str] = []
    run = Breaker(budget=RunBudget(max_side_effects=2)).run()

    async def main() -> None:
        with trio.CancelScope() as scope:

            async def forever(_name: str, arguments: dict[str, Any]) -> None:
                begun.append(arguments["order"])
                if len(begun) == 2:
                    scope.cancel()
                await trio.sleep_forever()

            guarded = aguarded_dispatch(forever, run, SPECS)
            await guarded.batch([pay("c-1", "A-1"), pay("c-2", "A-2")])
            raise AssertionError("it was cancelled")

    trio.run(main)

    again = guarded_dispatch(lambda _name, _arguments: "paid", run, SPECS)
    assert {again("pay", {"order": each})["reason"] for each in begun} == {"unknown_side_effect"}


def test_under_trio(shop: Shop) -> None:
    trio = pytest.importorskip("trio")

    async def dispatch(name: str, arguments: dict[str, Any]) -> Any:
        await trio.sleep(0)
        return shop.dispatch(name, arguments)

    async def main() -> list[Any]:
        guarded = aguarded_dispatch(dispatch, Breaker().run(), SPECS)
        return await guarded.batch([pay("c-1", "A-1"), pay("c-2", "A-1"), pay("c-3", "A-3")])

    first, second, third = trio.run(main)

    assert (first, third) == ({"did": "pay A-1"}, {"did": "pay A-3"})
    assert second["refused"] is True
