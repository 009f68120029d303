"""Arguments that do not fit what a server lists begin nothing; whatever else goes wrong may."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, MCPError
from mcp.server import MCPServer, Server
from mcp.server.mcpserver.exceptions import ToolError

from pytest_tripwire.adapters.mcp import ServerMiddleware, guarded_session
from pytest_tripwire.breaker import Breaker, BreakerRun
from pytest_tripwire.timeline import Effect, ToolSpec

NEEDS = ["mcp"]

READS = types.ToolAnnotations(read_only_hint=True)
WRITES = types.ToolAnnotations(destructive_hint=True)
PAY = ToolSpec(name="pay", effect=Effect.WRITE, identity=("invoice",))
SIDES = pytest.mark.parametrize("side", ["client", "server"])


class Till:
    """A server of the package's own, and what was paid."""

    def __init__(self) -> None:
        self.paid: list[Any] = []
        self.server = MCPServer("till")
        self.server.add_tool(self.pay, annotations=WRITES)

    def pay(self, invoice: str, cents: int = 100, lines: list[int] | None = None) -> str:
        """Pay an invoice."""
        self.paid.append((invoice, cents, lines))
        return "paid"


@asynccontextmanager
async def guarded(
    side: str, server: Any, run: BreakerRun, spec: ToolSpec = PAY
) -> AsyncIterator[Any]:
    """What calls the server's tools, one of whose sides asks the run."""
    specs = {spec.name: spec}
    if side == "server":
        server.middleware.append(ServerMiddleware(lambda _context: run, specs))
    async with Client(server) as client:
        yield client if side == "server" else guarded_session(client, run, specs)


def play(
    side: str,
    server: Any,
    body: Callable[[Any], Any],
    run: BreakerRun | None = None,
    spec: ToolSpec = PAY,
) -> Any:
    async def played() -> Any:
        async with guarded(side, server, run or Breaker().run(), spec) as session:
            return await body(session)

    return asyncio.run(played())


def text(result: Any) -> str:
    return str(result.content[0].text)


def reason(result: Any) -> str:
    return str(json.loads(text(result))["reason"])


# -- what does not fit


@SIDES
def test_what_does_not_fit_is_told_and_keeps_nobody_from_paying(side: str) -> None:
    till, run = Till(), Breaker().run()

    async def body(session: Any) -> Any:
        unfit = [{"cents": 5}, {"invoice": "I-1", "cents": "five"}]
        return [
            *[await session.call_tool("pay", each) for each in unfit],
            await session.call_tool("pay", {"invoice": "I-1"}),
        ]

    with run:  # a write that nobody knows the end of would raise on the way out
        missing, wrong, paid = play(side, till.server, body, run)

    assert missing.is_error
    assert "'invoice' is a required property" in text(missing)
    assert wrong.is_error
    assert "cents: 'five' is not of type 'integer'" in text(wrong)
    assert (paid.is_error, till.paid) == (False, [("I-1", 100, None)])


@SIDES
def test_the_breaker_s_own_key_is_no_argument_that_is_missing(side: str) -> None:
    keys: list[str] = []
    server = MCPServer("till")

    def pay(invoice: str, key: str) -> str:
        keys.append(key)
        return "paid"

    server.add_tool(pay, annotations=WRITES)
    spec = ToolSpec(name="pay", effect=Effect.WRITE, identity=("invoice",), key_argument="key")

    async def body(session: Any) -> Any:
        return await session.call_tool("pay", {"invoice": "I-1"})

    assert not play(side, server, body, spec=spec).is_error
    assert len(keys) == 1


# -- what does


@SIDES
@pytest.mark.parametrize(
    ("more", "reached"),
    [
        ({"cents": "5"}, (5, None)),
        ({"lines": "[1, 2]"}, (100, [1, 2])),
        ({"lines": ["1", 2]}, (100, [1, 2])),
        ({"lines": None}, (100, None)),
        ({"remark": "not listed"}, (100, None)),
    ],
    ids=["number", "list", "within", "null", "more"],
)
def test_what_a_server_would_take_reaches_it(side: str, more: Any, reached: Any) -> None:
    till = Till()

    async def body(session: Any) -> Any:
        return await session.call_tool("pay", {"invoice": "7", **more})

    assert not play(side, till.server, body).is_error
    assert till.paid == [("7", *reached)]


def bare(schema: dict[str, Any], called: Callable[[], Any]) -> Server[Any]:
    """A server that lists any schema, and looks at nothing itself."""

    async def listed(_context: Any, _params: Any) -> Any:
        tool = types.Tool(name="pay", input_schema=schema, annotations=WRITES)
        return types.ListToolsResult(tools=[tool])

    async def call(_context: Any, _params: Any) -> Any:
        said = types.TextContent(type="text", text=str(called()))
        return types.CallToolResult(content=[said])

    return Server("bare", on_list_tools=listed, on_call_tool=call)


@SIDES
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"invoice": {"type": "no such type"}}},
        {"type": "object", "properties": {"invoice": {"$ref": "https://shop.example/invoice"}}},
        {"type": "object", "properties": {"invoice": {"pattern": "("}}},
    ],
    ids=["type", "elsewhere", "pattern"],
)
def test_a_schema_that_cannot_be_read_bars_nobody(side: str, schema: dict[str, Any]) -> None:
    async def body(session: Any) -> Any:
        return await session.call_tool("pay", {"invoice": "I-1"})

    assert text(play(side, bare(schema, lambda: "paid"), body)) == "paid"


@SIDES
def test_what_fits_a_tool_as_the_server_has_it_by_now_reaches_it(side: str) -> None:
    till = Till()

    def pay(invoice: str, cents: str) -> str:
        till.paid.append(cents)
        return "paid"

    async def body(session: Any) -> Any:
        await session.call_tool("pay", {"invoice": "I-1"})
        till.server.remove_tool("pay")
        till.server.add_tool(pay, annotations=WRITES)
        return await session.call_tool("pay", {"invoice": "I-2", "cents": "five"})

    assert not play(side, till.server, body).is_error
    assert till.paid == [("I-1", 100, None), "five"]


@SIDES
def test_a_run_that_only_watches_sends_what_does_not_fit(side: str) -> None:
    reached: list[str] = []
    schema = {"type": "object", "required": ["invoice"]}

    async def body(session: Any) -> Any:
        return await session.call_tool("pay", {})

    server, watches = bare(schema, lambda: reached.append("it")), Breaker(mode="shadow").run()
    play(side, server, body, watches)
    assert reached == ["it"]


# -- what proves nothing


def refuse_by_the_protocol() -> Any:
    raise MCPError(code=types.INVALID_PARAMS, message="Invalid request parameters")


def fail_to_read_an_answer() -> Any:
    # The package makes the protocol's "invalid params" of it, whoever has raised it.
    types.Tool.model_validate({})


def say_that_it_did_not_fit() -> Any:
    raise ToolError("1 validation error for payArguments")


@SIDES
@pytest.mark.parametrize(
    "fails",
    [refuse_by_the_protocol, fail_to_read_an_answer, say_that_it_did_not_fit],
)
def test_no_error_of_a_server_s_proves_that_nothing_has_begun(
    side: str, fails: Callable[[], Any]
) -> None:
    paid: list[str] = []

    def called() -> Any:
        paid.append("I-1")
        fails()

    async def body(session: Any) -> Any:
        with pytest.raises(MCPError):
            await session.call_tool("pay", {"invoice": "I-1"})
        return await session.call_tool("pay", {"invoice": "I-1"})

    server = bare({"type": "object"}, called)
    assert reason(play(side, server, body)) == "unknown_side_effect"
    assert paid == ["I-1"]
