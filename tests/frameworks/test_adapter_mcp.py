"""The adapter of the Model Context Protocol: sessions and servers, in production and in a case."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, ClientSession
from mcp.server import MCPServer, Server
from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver.exceptions import ToolError

from pytest_tripwire import AMOUNT, NONCE, RESOURCE, WORDING, Harness, Options, Role, Task
from pytest_tripwire.adapters import Adoption, UnknownToolError
from pytest_tripwire.adapters.mcp import (
    GuardedSession,
    ServerMiddleware,
    adopt,
    definition,
    effect_of,
    guarded_session,
)
from pytest_tripwire.breaker import Breaker, BreakerRun, Interrupted, RunBudget
from pytest_tripwire.cases import CASE_IDS
from pytest_tripwire.guard import UndeclaredToolError
from pytest_tripwire.harness.failures import HarnessError
from pytest_tripwire.oracle import State
from pytest_tripwire.timeline import Decided, Dispatch, Effect, ModeChange, Timeline, ToolSpec

NEEDS = ["mcp", "openai"]

READS = types.ToolAnnotations(read_only_hint=True)
WRITES = types.ToolAnnotations(read_only_hint=False, destructive_hint=True)
REFUND = ToolSpec(
    name="refund_order", effect=Effect.WRITE, identity=("order_id",), wording=("note",)
)


# -- what the adapter rests on


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (ClientSession, "call_tool"),
        (ClientSession, "list_tools"),
        (Client, "call_tool"),
        (Client, "list_tools"),
        (MCPServer, "list_tools"),
        (MCPServer, "middleware"),
        (MCPServer, "name"),
        (MCPServer, "instructions"),
    ],
)
def test_the_package_still_has(owner: type, name: str) -> None:
    assert hasattr(owner, name), f"{owner.__name__}.{name} is gone: see adapters/mcp"


def test_servers_still_take_what_the_adapter_gives_them() -> None:
    assert {"on_list_tools", "on_call_tool"} <= set(inspect.signature(Server).parameters)
    assert "middleware" in inspect.signature(MCPServer).parameters
    assert isinstance(Server("a").middleware, list)


def test_the_context_of_a_request_still_tells_what_it_asks() -> None:
    fields = ServerRequestContext.__dataclass_fields__
    missing = {"method", "params", "request_id"} - set(fields)
    assert not missing, f"ServerRequestContext.{missing} is gone: see middleware.py"


def test_values_of_the_protocol_still_have_their_fields() -> None:
    assert {"content", "structured_content", "is_error"} <= set(types.CallToolResult.model_fields)
    assert {"tools", "next_cursor"} <= set(types.ListToolsResult.model_fields)
    hints = {"read_only_hint", "destructive_hint", "idempotent_hint"}
    assert hints <= set(types.ToolAnnotations.model_fields)


# -- the standard cases

MODES = ("auto", "legacy")


def agent_of(mode: str, connect: Callable[[Task], Any]) -> Callable[[Task], Any]:
    from openai import AsyncOpenAI

    async def agent(task: Task) -> str:
        url = task.model.base_url("openai")
        async with (
            Client(connect(task), mode=mode) as desk,
            AsyncOpenAI(base_url=url, api_key="any") as model,
        ):
            listed = (await desk.list_tools()).tools
            tools = [{"type": "function", "function": definition(each)} for each in listed]
            messages: list[Any] = [{"role": "user", "content": task.prompt}]
            for _ in range(80):
                reply = await model.chat.completions.create(
                    model=task.model.name, messages=messages, tools=tools
                )
                said = reply.choices[0].message
                messages.append(said)
                if not said.tool_calls:
                    return str(said.content)
                results = [desk.call_tool(*_named(each)) for each in said.tool_calls]
                for call, result in zip(
                    said.tool_calls, await asyncio.gather(*results), strict=True
                ):
                    text = result.content[0].text
                    messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
        return "I give up."

    return agent


def _named(call: Any) -> tuple[str, dict[str, Any]]:
    return call.function.name, json.loads(call.function.arguments)


@pytest.mark.parametrize("case", CASE_IDS)
@pytest.mark.parametrize("mode", MODES)
def test_a_client_of_the_case_s_server_is_contained(case: str, mode: str) -> None:
    run = Harness(case, agent_of(mode, lambda task: task.tools.mcp())).run()

    run.check()
    assert run.cell.state is State.CONTAINED
    stopped = [each.seq for each in run.events if isinstance(each, ModeChange)]
    late = [each for each in run.events if isinstance(each, Dispatch) and stopped]
    assert not [each for each in late if each.seq > stopped[0] and each.effect is not Effect.READ]


def test_what_a_tool_of_the_case_raises_is_told_as_a_server_does() -> None:
    texts: list[str] = []

    async def agent(task: Task) -> str:
        async with Client(task.tools.mcp()) as desk:
            given = {"order_id": "A-1001", "amount": 40.0, "reason": "x", "request_id": "r"}
            result = await desk.call_tool("issue_refund", given)
            unknown = await desk.call_tool("burn_it", {})
            assert result.is_error
            assert unknown.is_error
            texts.extend(each.content[0].text for each in (result, unknown))
        return "Done."

    Harness("lost-write", agent).run()

    assert texts == ["Error executing tool issue_refund", "Unknown tool: burn_it"]


# -- in production: a small shop


class Shop:
    """A server, and how often its tools have acted."""

    def __init__(self, **options: Any) -> None:
        self.refunds: list[str] = []
        self.searches = 0
        self.loses_answers = False
        self.server = MCPServer("shop", instructions="Be kind.", **options)
        self.server.add_tool(self.search_orders, annotations=READS)
        self.server.add_tool(self.refund_order, annotations=WRITES)

    def search_orders(self, query: str) -> dict[str, Any]:
        """Look for orders."""
        self.searches += 1
        return {"orders": []}

    def refund_order(self, order_id: str, note: str = "") -> dict[str, Any]:
        """Pay an order back."""
        self.refunds.append(order_id)
        if self.loses_answers:
            raise ToolError("no answer")
        return {"refund_id": f"R-{len(self.refunds)}"}


@asynccontextmanager
async def session_of(
    shop: Shop, run: BreakerRun, *, mode: str = "auto", low: bool = False, **more: Any
) -> AsyncIterator[GuardedSession]:
    async with Client(shop.server, mode=mode) as client:
        specs = {"refund_order": REFUND}
        yield guarded_session(client.session if low else client, run, specs, **more)


FORMS = pytest.mark.parametrize(
    ("mode", "low"),
    [("auto", False), ("legacy", False), ("auto", True), ("legacy", True)],
    ids=["client", "client-legacy", "session", "session-legacy"],
)


def play(body: Callable[[], Any]) -> Any:
    return asyncio.run(body())


@FORMS
def test_a_session_gives_the_server_s_own_results(mode: str, low: Any) -> None:
    shop = Shop()

    async def body() -> Any:
        with Breaker().run() as run:
            async with session_of(shop, run, mode=mode, low=low) as session:
                return await session.call_tool("refund_order", {"order_id": "A-1"})

    result = play(body)
    assert result.structured_content == {"refund_id": "R-1"}
    assert not result.is_error


@FORMS
def test_a_session_refuses_the_second_of_one_write(mode: str, low: Any) -> None:
    shop, timeline = Shop(), Timeline(lambda: 0.0)

    async def body() -> Any:
        with Breaker().run(timeline=timeline) as run:
            async with session_of(shop, run, mode=mode, low=low, agent="support") as session:
                await session.list_tools()
                return [
                    await session.call_tool("refund_order", given, call_id=f"call_{number}")
                    for number, given in enumerate({"order_id": "A-1", "note": n} for n in "ab")
                ]

    _, second = play(body)
    assert shop.refunds == ["A-1"]
    assert second.is_error
    assert json.loads(second.content[0].text)["reason"] == "duplicate_write"
    decided = [each for each in timeline.events() if isinstance(each, Decided)]
    assert [each.call_id for each in decided] == ["call_0", "call_1"]


def test_two_writes_at_once_are_one() -> None:
    shop = Shop()

    async def body() -> None:
        with Breaker().run() as run:
            async with session_of(shop, run) as session:
                calls = [
                    session.call_tool("refund_order", {"order_id": "A-1", "note": note})
                    for note in "abc"
                ]
                await asyncio.gather(*calls)

    play(body)
    assert shop.refunds == ["A-1"]


def test_a_result_that_is_an_error_leaves_a_write_unknown() -> None:
    shop = Shop()
    shop.loses_answers = True

    async def body() -> Any:
        async with session_of(shop, Breaker().run()) as session:
            given = {"order_id": "A-1"}
            return [await session.call_tool("refund_order", given) for _ in range(2)]

    first, second = play(body)
    assert "no answer" in first.content[0].text
    assert json.loads(second.content[0].text)["reason"] == "unknown_side_effect"
    assert shop.refunds == ["A-1"]


def test_a_sibling_of_the_call_that_stops_the_run_does_not_reach_the_server() -> None:
    shop = Shop()

    async def body() -> Any:
        async with session_of(shop, Breaker(budget=RunBudget(max_tool_calls=1)).run()) as session:
            return await asyncio.gather(
                session.call_tool("search_orders", {"query": "a"}),
                session.call_tool("refund_order", {"order_id": "A-1"}),
            )

    _, second = play(body)
    assert json.loads(second.content[0].text)["reason"] == "tool_call_budget"
    assert (shop.searches, shop.refunds) == (1, [])


def test_a_sibling_that_is_under_way_at_the_stop_comes_to_its_end() -> None:
    shop, begun, goes_on = Shop(), asyncio.Event(), asyncio.Event()

    async def slow_refund(order_id: str) -> str:
        begun.set()
        await goes_on.wait()
        shop.refunds.append(order_id)
        return "paid"

    shop.server.add_tool(slow_refund, annotations=WRITES)

    async def body() -> Any:
        run = Breaker().run()
        async with session_of(shop, run) as session:
            slow = asyncio.create_task(session.call_tool("slow_refund", {"order_id": "A-1"}))
            await begun.wait()
            run.interrupt("Somebody has pulled the plug.")
            refused = await session.call_tool("refund_order", {"order_id": "A-2"})
            goes_on.set()
            return run, await slow, refused

    run, slow, refused = play(body)
    assert slow.content[0].text == "paid"
    assert refused.is_error
    assert shop.refunds == ["A-1"]
    with pytest.raises(Interrupted) as stop, run:
        pass
    assert [str(each.status) for each in stop.value.record.writes] == ["confirmed"]


def test_a_stop_surfaces_whatever_the_agent_makes_of_it() -> None:
    shop = Shop()

    async def body() -> None:
        with Breaker(budget=RunBudget(max_tool_calls=1)).run() as run:
            async with session_of(shop, run) as session:
                for word in "abc":
                    await session.call_tool("search_orders", {"query": word})

    with pytest.raises(Interrupted, match="tool_call_budget"):
        play(body)
    assert shop.searches == 1


def test_a_hint_stands_beside_what_the_server_has_said() -> None:
    shop = Shop()

    async def body() -> Any:
        async with session_of(shop, Breaker().run()) as session:
            given = {"query": "a"}
            return [await session.call_tool("search_orders", given) for _ in range(2)]

    first, second = play(body)
    assert len(first.content) == 1
    assert second.structured_content == {"orders": []}
    assert "tripwire_hint" in json.loads(second.content[-1].text)


def test_a_tool_that_nobody_declared_is_an_error() -> None:
    shop = Shop()
    shop.server.add_tool(lambda: "x", name="burn_it", annotations=types.ToolAnnotations(title="x"))

    async def body() -> None:
        async with session_of(shop, Breaker().run()) as session:
            for undeclared in (session.list_tools(), session.call_tool("burn_it")):
                # Out of the block of a client it would come as a group of groups.
                with pytest.raises(UndeclaredToolError, match="burn_it"):
                    await undeclared

    play(body)


def test_the_word_of_a_server_that_is_not_trusted_declares_nothing() -> None:
    async def body() -> None:
        async with session_of(Shop(), Breaker().run(), hints=False) as session:
            with pytest.raises(UndeclaredToolError, match="search_orders"):
                await session.list_tools()

    play(body)


def test_half_a_call_is_not_guarded() -> None:
    shop = Shop()

    async def body() -> None:
        async with session_of(shop, Breaker().run(), low=True) as session:
            with pytest.raises(ValueError, match=r"guard the mcp\.Client"):
                await session.call_tool("refund_order", allow_input_required=True)

    play(body)
    assert shop.refunds == []


def paged(*names: str) -> Server[Any]:
    """A server that lists one tool a page."""

    async def listed(_context: Any, params: Any) -> Any:
        at = int((params and params.cursor) or 0)
        tool = types.Tool(name=names[at], input_schema={"type": "object"}, annotations=READS)
        more = str(at + 1) if at + 1 < len(names) else None
        return types.ListToolsResult(tools=[tool], next_cursor=more)

    async def called(_context: Any, params: Any) -> Any:
        return types.CallToolResult(content=[types.TextContent(type="text", text=params.name)])

    return Server("paged", on_list_tools=listed, on_call_tool=called)


@pytest.mark.parametrize("where", ["client", "session", "server"])
@pytest.mark.parametrize("mode", MODES)
def test_tools_of_later_pages_are_known_too(where: str, mode: str) -> None:
    server, run = paged("first", "second", "third"), Breaker().run()
    if where == "server":
        server.middleware.append(ServerMiddleware(lambda _context: run))

    async def body() -> Any:
        async with Client(server, mode=mode) as client:
            asked = {"client": client, "session": client.session, "server": None}[where]
            session = client if asked is None else guarded_session(asked, run)
            return await session.call_tool("third", {})

    assert play(body).content[0].text == "third"
    assert run.stats().calls == 1


@pytest.mark.parametrize(
    ("hints", "effect"),
    [
        (None, None),
        ({}, None),
        ({"title": "x", "open_world_hint": True}, None),
        ({"read_only_hint": True}, Effect.READ),
        ({"read_only_hint": False}, Effect.WRITE),
        ({"destructive_hint": False}, Effect.WRITE),
        ({"idempotent_hint": True}, Effect.WRITE),
    ],
)
def test_annotations_declare_an_effect_where_they_speak_of_one(
    hints: dict[str, Any] | None, effect: Effect | None
) -> None:
    assert effect_of(None if hints is None else types.ToolAnnotations(**hints)) is effect


# -- a server that asks


@pytest.mark.parametrize("mode", MODES)
def test_a_server_s_middleware_lets_one_write_through(mode: str) -> None:
    run = Breaker().run()
    shop = Shop(middleware=[ServerMiddleware(lambda _context: run, {"refund_order": REFUND})])

    async def body() -> Any:
        async with Client(shop.server, mode=mode) as client:
            return [
                await client.call_tool("refund_order", {"order_id": "A-1", "note": note})
                for note in "ab"
            ]

    first, second = play(body)
    assert first.structured_content == {"refund_id": "R-1"}
    assert json.loads(second.content[0].text)["reason"] == "duplicate_write"
    assert second.is_error
    assert shop.refunds == ["A-1"]


@pytest.mark.parametrize("mode", MODES)
def test_a_server_s_error_leaves_a_write_unknown_for_every_client(mode: str) -> None:
    run = Breaker().run()
    shop = Shop(middleware=[ServerMiddleware(lambda _context: run, {"refund_order": REFUND})])
    shop.loses_answers = True

    async def body() -> Any:
        results = []
        for _ in range(2):
            async with Client(shop.server, mode=mode) as client:
                results.append(await client.call_tool("refund_order", {"order_id": "A-1"}))
        return results

    first, second = play(body)
    assert "no answer" in first.content[0].text
    assert json.loads(second.content[0].text)["reason"] == "unknown_side_effect"
    assert shop.refunds == ["A-1"]


def test_each_piece_of_work_has_its_own_run() -> None:
    breaker = Breaker(budget=RunBudget(max_tool_calls=1))
    runs = [breaker.run(), breaker.run()]
    shop = Shop()
    turn = iter((0, 0, 1))
    shop.server.middleware.append(ServerMiddleware(lambda _context: runs[next(turn)]))

    async def body() -> Any:
        async with Client(shop.server) as client:
            given = {"query": "a"}
            return [await client.call_tool("search_orders", given) for _ in range(3)]

    assert [each.is_error for each in play(body)] == [False, True, False]


def test_wrong_arguments_are_told_by_the_server() -> None:
    run = Breaker().run()
    shop = Shop(middleware=[ServerMiddleware(lambda _context: run)])

    async def body() -> Any:
        async with Client(shop.server) as client:
            return await client.call_tool("search_orders", {"words": "a"})

    result = play(body)
    assert result.is_error
    assert "query" in result.content[0].text


def test_a_low_level_server_takes_the_middleware_too() -> None:
    run = Breaker(budget=RunBudget(max_tool_calls=1)).run()
    server = adopt(Shop().server, Adoption(Recorded(), ["search_orders", "refund_order"]))
    server.middleware.append(ServerMiddleware(lambda _context: run))

    async def body() -> Any:
        async with Client(server) as client:
            given = {"query": "a"}
            return [await client.call_tool("search_orders", given) for _ in range(2)]

    assert [each.is_error for each in play(body)] == [False, True]


def test_one_piece_of_work_taken_up_twice_writes_once() -> None:
    shop, breaker = Shop(), Breaker()

    async def body() -> None:
        for _ in range(2):
            with breaker.run(request_id="message-1") as run:
                async with session_of(shop, run) as session:
                    await session.call_tool("refund_order", {"order_id": "A-1"}, call_id="call_1")

    play(body)
    assert shop.refunds == ["A-1"]


def test_a_person_s_yes_lets_the_call_through() -> None:
    shop = Shop()
    asked = ToolSpec(
        name="refund_order", effect=Effect.WRITE, identity=("order_id",), requires_approval=True
    )

    async def body() -> None:
        with Breaker().run() as run:
            async with Client(shop.server) as client:
                session = guarded_session(client, run, {"refund_order": asked})
                given = {"order_id": "A-1"}
                first = await session.call_tool("refund_order", given, call_id="call_1")
                assert shop.refunds == []
                run.approve(json.loads(first.content[0].text)["call_id"])
                await session.call_tool("refund_order", given, call_id="call_1")

    play(body)
    assert shop.refunds == ["A-1"]


def test_an_observer_that_raises_changes_nothing() -> None:
    def observer(_event: Any) -> None:
        raise RuntimeError

    shop = Shop()

    async def body() -> None:
        with Breaker(on_event=observer).run() as run:
            async with session_of(shop, run) as session:
                for _ in range(2):
                    await session.call_tool("refund_order", {"order_id": "A-1"})

    play(body)
    assert shop.refunds == ["A-1"]


# -- taking a server over


class Recorded:
    """Calls that adopted tools have made."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []

    def call(self, name: str, arguments: Any, *, call_id: Any = None, agent: Any = None) -> Any:
        self.calls.append((name, arguments))
        return {"ok": True}

    async def acall(
        self, name: str, arguments: Any, *, call_id: Any = None, agent: Any = None
    ) -> Any:
        return self.call(name, arguments)


@pytest.mark.parametrize("inside", [False, True], ids=["outside-a-loop", "inside-a-loop"])
def test_an_adopted_server_looks_the_same_and_calls_somebody_else(inside: Any) -> None:
    shop, caller = Shop(), Recorded()

    async def taken() -> Any:
        return adopt(shop.server, Adoption(caller, ["search_orders", "refund_order"]))

    async def body() -> Any:
        server = await taken() if inside else outside
        async with Client(shop.server) as own, Client(server) as other:
            result = await other.call_tool("refund_order", {"order_id": "A-1"})
            listed = [(await each.list_tools()).tools for each in (own, other)]
            return result, listed, other.instructions

    outside = adopt(shop.server, Adoption(caller, ["search_orders", "refund_order"]))
    result, (own, other), instructions = play(body)
    assert json.loads(result.content[0].text) == {"ok": True}
    assert caller.calls == [("refund_order", {"order_id": "A-1"})]
    assert shop.refunds == []
    assert [definition(each) for each in own] == [definition(each) for each in other]
    assert [each.annotations for each in own] == [each.annotations for each in other]
    assert instructions == "Be kind."


def team_server() -> MCPServer[Any]:
    server = MCPServer("team")

    @server.tool(annotations=WRITES)
    def give_back(order: str, euros: float, why: str, slip: str) -> str:
        """Give a customer money back."""
        raise AssertionError("the team's own body is never run")

    return server


@pytest.mark.parametrize("mode", MODES)
def test_a_team_s_own_server_is_taken_over_whole(mode: str) -> None:
    server = team_server()
    (tool,) = asyncio.run(server.list_tools())
    means = {"order": RESOURCE, "euros": AMOUNT, "why": WORDING, "slip": NONCE}
    options = Options(roles={"write": Role(tool, means)})
    agent = agent_of(mode, lambda task: task.adopt(server))

    run = Harness("lost-write", agent, options=options).run()

    run.check()
    assert run.reason == "unknown_side_effect"
    assert [each.tool for each in run.events if isinstance(each, Dispatch)] == ["give_back"]


def test_a_task_names_every_tool_of_a_server_that_plays_no_role() -> None:
    def agent(task: Task) -> str:
        task.adopt(Shop().server)
        return "Done."

    with pytest.raises(HarnessError, match="'search_orders' of shop, 'refund_order' of shop"):
        Harness("empty-search", agent).run()


def test_a_server_of_many_pages_is_taken_over_whole() -> None:
    adoption = Adoption(Recorded(), ["first"])
    adopt(paged("first", "second", "third"), adoption)

    with pytest.raises(UnknownToolError, match="'second' of paged, 'third' of paged"):
        adoption.check()


def test_only_servers_are_taken_over() -> None:
    with pytest.raises(TypeError, match="give the server"):
        adopt(Client(Shop().server), Adoption(Recorded(), []))
