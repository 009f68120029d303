"""One guard in front of each body on Pydantic AI: whoever gave it, and whichever way a run goes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pydantic_ai import Agent, DeferredToolRequests, RunContext
from pydantic_ai import messages as parts
from pydantic_ai.capabilities import Toolset
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from pydantic_ai.realtime import RealtimeModel
from pydantic_ai.realtime.codec import RealtimeConnection, ToolCall
from pydantic_ai.realtime.lifecycle import InferredLifecycle
from pydantic_ai.toolsets import FunctionToolset, WrapperToolset

from pytest_tripwire.adapters import Adoption
from pytest_tripwire.adapters.pydantic_ai import Tripwire, adopt
from pytest_tripwire.breaker import Breaker, BreakerEvent, ToolSpec
from pytest_tripwire.timeline import Decided

NEEDS = ("pydantic-ai-slim",)

PAY = ToolSpec(name="pay", effect="write", identity=("invoice",), result_id="payment_id")
FIND = ToolSpec(name="find", effect="read")
ASK = ToolSpec(name="ask", effect="handoff")
SPECS = {each.name: each for each in (PAY, FIND, ASK)}
ONE = ("pay", {"invoice": "I-1"})


def answers(*turns: Any) -> Any:
    """What the model says, or calls, turn by turn; the last again and again."""

    def answer(messages: list[Any], _: Any) -> parts.ModelResponse:
        number = sum(isinstance(each, parts.ModelResponse) for each in messages)
        turn = turns[min(number, len(turns) - 1)]
        if isinstance(turn, str):
            return parts.ModelResponse(parts=[parts.TextPart(turn)])
        name, given = turn
        call = parts.ToolCallPart(name, given, tool_call_id=f"call-{number}")
        return parts.ModelResponse(parts=[call])

    return answer


def streams(*turns: Any) -> FunctionModel:
    """The same, whole or in pieces."""

    async def pieces(messages: list[Any], info: Any) -> AsyncIterator[Any]:
        (part,) = answers(*turns)(messages, info).parts
        if isinstance(part, parts.TextPart):
            yield part.content
        else:
            yield {0: DeltaToolCall(part.tool_name, tool_call_id=part.tool_call_id)}
            yield {0: DeltaToolCall(json_args=part.args_as_json_str())}

    return FunctionModel(answers(*turns), stream_function=pieces)


class Bank:
    def __init__(self, fails: Exception | None = None) -> None:
        self.paid: list[str] = []
        self.fails = fails

    async def pay(self, invoice: str) -> dict[str, str]:
        """Pay an invoice."""
        self.paid.append(invoice)
        if self.fails is not None:
            raise self.fails
        return {"payment_id": f"P-{len(self.paid)}"}


def told(messages: Any) -> list[Any]:
    """What the model was told of its calls."""
    found = [each for message in messages for each in message.parts]
    return [each.content for each in found if isinstance(each, parts.ToolReturnPart)]


# -- two capabilities


def test_one_given_to_the_agent_and_one_to_its_run_are_one() -> None:
    bank, events = Bank(), list[BreakerEvent]()
    model = FunctionModel(answers(ONE, ("find", {}), "Done."))

    with Breaker(on_event=events.append).run() as guarded:
        agent = Agent(
            model,
            tools=[bank.pay],
            capabilities=[Tripwire(guarded, {"pay": PAY})],
        )
        agent.tool_plain(lambda: "found", name="find")
        result = asyncio.run(agent.run("Go", capabilities=[Tripwire(guarded, {"find": FIND})]))

    assert told(result.all_messages()) == [{"payment_id": "P-1"}, "found"]
    decided = [each.tool for each in events if isinstance(each, Decided)]
    assert decided == ["pay", "find"]
    assert guarded.stats().turns == 3


def test_an_output_function_under_two_of_them_is_asked_for_once() -> None:
    bank, events = Bank(), list[BreakerEvent]()

    def answer(_: Any, info: Any) -> parts.ModelResponse:
        call = parts.ToolCallPart(info.output_tools[0].name, {"invoice": "I-1"})
        return parts.ModelResponse(parts=[call])

    with Breaker(on_event=events.append).run() as guarded:
        agent = Agent(
            FunctionModel(answer), output_type=bank.pay, capabilities=[Tripwire(guarded, SPECS)]
        )
        asyncio.run(agent.run("Go", capabilities=[Tripwire(guarded)]))

    assert bank.paid == ["I-1"]
    assert [each.tool for each in events if isinstance(each, Decided)] == ["pay"]


@pytest.mark.parametrize("where", ["agent", "run"])
def test_of_two_of_them_each_may_ask_a_person_in_the_way_of_the_framework(where: str) -> None:
    bank = Bank()
    asked = ToolSpec(name="pay", effect="write", requires_approval=True)

    with Breaker(specs={"pay": asked}).run() as guarded:
        agent = Agent(
            FunctionModel(answers(ONE)),
            tools=[bank.pay],
            output_type=[str, DeferredToolRequests],
            capabilities=[Tripwire(guarded, defer=where == "agent")],
        )
        capability = Tripwire(guarded, defer=where == "run")
        result = asyncio.run(agent.run("Go", capabilities=[capability]))

    assert isinstance(result.output, DeferredToolRequests)


@pytest.mark.parametrize("what", ["two runs", "two declarations"])
def test_two_that_differ_are_refused_before_the_model_is_asked(what: str) -> None:
    asked: list[Any] = []
    other = {**SPECS, "pay": FIND}

    def answer(messages: list[Any], _: Any) -> parts.ModelResponse:
        asked.append(messages)
        return parts.ModelResponse(parts=[parts.TextPart("Done.")])

    breaker = Breaker()
    one, two = breaker.run(), breaker.run()
    second = Tripwire(two, SPECS) if what == "two runs" else Tripwire(one, other)
    agent = Agent(FunctionModel(answer), tools=[Bank().pay], capabilities=[Tripwire(one, SPECS)])

    with pytest.raises(ValueError, match="two Tripwire capabilities"):
        asyncio.run(agent.run("Go", capabilities=[second]))

    assert asked == []


@pytest.mark.parametrize("model", ["its own", "the caller's"])
def test_an_agent_and_its_sub_agent_each_have_one(model: str) -> None:
    bank = Bank()
    requests: list[Any] = []

    def answer(messages: list[Any], info: Any) -> parts.ModelResponse:
        requests.append(info)
        turns = (ONE, "Paid.") if info.function_tools[0].name == "pay" else (("ask", {}), "Done.")
        return answers(*turns)(messages, info)

    with Breaker().run() as guarded:
        capability = Tripwire(guarded, SPECS)
        billing = Agent(FunctionModel(answer), tools=[bank.pay], capabilities=[capability])
        front = Agent(FunctionModel(answer), capabilities=[Tripwire(guarded, SPECS)])

        @front.tool
        async def ask(context: RunContext[Any]) -> str:
            given = {"model": context.model} if model == "the caller's" else {}
            return (await billing.run("Go", **given)).output

        result = asyncio.run(front.run("Go"))

    assert bank.paid == ["I-1"]
    assert told(result.all_messages()) == ["Paid."]
    assert guarded.stats().turns == len(requests) == 4


# -- a read that settles a lost write


def reconciling(bank: Bank, find: Any, wrapped: Callable[[Any], Any] | None = None) -> Any:
    """An agent that is told of what fails, and pays again what it has paid; and its run's specs."""
    spec = ToolSpec(
        name="pay",
        effect="write",
        identity=("invoice",),
        result_id="payment_id",
        reconcile="find",
    )
    tools = FunctionToolset([bank.pay, find])
    told_of = Telling(wrapped(tools) if wrapped else tools)
    return Agent(FunctionModel(answers(ONE, ONE, "Done.")), toolsets=[told_of]), {
        **SPECS,
        "pay": spec,
    }


class Telling(WrapperToolset[Any]):
    """Tells the model of what fails."""

    async def call_tool(self, name: str, tool_args: Any, ctx: Any, tool: Any) -> Any:
        try:
            return await super().call_tool(name, tool_args, ctx, tool)
        except TimeoutError as error:
            return str(error)


def test_an_agent_inside_a_settling_read_is_asked_for_its_writes() -> None:
    bank, events = Bank(fails=TimeoutError("no answer")), list[BreakerEvent]()

    async def find(invoice: str) -> dict[str, str]:
        other = Agent(FunctionModel(answers(ONE, "Done.")))
        other.tool_plain(bank.pay)
        await other.run("Go", capabilities=[Tripwire(guarded, SPECS)])
        return {"payment_id": "P-1"}

    agent, specs = reconciling(bank, find)

    with Breaker(on_event=events.append).run() as guarded:
        asyncio.run(agent.run("Go", capabilities=[Tripwire(guarded, specs)]))

    assert bank.paid == ["I-1"]
    assert len([each for each in events if isinstance(each, Decided)]) > 2


class Busy(WrapperToolset[Any]):
    """Pays whenever something is read."""

    async def call_tool(self, name: str, tool_args: Any, ctx: Any, tool: Any) -> Any:
        if name == "find":
            tools = await self.wrapped.get_tools(ctx)
            await super().call_tool("pay", {"invoice": "I-1"}, ctx, tools["pay"])
        return await super().call_tool(name, tool_args, ctx, tool)


def test_what_a_toolset_does_around_a_settling_read_is_asked_for() -> None:
    bank = Bank(fails=TimeoutError("no answer"))
    agent, specs = named(bank, Busy)

    with Breaker().run() as guarded:
        asyncio.run(agent.run("Go", capabilities=[Tripwire(guarded, specs)]))

    assert bank.paid == ["I-1"]


def named(bank: Bank, wrapped: Any) -> Any:
    async def find(invoice: str) -> dict[str, str]:
        return {"payment_id": "P-1"} if invoice in bank.paid else {}

    return reconciling(bank, find, wrapped)


def test_the_settling_read_itself_is_not_asked_for() -> None:
    bank, events = Bank(fails=TimeoutError("no answer")), list[BreakerEvent]()
    agent, specs = named(bank, None)

    with Breaker(on_event=events.append).run() as guarded:
        asyncio.run(agent.run("Go", capabilities=[Tripwire(guarded, specs)]))

    assert bank.paid == ["I-1"]
    assert {each.tool for each in events if isinstance(each, Decided)} == {"pay"}


# -- agents that are taken over


class Desk:
    """Answers each call with its own words."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def acall(self, name: str, arguments: Any, **_: Any) -> Any:
        self.asked.append(name)
        return {"payment_id": "P-1"}

    def call(self, name: str, arguments: Any, **_: Any) -> Any:
        raise NotImplementedError


def test_an_agent_that_is_taken_over_keeps_its_own_guard() -> None:
    desk, bank, events = Desk(), Bank(), list[BreakerEvent]()
    agent = Agent(FunctionModel(answers(ONE, ONE, "Done.")), tools=[bank.pay])
    taken = adopt(agent, Adoption(desk, ["pay"]))

    with Breaker(on_event=events.append).run() as guarded:
        result = asyncio.run(taken.run("Go", capabilities=[Tripwire(guarded, SPECS)]))

    assert bank.paid == []
    assert desk.asked == ["pay"]
    assert told(result.all_messages())[1]["reason"] == "duplicate_write"
    assert len([each for each in events if isinstance(each, Decided)]) == 2


# -- ways to run


async def plainly(agent: Any, **options: Any) -> None:
    await agent.run("Go", **options)


async def streamed(agent: Any, **options: Any) -> None:
    async with agent.run_stream("Go", **options) as result:
        assert await result.get_output() == "Done."


async def by_events(agent: Any, **options: Any) -> None:
    async with agent.run_stream_events("Go", **options) as events:
        async for _ in events:
            pass


async def step_by_step(agent: Any, **options: Any) -> None:
    async with agent.iter("Go", **options) as run:
        async for _ in run:
            pass


WAYS = {"run": plainly, "stream": streamed, "events": by_events, "iter": step_by_step}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("where", ["agent", "run", "capability of the run", "toolset of the run"])
def test_each_way_to_run_is_asked_for_and_counted(way: str, where: str) -> None:
    bank = Bank()
    given: dict[str, Any] = {}
    toolset = FunctionToolset([bank.pay])
    if where == "capability of the run":
        given["capabilities"] = [Toolset(toolset)]
    if where == "toolset of the run":
        given["toolsets"] = [toolset]

    with Breaker().run() as guarded:
        guard = Tripwire(guarded, SPECS)
        agent = Agent(
            streams(ONE, ONE, "Done."),
            tools=[bank.pay] if where in ("agent", "run") else [],
            capabilities=[guard] if where == "agent" else [],
        )
        if where != "agent":
            given["capabilities"] = [*given.get("capabilities", []), guard]
        asyncio.run(WAYS[way](agent, **given))

    assert bank.paid == ["I-1"]
    assert guarded.stats().turns == 3


# -- realtime sessions


class Calling(RealtimeConnection):
    """Calls a tool twice, and hears of both."""

    def __init__(self) -> None:
        self.heard: list[Any] = []
        self.lifecycle = InferredLifecycle()

    async def send(self, content: Any) -> Any:
        with self.lifecycle.sending(content):
            self.heard.append(content)
        return self.lifecycle.take_pending()

    def frames(self) -> AsyncIterator[Any]:
        return self.lifecycle.frames(self.events())

    async def events(self) -> AsyncIterator[Any]:
        for number in (1, 2):
            yield ToolCall(f"call-{number}", tool_name="pay", args='{"invoice": "I-1"}')
            for _ in range(1000):
                if len(self.heard) == number:
                    break
                await asyncio.sleep(0)


class Speaking(RealtimeModel):
    def __init__(self) -> None:
        super().__init__()
        self.connection = Calling()

    @property
    def model_name(self) -> str:
        return "speaking"

    @property
    def system(self) -> str:
        return "test"

    @asynccontextmanager
    async def connect(self, **_: Any) -> AsyncIterator[Any]:
        yield self.connection


async def spoken(agent: Any, model: Any, capability: Any) -> None:
    async with agent.realtime(model, capabilities=[capability]).session() as session:
        async for _ in session:
            pass


@pytest.mark.filterwarnings("ignore:Capability `Tripwire` implements:UserWarning")
def test_the_tools_of_a_realtime_session_are_asked_for() -> None:
    bank, model = Bank(), Speaking()

    with Breaker().run() as guarded:
        capability = Tripwire(guarded, SPECS, count_model=False)
        asyncio.run(spoken(Agent(tools=[bank.pay]), model, capability))

    assert bank.paid == ["I-1"]
    assert "duplicate_write" in str(model.connection.heard[1])


def test_a_realtime_session_that_would_be_uncounted_is_refused() -> None:
    bank, model = Bank(), Speaking()

    with Breaker().run() as guarded, pytest.raises(ValueError, match="count_model=False"):
        asyncio.run(spoken(Agent(tools=[bank.pay]), model, Tripwire(guarded, SPECS)))

    assert model.connection.heard == []
    assert bank.paid == []
