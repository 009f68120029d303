"""A client's guarded session: nothing of it reaches a tool unasked, whatever the server does
meanwhile.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, MCPError
from mcp.client.session_group import ClientSessionGroup
from mcp.server import MCPServer, Server
from mcp.server.caching import CacheHint
from mcp.server.mcpserver import Context  # noqa: TC002 - a server reads the annotations
from mcp.server.mcpserver.exceptions import ToolError

from pytest_tripwire.adapters.mcp import guarded_session
from pytest_tripwire.breaker import Breaker, BreakerRun, Interrupted
from pytest_tripwire.guard import UndeclaredToolError
from pytest_tripwire.timeline import Effect, ToolSpec

NEEDS = ["mcp"]

READS = types.ToolAnnotations(read_only_hint=True)
WRITES = types.ToolAnnotations(destructive_hint=True)
MODES = pytest.mark.parametrize("mode", ["auto", "legacy"])
PAY = ToolSpec(name="pay", effect=Effect.WRITE, identity=("invoice",))
GIVEN = {"invoice": "I-1"}


class Till:
    """A server, and the calls that have reached its tools."""

    def __init__(self, **options: Any) -> None:
        self.paid: list[str] = []
        self.looks = 0
        self.server = MCPServer("till", **options)
        self.server.add_tool(self.pay, annotations=WRITES)
        self.server.add_tool(self.find, annotations=READS)

    def pay(self, invoice: str) -> dict[str, Any]:
        """Pay an invoice."""
        self.paid.append(invoice)
        return {"payment_id": f"P-{len(self.paid)}"}

    def find(self, invoice: str) -> dict[str, Any]:
        """Look an invoice up."""
        self.looks += 1
        return {"invoice": invoice, "open": True}


def within(
    server: Any,
    body: Callable[[Client, BreakerRun], Any],
    mode: str = "auto",
    run: BreakerRun | None = None,
    **more: Any,
) -> Any:
    """What `body` gives, with a client of the server."""

    async def played() -> Any:
        async with Client(server, mode=mode, **more) as client:
            return await body(client, run or Breaker().run())

    return asyncio.run(played())


def reason(result: Any) -> str:
    return str(json.loads(result.content[0].text)["reason"])


# -- no way past it


@MODES
def test_the_session_of_a_guarded_client_asks_the_same_run(mode: str) -> None:
    till = Till()

    async def body(client: Client, run: BreakerRun) -> Any:
        guarded = guarded_session(client, run, {"pay": PAY}, agent="clerk")
        await guarded.call_tool("pay", GIVEN)
        return [await guarded.session.call_tool("pay", GIVEN) for _ in range(2)]

    assert {reason(each) for each in within(till.server, body, mode)} == {"duplicate_write"}
    assert till.paid == ["I-1"]


@MODES
def test_a_raw_request_calls_no_tool(mode: str) -> None:
    till = Till()
    calls = types.CallToolRequest(params=types.CallToolRequestParams(name="pay", arguments=GIVEN))

    async def body(client: Client, run: BreakerRun) -> Any:
        session = guarded_session(client, run).session
        with pytest.raises(ValueError, match="use call_tool"):
            await session.send_request(calls, types.CallToolResult)
        return await session.send_request(types.ListToolsRequest(), types.ListToolsResult)

    assert [each.name for each in within(till.server, body, mode).tools] == ["pay", "find"]
    assert till.paid == []


def test_a_server_in_this_process_is_not_handed_out() -> None:
    async def body(client: Client, run: BreakerRun) -> Any:
        guarded = guarded_session(client, run)
        assert not hasattr(guarded, "server")
        return guarded.server_info.name, guarded.protocol_version

    name, version = within(Till().server, body)
    assert name == "till"
    assert version


def test_a_group_of_sessions_is_refused_by_name() -> None:
    async def body() -> None:
        with pytest.raises(TypeError, match=r"ClientSessionGroup.*each of its sessions"):
            guarded_session(ClientSessionGroup(), Breaker().run())

    asyncio.run(body())


# -- tools that come and go


def cached() -> Any:
    """A server whose clients may keep what it has listed."""
    return {"cache_hints": {"tools/list": CacheHint(ttl_ms=600_000)}}


@pytest.mark.parametrize("options", [{}, cached()], ids=["plain", "cached"])
@MODES
def test_a_tool_that_was_added_since_is_taken_when_it_is_called(mode: str, options: Any) -> None:
    till = Till(**options)

    async def body(client: Client, run: BreakerRun) -> Any:
        guarded = guarded_session(client, run)
        await guarded.list_tools()
        await guarded.call_tool("find", GIVEN)
        till.server.add_tool(till.pay, name="pay_now", annotations=WRITES)
        return [await guarded.call_tool("pay_now", GIVEN) for _ in range(2)]

    first, second = within(till.server, body, mode)
    assert first.structured_content == {"payment_id": "P-1"}
    assert reason(second) == "duplicate_write"
    assert till.paid == ["I-1"]


@MODES
def test_an_added_tool_that_nobody_declared_bars_itself_alone(mode: str) -> None:
    till = Till()

    async def body(client: Client, run: BreakerRun) -> Any:
        guarded = guarded_session(client, run)
        await guarded.call_tool("find", GIVEN)
        till.server.add_tool(till.pay, name="burn")
        till.server.add_tool(till.find, name="seek", annotations=READS)
        with pytest.raises(UndeclaredToolError, match="burn"):
            await guarded.call_tool("burn", GIVEN)
        return [await guarded.call_tool(name, GIVEN) for name in ("pay", "seek", "made_up")]

    paid, sought, made_up = within(till.server, body, mode)
    assert not paid.is_error
    assert not sought.is_error
    assert reason(made_up) == "invalid_arguments"
    assert till.paid == ["I-1"]


def test_an_added_tool_is_never_taken_at_its_word_where_hints_are_none() -> None:
    till = Till()
    specs = {"pay": PAY, "find": ToolSpec(name="find", effect=Effect.READ)}

    async def body(client: Client, run: BreakerRun) -> None:
        guarded = guarded_session(client, run, specs, hints=False)
        await guarded.call_tool("find", GIVEN)
        till.server.add_tool(till.pay, name="peek", annotations=READS)
        with pytest.raises(UndeclaredToolError, match="peek"):
            await guarded.call_tool("peek", GIVEN)

    within(till.server, body)
    assert till.paid == []


def swapped(till: Till, annotations: Any) -> None:
    """The server has another tool now by a name that was a read's."""
    till.server.remove_tool("find")
    till.server.add_tool(till.pay, name="find", annotations=annotations)


@pytest.mark.parametrize("said", [WRITES, None], ids=["a-write", "nothing"])
@MODES
def test_a_read_that_says_so_no_longer_is_not_called(mode: str, said: Any) -> None:
    till = Till()

    async def body(client: Client, run: BreakerRun) -> Any:
        guarded = guarded_session(client, run)
        await guarded.call_tool("find", GIVEN)
        swapped(till, said)
        await guarded.list_tools()
        return await guarded.call_tool("find", GIVEN)

    result = within(till.server, body, mode)
    assert result.is_error
    assert "'find' otherwise" in result.content[0].text
    assert till.paid == []


def test_what_the_team_declares_outweighs_what_the_server_says_later() -> None:
    till = Till()
    read = ToolSpec(name="find", effect=Effect.READ, identity=("invoice",))

    async def body(client: Client, run: BreakerRun) -> Any:
        guarded = guarded_session(client, run, {"find": read})
        await guarded.call_tool("find", GIVEN)
        till.server.remove_tool("find")
        till.server.add_tool(till.find, annotations=WRITES)
        await guarded.list_tools()
        return await guarded.call_tool("find", GIVEN)

    assert not within(till.server, body).is_error
    assert till.looks == 2


def paged(*tools: types.Tool, called: Callable[[str], Any] = lambda name: name) -> Server[Any]:
    """A server that lists one tool a page."""

    async def listed(_context: Any, params: Any) -> Any:
        at = int((params and params.cursor) or 0)
        more = str(at + 1) if at + 1 < len(tools) else None
        return types.ListToolsResult(tools=[tools[at]], next_cursor=more)

    async def call(_context: Any, params: Any) -> Any:
        text = types.TextContent(type="text", text=called(params.name))
        return types.CallToolResult(content=[text])

    return Server("paged", on_list_tools=listed, on_call_tool=call)


def tool(name: str, annotations: Any = READS) -> types.Tool:
    return types.Tool(name=name, input_schema={"type": "object"}, annotations=annotations)


@MODES
def test_who_has_listed_the_last_page_alone_reaches_every_tool(mode: str) -> None:
    async def body(client: Client, run: BreakerRun) -> Any:
        guarded = guarded_session(client, run)
        await guarded.list_tools(cursor="2")
        return [await guarded.call_tool(name) for name in ("first", "second", "third")]

    server = paged(tool("first"), tool("second"), tool("third"))
    assert [each.content[0].text for each in within(server, body, mode)] == [
        "first",
        "second",
        "third",
    ]


@MODES
def test_the_read_that_settles_a_lost_write_is_known_from_a_page_that_nobody_asked_for(
    mode: str,
) -> None:
    paid: list[str] = []

    def called(name: str) -> str:
        if name == "ask":
            return json.dumps({"payment_id": "P-1"})
        paid.append(name)
        raise OSError("no answer")

    server = paged(tool("ask"), tool("lose", WRITES), called=called)
    lost = ToolSpec(
        name="lose",
        effect=Effect.WRITE,
        identity=("invoice",),
        reconcile="ask",
        result_id="payment_id",
    )

    async def body(client: Client, run: BreakerRun) -> Any:
        guarded = guarded_session(client, run, {"lose": lost})
        await guarded.list_tools(cursor="1")
        with pytest.raises(MCPError):
            await guarded.call_tool("lose", GIVEN)
        return await guarded.call_tool("lose", GIVEN)

    assert reason(within(server, body, mode)) == "duplicate_write"
    assert paid == ["lose"]


# -- what goes wrong on the way


@MODES
def test_a_body_that_raises_leaves_a_write_unknown(mode: str) -> None:
    till = Till()

    def lose(invoice: str) -> None:
        till.paid.append(invoice)
        raise RuntimeError("secret of the server")

    till.server.add_tool(lose, annotations=WRITES)

    async def body(client: Client, run: BreakerRun) -> Any:
        guarded = guarded_session(client, run)
        return [await guarded.call_tool("lose", GIVEN) for _ in range(2)]

    first, second = within(till.server, body, mode)
    assert first.is_error
    assert reason(second) == "unknown_side_effect"
    assert till.paid == ["I-1"]


def test_a_declared_failure_is_known_and_may_be_tried_again() -> None:
    till, tries = Till(), []

    def charge(invoice: str) -> str:
        tries.append(invoice)
        if len(tries) == 1:
            raise ToolError("not accepted")
        return "charged"

    till.server.add_tool(charge, annotations=WRITES)
    spec = ToolSpec(
        name="charge",
        effect=Effect.WRITE,
        identity=("invoice",),
        definite_failures=("error result",),
    )

    async def body(client: Client, run: BreakerRun) -> Any:
        guarded = guarded_session(client, run, {"charge": spec})
        return [await guarded.call_tool("charge", GIVEN) for _ in range(2)]

    first, second = within(till.server, body)
    assert (first.is_error, second.is_error) == (True, False)


def test_a_read_that_fails_settles_no_lost_write() -> None:
    till = Till()

    def lose(invoice: str) -> None:
        till.paid.append(invoice)
        raise ToolError("no answer")

    def ask(invoice: str) -> str:
        raise ToolError("")

    till.server.add_tool(lose, annotations=WRITES)
    till.server.add_tool(ask, annotations=READS)
    lost = ToolSpec(
        name="lose", effect=Effect.WRITE, identity=("invoice",), reconcile="ask", late_effect_s=0.0
    )

    async def body(client: Client, run: BreakerRun) -> Any:
        guarded = guarded_session(client, run, {"lose": lost})
        return [await guarded.call_tool("lose", GIVEN) for _ in range(2)]

    _, second = within(till.server, body)
    assert reason(second) == "unknown_side_effect"
    assert till.paid == ["I-1"]


@MODES
def test_a_call_that_is_cancelled_under_way_is_unknown(mode: str) -> None:
    till, begun = Till(), asyncio.Event()

    async def slow(invoice: str) -> None:
        till.paid.append(invoice)
        begun.set()
        await asyncio.Event().wait()

    till.server.add_tool(slow, annotations=WRITES)
    run = Breaker().run()

    async def body(client: Client, run: BreakerRun) -> Any:
        guarded = guarded_session(client, run)
        call = asyncio.create_task(guarded.call_tool("slow", GIVEN))
        await begun.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        return await guarded.call_tool("slow", GIVEN)

    assert reason(within(till.server, body, mode, run)) == "unknown_side_effect"
    with pytest.raises(Interrupted) as stop, run:
        pass
    assert [str(each.status) for each in stop.value.record.writes] == ["unknown"]
    assert till.paid == ["I-1"]


def test_a_client_that_hangs_up_under_way_leaves_it_unknown_and_a_new_one_pays_nothing() -> None:
    till, begun = Till(), asyncio.Event()

    async def slow(invoice: str) -> None:
        till.paid.append(invoice)
        begun.set()
        await asyncio.Event().wait()

    till.server.add_tool(slow, annotations=WRITES)
    breaker = Breaker()

    async def played() -> Any:
        async def connected(run: BreakerRun) -> Any:
            async with Client(till.server) as client:
                return await guarded_session(client, run).call_tool("slow", GIVEN, call_id="c1")

        lost = asyncio.create_task(connected(breaker.run(request_id="message-1")))
        await begun.wait()
        lost.cancel()
        await asyncio.gather(lost, return_exceptions=True)
        return await connected(breaker.run(request_id="message-1"))

    assert reason(asyncio.run(played())) == "unknown_side_effect"
    assert till.paid == ["I-1"]


def test_a_client_that_connects_anew_presents_the_same_call_in_vain() -> None:
    till, breaker = Till(), Breaker()
    run = breaker.run(request_id="message-1")

    async def body(client: Client, run: BreakerRun) -> Any:
        return await guarded_session(client, run).call_tool("pay", GIVEN, call_id="call-1")

    first = within(till.server, body, run=run)
    again = within(till.server, body, run=run)
    redelivered = within(till.server, body, run=breaker.run(request_id="message-1"))

    assert not first.is_error
    assert {reason(again), reason(redelivered)} == {"duplicate_write"}
    assert till.paid == ["I-1"]


def test_an_agent_that_swallows_every_refusal_is_stopped_all_the_same() -> None:
    till = Till()

    async def body(client: Client, run: BreakerRun) -> None:
        with run:
            guarded = guarded_session(client, run)
            for _ in range(9):
                await guarded.call_tool("find", GIVEN)

    with pytest.RaisesGroup(
        pytest.RaisesExc(Interrupted), allow_unwrapped=True, flatten_subgroups=True
    ):
        within(till.server, body)
    assert till.looks == 3


# -- what passes through


@MODES
def test_progress_and_what_else_is_asked_of_a_call_pass_through(mode: str) -> None:
    till, heard = Till(), []

    async def grind(invoice: str, context: Context) -> str:
        await context.report_progress(1, 2)
        return str((context.request_context.meta or {}).get("shop.example/task"))

    till.server.add_tool(grind, annotations=READS)

    async def note(progress: float, total: float | None, _message: str | None) -> None:
        heard.append((progress, total))

    async def body(client: Client, run: BreakerRun) -> Any:
        return await guarded_session(client, run).call_tool(
            "grind", GIVEN, progress_callback=note, meta={"shop.example/task": "T-1"}
        )

    assert within(till.server, body, mode).content[0].text == "T-1"
    assert heard == [(1, 2)]


@MODES
def test_a_server_may_say_refused_of_itself(mode: str) -> None:
    said = {"refused": True, "reason": "the bank says no"}
    till = Till()

    def apply(invoice: str) -> dict[str, Any]:
        return said

    till.server.add_tool(apply, annotations=READS)

    async def body(client: Client, run: BreakerRun) -> Any:
        guarded = guarded_session(client, run)
        return [await guarded.call_tool("apply", GIVEN) for _ in range(2)]

    first, hinted = within(till.server, body, mode)
    for each in (first, hinted):
        assert each.structured_content == said
        assert not each.is_error
    assert "tripwire_hint" in hinted.content[-1].text


def test_structure_that_breaks_the_tool_s_own_schema_leaves_a_write_unknown() -> None:
    paid: list[str] = []

    async def listed(_context: Any, _params: Any) -> Any:
        schema = {
            "type": "object",
            "properties": {"payment_id": {"type": "string"}},
            "required": ["payment_id"],
        }
        pay = types.Tool(
            name="pay", input_schema={"type": "object"}, output_schema=schema, annotations=WRITES
        )
        return types.ListToolsResult(tools=[pay])

    async def called(_context: Any, params: Any) -> Any:
        paid.append(params.arguments["invoice"])
        return types.CallToolResult(content=[], structured_content={"wrong": 1})

    async def body(client: Client, run: BreakerRun) -> Any:
        guarded = guarded_session(client, run)
        with pytest.raises(RuntimeError, match="structured content"):
            await guarded.call_tool("pay", GIVEN)
        return await guarded.call_tool("pay", GIVEN)

    server = Server("odd", on_list_tools=listed, on_call_tool=called)
    assert reason(within(server, body)) == "unknown_side_effect"
    assert paid == ["I-1"]
