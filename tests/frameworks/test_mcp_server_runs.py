"""A server that asks: whose run decides about a request, when it ends, and that it is let go."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any
from weakref import ref

import mcp_types as types
import pytest
from mcp import Client, MCPError
from mcp.server import MCPServer
from mcp.server.mcpserver import Context  # noqa: TC002 - a server reads the annotations

from pytest_tripwire.adapters.mcp import RunPerSession, ServerMiddleware
from pytest_tripwire.breaker import Breaker, BreakerRun, Interrupted, RunBudget
from pytest_tripwire.breaker.clock import SystemClock
from pytest_tripwire.timeline import Effect, InterruptionRecord, ToolSpec

NEEDS = ["mcp"]

READS = types.ToolAnnotations(read_only_hint=True)
WRITES = types.ToolAnnotations(destructive_hint=True)
SPECS = {"pay": ToolSpec(name="pay", effect=Effect.WRITE, identity=("invoice",), wording=("note",))}
GIVEN = {"invoice": "I-1"}
QUIET = 300.0
#: How many times one question is asked before its run is stopped.
ASKED = 3


class Clock(SystemClock):
    """Stands still until it is set."""

    at = 0.0

    def now(self) -> float:
        return self.at


class Watched(Breaker):
    """A breaker that knows which of its runs are still there."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.begun: list[ref[BreakerRun]] = []

    def run(self, **options: Any) -> BreakerRun:
        run = super().run(**options)
        self.begun.append(ref(run))
        return run

    @property
    def alive(self) -> int:
        gc.collect()
        return sum(each() is not None for each in self.begun)


class Till:
    """A server that asks, and the calls that have reached its tools."""

    def __init__(self, runs: Any) -> None:
        self.paid: list[str] = []
        self.looks = 0
        self.loses_answers = False
        self.server = MCPServer("till", middleware=[ServerMiddleware(runs, SPECS)])
        self.server.add_tool(self.pay, annotations=WRITES)
        self.server.add_tool(self.find, annotations=READS)

    def pay(self, invoice: str, note: str = "") -> dict[str, Any]:
        """Pay an invoice."""
        self.paid.append(invoice)
        if self.loses_answers:
            raise TimeoutError
        return {"payment_id": f"P-{len(self.paid)}"}

    def find(self, invoice: str) -> dict[str, Any]:
        """Look an invoice up."""
        self.looks += 1
        return {"invoice": invoice, "open": True}


def play(body: Callable[[], Any]) -> Any:
    return asyncio.run(body())


def connected(till: Till, mode: str = "legacy") -> Client:
    return Client(till.server, mode=mode)


def reason(result: Any) -> str:
    return str(json.loads(result.content[0].text)["reason"])


async def stopped(client: Client, **more: Any) -> bool:
    """Whether a client that asks one thing again and again is stopped."""
    results = [await client.call_tool("find", GIVEN, **more) for _ in range(ASKED + 1)]
    return bool(results[-1].is_error)


def task(name: str) -> Any:
    return {"meta": {"shop.example/task": name}}


def piece_of(context: Any) -> str:
    return str((context.meta or {}).get("shop.example/task", ""))


def tenant_of(context: Any) -> str:
    return str((context.meta or {}).get("shop.example/tenant", ""))


# -- what the adapter rests on


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_request_still_tells_its_connection(mode: str) -> None:
    seen: list[Any] = []

    async def look(context: Any, call_next: Callable[[Any], Any]) -> Any:
        seen.append(context.session._connection)  # noqa: SLF001 - see adapters/mcp/runs.py
        return await call_next(context)

    till = Till(Breaker())
    till.server.middleware.insert(0, look)

    async def body() -> None:
        async with connected(till, mode) as client:
            await client.call_tool("find", GIVEN)

    play(body)
    wanted = {"outbound", "exit_stack", "state", "protocol_version", "has_standalone_channel"}
    missing = [name for name in wanted if not hasattr(seen[-1], name)]
    assert not missing, f"Connection.{missing} is gone: see adapters/mcp/runs.py"


# -- one run for each session


def test_one_client_s_loop_stops_no_other() -> None:
    till = Till(Breaker())

    async def body() -> None:
        async with connected(till) as looping, connected(till) as other:
            assert await stopped(looping)
            assert not (await other.call_tool("find", GIVEN)).is_error
            assert (await looping.call_tool("find", {"invoice": "I-2"})).is_error

    play(body)
    assert till.looks == ASKED + 1


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_server_that_lives_long_serves_many_clients_of_one_question(mode: str) -> None:
    till = Till(Breaker(budget=RunBudget(max_tool_calls=5)))

    async def body() -> None:
        for _ in range(30):
            async with connected(till, mode) as client:
                for invoice in ("I-1", "I-1", "I-2"):
                    result = await client.call_tool("find", {"invoice": invoice})
                    assert not result.is_error

    play(body)
    assert till.looks == 90


def test_the_run_ends_with_the_session_and_its_record_is_told() -> None:
    told: list[InterruptionRecord] = []
    breaker = Breaker()
    runs = RunPerSession(breaker, workflow="till@1", told=told.append)
    till = Till(runs)

    async def body() -> None:
        async with connected(till) as client:
            await stopped(client)
            assert (len(runs), told) == (1, [])

    play(body)
    assert len(runs) == 0
    (record,) = told
    assert record.workflow == "till@1"
    assert breaker.store.record_of(record.run_id) == record


def test_a_session_that_ends_well_tells_nothing() -> None:
    told: list[InterruptionRecord] = []
    runs = RunPerSession(Breaker(), told=told.append)
    till = Till(runs)

    async def body() -> None:
        async with connected(till) as client:
            await client.call_tool("pay", GIVEN)

    play(body)
    assert (len(runs), told, till.paid) == (0, [], ["I-1"])


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_lost_write_is_held_for_every_client(mode: str) -> None:
    till = Till(RunPerSession(Breaker(), unnamed_writes=True))
    till.loses_answers = True

    async def body() -> Any:
        results = []
        for note in "ab":
            async with connected(till, mode) as client:
                results.append(await client.call_tool("pay", {**GIVEN, "note": note}))
        return results

    _, second = play(body)
    assert reason(second) == "unknown_side_effect"
    assert till.paid == ["I-1"]


# -- quiet sessions


def test_a_client_that_comes_back_now_and_then_is_never_stopped() -> None:
    clock = Clock()
    runs = RunPerSession(Breaker(clock=clock), quiet_s=QUIET)
    till = Till(runs)

    async def body() -> None:
        async with connected(till) as client:
            for _ in range(30):
                assert not (await client.call_tool("find", GIVEN)).is_error
                clock.at += QUIET
                assert len(runs) == 1

    play(body)
    assert till.looks == 30


def test_a_loop_without_a_pause_is_stopped_until_it_pauses() -> None:
    clock = Clock()
    till = Till(RunPerSession(Breaker(clock=clock), quiet_s=QUIET))

    async def body() -> None:
        async with connected(till) as client:
            for _ in range(9):
                clock.at += QUIET - 1
                last = await client.call_tool("find", GIVEN)
            assert last.is_error
            clock.at += QUIET
            assert not (await client.call_tool("find", GIVEN)).is_error

    play(body)
    assert till.looks == ASKED + 1


def test_a_run_is_not_ended_while_it_works() -> None:
    clock, begun, goes_on = Clock(), asyncio.Event(), asyncio.Event()
    told: list[InterruptionRecord] = []
    runs = RunPerSession(Breaker(clock=clock), quiet_s=QUIET, told=told.append)
    till = Till(runs)

    async def slow(invoice: str) -> str:
        begun.set()
        await goes_on.wait()
        return "paid"

    till.server.add_tool(slow, annotations=WRITES)

    async def body() -> Any:
        async with connected(till) as working, connected(till) as other:
            call = asyncio.create_task(working.call_tool("slow", GIVEN))
            await begun.wait()
            clock.at += 2 * QUIET
            await other.call_tool("find", GIVEN)
            assert (len(runs), told) == (2, [])
            goes_on.set()
            await call
            clock.at += QUIET - 1
            return await working.call_tool("slow", GIVEN)

    assert reason(play(body)) == "duplicate_write"
    assert told == []


def test_no_more_runs_are_kept_than_may_be() -> None:
    breaker = Watched(clock=Clock())
    runs = RunPerSession(breaker, most=2)
    till = Till(runs)

    async def body() -> None:
        async with AsyncExitStack() as stack:
            clients = [await stack.enter_async_context(connected(till)) for _ in range(5)]
            for client in clients:
                await client.call_tool("find", GIVEN)
            assert len(runs) <= 3  # the last one is in use when the others are counted

    play(body)


# -- pieces of work that have a name


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_named_piece_of_work_is_one_whoever_connects(mode: str) -> None:
    runs = RunPerSession(Breaker(), piece_of=piece_of)
    till = Till(runs)

    async def body() -> Any:
        for _ in range(ASKED):
            async with connected(till, mode) as client:
                assert not (await client.call_tool("find", GIVEN, **task("T-1"))).is_error
        async with connected(till, mode) as client:
            other = await client.call_tool("find", GIVEN, **task("T-2"))
            return other, await client.call_tool("find", GIVEN, **task("T-1"))

    other, again = play(body)
    assert (other.is_error, again.is_error) == (False, True)
    runs.close()
    assert len(runs) == 0


def test_a_named_piece_of_work_writes_once_though_it_was_quiet_between() -> None:
    clock = Clock()
    till = Till(RunPerSession(Breaker(clock=clock), piece_of=piece_of, quiet_s=QUIET))

    async def body() -> Any:
        async with connected(till, "auto") as client:
            await client.call_tool("pay", GIVEN, **task("T-1"))
        clock.at += QUIET
        async with connected(till, "auto") as client:
            again = await client.call_tool("pay", GIVEN, **task("T-1"))
            return again, await client.call_tool("pay", GIVEN, **task("T-2"))

    again, other = play(body)
    assert reason(again) == "duplicate_write"
    assert not other.is_error
    assert till.paid == ["I-1", "I-1"]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_two_tenants_share_nothing(mode: str) -> None:
    runs = RunPerSession(Breaker(), piece_of=piece_of, tenant_of=tenant_of)
    till = Till(runs)
    till.loses_answers = True

    async def body() -> Any:
        async with connected(till, mode) as client:
            return [
                await client.call_tool(
                    "pay",
                    GIVEN,
                    meta={"shop.example/task": "T-1", "shop.example/tenant": tenant},
                )
                for tenant in ("acme", "bolt", "acme")
            ]

    *_, again = play(body)
    assert till.paid == ["I-1", "I-1"]
    assert reason(again) == "unknown_side_effect"


# -- requests that belong to nothing


async def paid_twice(till: Till, mode: str, **more: Any) -> list[Any]:
    """One client's two calls of one payment."""
    async with connected(till, mode) as client:
        return [await client.call_tool("pay", GIVEN, **more) for _ in range(2)]


@pytest.mark.parametrize("runs", [Breaker(), RunPerSession(Breaker(), piece_of=piece_of)])
def test_a_write_that_nobody_could_know_again_does_not_run(
    runs: Any, caplog: pytest.LogCaptureFixture
) -> None:
    till = Till(runs)

    async def body() -> Any:
        async with connected(till, "auto") as client:
            calls = [client.call_tool(name, GIVEN) for name in ("pay", "pay", "find")]
            return [await each for each in calls]

    *refused, read = play(body)
    assert [each.is_error for each in refused] == [True, True]
    assert "piece_of" in refused[0].content[0].text
    assert caplog.text.count("unnamed_writes") == 1
    assert (till.paid, read.is_error) == ([], False)


@pytest.mark.parametrize(
    ("runs", "mode", "more", "paid"),
    [
        (RunPerSession(Breaker()), "legacy", {}, 1),
        (RunPerSession(Breaker(), piece_of=piece_of), "auto", task("T-1"), 1),
        (RunPerSession(Breaker(), unnamed_writes=True), "auto", {}, 2),
        (RunPerSession(Breaker(mode="shadow")), "auto", {}, 2),
    ],
    ids=["session", "named", "each-is-one", "shadow"],
)
def test_any_other_runs_once_for_each_piece_of_work(
    runs: Any, mode: str, more: Any, paid: int
) -> None:
    till = Till(runs)

    first, _ = play(lambda: paid_twice(till, mode, **more))

    assert not first.is_error
    assert till.paid == ["I-1"] * paid


def test_who_connects_anew_and_names_nothing_begins_other_work() -> None:
    till = Till(Breaker())

    for _ in range(2):
        play(lambda: paid_twice(till, "legacy"))

    assert till.paid == ["I-1"] * 2


# -- nothing is kept


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_runs_of_sessions_that_have_ended_are_let_go(mode: str) -> None:
    breaker = Watched()
    till = Till(breaker)

    async def body() -> None:
        for _ in range(20):
            async with connected(till, mode) as client:
                await client.call_tool("find", GIVEN)

    play(body)
    assert len(breaker.begun) == 20
    assert breaker.alive == 0


def test_runs_of_a_function_s_own_are_let_go_when_it_lets_go() -> None:
    breaker = Watched()
    kept: dict[str, BreakerRun] = {}

    def run_of(context: Any) -> BreakerRun:
        return kept.setdefault(piece_of(context), breaker.run())

    till = Till(run_of)

    async def body() -> None:
        async with connected(till, "auto") as client:
            for number in range(20):
                await client.call_tool("find", GIVEN, **task(f"T-{number}"))

    play(body)
    assert breaker.alive == 20
    kept.clear()
    assert breaker.alive == 0


# -- tools that come and go


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_tool_that_was_added_since_is_guarded_too(mode: str) -> None:
    run = Breaker().run()
    till = Till(lambda _context: run)

    async def body() -> Any:
        async with connected(till, mode) as client:
            await client.call_tool("find", GIVEN)
            till.server.add_tool(till.pay, name="pay_now", annotations=WRITES)
            return [await client.call_tool("pay_now", GIVEN) for _ in range(2)]

    first, second = play(body)
    assert not first.is_error
    assert reason(second) == "duplicate_write"
    assert till.paid == ["I-1"]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_an_added_tool_that_nobody_declared_does_not_run(mode: str) -> None:
    run = Breaker().run()
    till = Till(lambda _context: run)

    async def body() -> Any:
        async with connected(till, mode) as client:
            await client.call_tool("find", GIVEN)
            till.server.add_tool(till.pay, name="burn")
            with pytest.raises(MCPError):
                await client.call_tool("burn", GIVEN)
            return await client.call_tool("pay", GIVEN)

    assert not play(body).is_error
    assert till.paid == ["I-1"]


# -- what a client sees of it


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_progress_and_structure_pass_through(mode: str) -> None:
    till = Till(Breaker())
    heard: list[float] = []

    async def grind(invoice: str, context: Context) -> dict[str, Any]:
        await context.report_progress(1, 2)
        return {"invoice": invoice, "parts": [1, 2]}

    till.server.add_tool(grind, annotations=READS)

    async def note(progress: float, _total: float | None, _message: str | None) -> None:
        heard.append(progress)

    async def body() -> Any:
        async with connected(till, mode) as client:
            return await client.call_tool("grind", GIVEN, progress_callback=note)

    assert play(body).structured_content == {"invoice": "I-1", "parts": [1, 2]}
    assert heard == [1]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_what_is_under_way_at_a_stop_comes_to_its_end_and_nothing_else_begins(mode: str) -> None:
    run, begun, goes_on = Breaker().run(), asyncio.Event(), asyncio.Event()
    till = Till(lambda _context: run)

    async def slow(invoice: str) -> str:
        begun.set()
        await goes_on.wait()
        till.paid.append(invoice)
        return "paid"

    till.server.add_tool(slow, annotations=WRITES)

    async def body() -> Any:
        async with connected(till, mode) as client:
            call = asyncio.create_task(client.call_tool("slow", GIVEN))
            await begun.wait()
            run.interrupt("Somebody has pulled the plug.")
            late = await client.call_tool("pay", {"invoice": "I-2"})
            goes_on.set()
            return await call, late

    ended, late = play(body)
    assert (ended.content[0].text, reason(late)) == ("paid", "cancelled")
    assert till.paid == ["I-1"]
    record = run.close()
    assert record is not None
    assert [str(each.status) for each in record.writes] == ["confirmed"]


# -- hooks that fail


def failing(*_given: Any) -> Any:
    raise OSError("a hook of the team's")


@pytest.mark.parametrize(
    "runs",
    [
        failing,
        RunPerSession(Breaker(), tenant_of=failing),
        RunPerSession(Breaker(), piece_of=failing),
    ],
    ids=["run_of", "tenant_of", "piece_of"],
)
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_where_nobody_can_say_whose_a_call_is_it_does_not_run(mode: str, runs: Any) -> None:
    till = Till(runs)

    async def body() -> None:
        async with connected(till, mode) as client:
            with pytest.raises(MCPError):
                await client.call_tool("pay", GIVEN)

    play(body)
    assert till.paid == []


def test_whoever_is_told_and_fails_harms_no_other(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    runs = RunPerSession(Breaker(clock=clock), quiet_s=QUIET, told=failing)
    till = Till(runs)

    async def body() -> Any:
        async with connected(till) as looping, connected(till) as other:
            await stopped(looping)
            clock.at += QUIET
            return await other.call_tool("find", GIVEN)

    assert not play(body).is_error
    assert "could not be closed" in caplog.text


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_middleware_behind_it_that_fails_after_the_body_leaves_the_write_unknown(
    mode: str,
) -> None:
    till = Till(RunPerSession(Breaker(), unnamed_writes=True))

    async def failing_late(context: Any, call_next: Callable[[Any], Any]) -> Any:
        result = await call_next(context)
        if context.method == "tools/call":
            raise OSError("the log is full")
        return result

    till.server.middleware.append(failing_late)

    async def body() -> Any:
        async with connected(till, mode) as client:
            with pytest.raises(MCPError):
                await client.call_tool("pay", GIVEN)
            return await client.call_tool("pay", GIVEN)

    assert reason(play(body)) == "unknown_side_effect"
    assert till.paid == ["I-1"]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_call_that_a_client_cancels_under_way_is_unknown(mode: str) -> None:
    run, begun = Breaker().run(), asyncio.Event()
    till = Till(lambda _context: run)

    async def slow(invoice: str) -> None:
        till.paid.append(invoice)
        begun.set()
        await asyncio.Event().wait()

    till.server.add_tool(slow, annotations=WRITES)

    async def body() -> Any:
        async with connected(till, mode) as client:
            call = asyncio.create_task(client.call_tool("slow", GIVEN))
            await begun.wait()
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
            return await client.call_tool("slow", GIVEN)

    assert reason(play(body)) in {"unknown_side_effect", "duplicate_write"}
    with pytest.raises(Interrupted) as stop, run:
        pass
    assert [str(each.status) for each in stop.value.record.writes] == ["unknown"]
    assert till.paid == ["I-1"]
