"""Output functions of Pydantic AI's agents: what an answer does is decided about like a tool."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import (
    Agent,
    ModelRetry,
    NativeOutput,
    PromptedOutput,
    TextOutput,
    ToolOutput,
    UnexpectedModelBehavior,
)
from pydantic_ai import messages as parts
from pydantic_ai.capabilities import AbstractCapability, Hooks
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from pydantic_ai.output import Choice, Choices

from pytest_tripwire.adapters import Adoption, UnknownToolError
from pytest_tripwire.adapters.pydantic_ai import RunStoppedError, Tripwire, adopt
from pytest_tripwire.breaker import (
    Breaker,
    BreakerEvent,
    Interrupted,
    RunBudget,
    ToolSpec,
    tool_spec,
)
from pytest_tripwire.guard import UndeclaredToolError
from pytest_tripwire.timeline import Decided, Settled

NEEDS = ("pydantic-ai-slim",)

PAY = ToolSpec(
    name="pay", effect="write", identity=("invoice",), wording=("note",), result_id="payment_id"
)
GIVEN = {"invoice": "I-1", "note": "due"}
OTHERWISE = {"invoice": "I-1", "note": "it is due now"}


class Bank:
    """Pays, as a tool or as an answer."""

    def __init__(self, fails: Exception | None = None) -> None:
        self.paid: list[str] = []
        self.fails = fails

    async def pay(self, invoice: str, note: str = "") -> dict[str, Any]:
        """Pay an invoice."""
        self.paid.append(invoice)
        if self.fails is not None:
            raise self.fails
        return {"payment_id": f"P-{len(self.paid)}"}

    def pay_from_text(self, text: str) -> str:
        """Pay what a text names."""
        self.paid.append(text)
        return "paid"


def answers(*turns: dict[str, Any] | str) -> FunctionModel:
    """A model that gives one output after the other, by the only output tool or as text."""

    def answer(messages: list[Any], info: Any) -> parts.ModelResponse:
        number = sum(isinstance(each, parts.ModelResponse) for each in messages)
        turn = turns[min(number, len(turns) - 1)]
        if isinstance(turn, str):
            return parts.ModelResponse(parts=[parts.TextPart(turn)])
        name = turn.get("tool") or info.output_tools[0].name
        given = turn.get("given", turn)
        return parts.ModelResponse(
            parts=[parts.ToolCallPart(name, given, tool_call_id=f"call-{number}")]
        )

    return FunctionModel(answer)


def run(agent: Agent[Any, Any], breaker: Breaker | None = None, *specs: ToolSpec) -> Any:
    table = {each.name: each for each in specs or (PAY,)}
    with (breaker or Breaker()).run() as guarded:
        return asyncio.run(agent.run("Go", capabilities=[Tripwire(guarded, table)]))


OUTPUTS: dict[str, Callable[[Any], Any]] = {
    "alone": lambda pay: pay,
    "listed": lambda pay: [pay],
    "as a tool": lambda pay: ToolOutput(pay, name="settle"),
    "among others": lambda pay: [ToolOutput(pay, name="settle"), str],
}


@pytest.mark.parametrize("kind", OUTPUTS)
def test_a_write_that_a_tool_has_made_is_not_made_again_by_the_answer(kind: str) -> None:
    bank, events, callers = Bank(), list[BreakerEvent](), set[str | None]()
    model = answers({"tool": "pay", "given": GIVEN}, OTHERWISE)
    agent = Agent(model, tools=[bank.pay], output_type=OUTPUTS[kind](bank.pay), name="clerk")

    def policy(call: Any, _: Any) -> None:
        callers.add(call.agent)

    with pytest.raises(UnexpectedModelBehavior):
        run(agent, Breaker(on_event=events.append, policy=policy))

    assert bank.paid == ["I-1"]
    decided = [each for each in events if isinstance(each, Decided)]
    assert {each.tool for each in decided} == {"pay"}
    assert decided[1].call_id == "call-1"
    assert decided[1].reason == "duplicate_write"
    assert callers == {"clerk"}


def test_what_the_answer_gives_is_what_its_function_returns() -> None:
    bank, events = Bank(), list[BreakerEvent]()

    result = run(Agent(answers(GIVEN), output_type=bank.pay), Breaker(on_event=events.append))

    assert result.output == {"payment_id": "P-1"}
    assert [each.status for each in events if isinstance(each, Settled)] == ["ok"]


def test_a_model_that_is_refused_its_answer_may_give_another() -> None:
    bank = Bank()
    model = answers({"tool": "pay", "given": GIVEN}, OTHERWISE, "It was paid before.")
    agent = Agent(model, tools=[bank.pay], output_type=[ToolOutput(bank.pay, name="settle"), str])

    result = run(agent)

    assert result.output == "It was paid before."
    told = result.all_messages()[-2].parts[0]
    assert "duplicate_write" in told.model_response_str()


def test_an_answer_that_fails_leaves_an_unknown_write() -> None:
    bank = Bank(fails=TimeoutError("no answer"))

    with pytest.raises(Interrupted) as stop:
        run(Agent(answers(GIVEN), output_type=bank.pay))

    assert stop.value.reason == "unknown_side_effect"
    assert isinstance(stop.value.__cause__, TimeoutError)


def test_an_answer_that_asks_to_be_given_again_may_have_written() -> None:
    bank = Bank(fails=ModelRetry("once more"))

    with pytest.raises(Interrupted) as stop:
        run(Agent(answers(GIVEN), output_type=bank.pay, retries=3))

    assert stop.value.reason == "unknown_side_effect"
    assert bank.paid == ["I-1"]


async def recovers(*_: Any, **_more: Any) -> Any:
    return {"payment_id": "P-?"}


class Again(AbstractCapability[Any]):
    """Takes every answer three times."""

    async def wrap_output_process(self, ctx: Any, *, output: Any, handler: Any, **_: Any) -> Any:
        for _try in range(3):
            try:
                await handler(output)
            except Exception:  # noqa: BLE001, S112 - it is what is wrong with it
                continue
        return {"payment_id": "P-?"}


@pytest.mark.parametrize(
    "hook", [Hooks(output_process_error=recovers), Again()], ids=["recovers", "again"]
)
def test_a_hook_that_hides_a_failure_hides_it_from_the_model_alone(hook: Any) -> None:
    bank = Bank(fails=TimeoutError("no answer"))
    agent = Agent(answers(GIVEN), output_type=bank.pay, capabilities=[hook])

    with pytest.raises(Interrupted) as stop:
        run(agent)

    assert stop.value.reason == "unknown_side_effect"
    assert bank.paid == ["I-1"]


def test_a_hook_that_changes_the_answer_changes_what_is_decided_about() -> None:
    bank = Bank()

    async def other(*_: Any, output: Any, **_more: Any) -> Any:
        return {**output, "invoice": "I-2"}

    hooks = Hooks(before_output_process=other)
    agent = Agent(answers(GIVEN), output_type=bank.pay, capabilities=[hooks])
    breaker = Breaker()
    for _ in range(2):
        with breaker.run(request_id="message-1") as guarded:
            capability = Tripwire(guarded, {"pay": PAY})
            try:
                asyncio.run(agent.run("Go", capabilities=[capability]))
            except UnexpectedModelBehavior as refused:
                told = str(refused)

    assert bank.paid == ["I-2"]
    assert told


def test_a_stopped_run_takes_no_answer_that_acts() -> None:
    bank = Bank()
    agent = Agent(answers(GIVEN), output_type=bank.pay)

    guarded = Breaker().run()
    guarded.interrupt("that is enough")
    capability = Tripwire(guarded, {"pay": PAY}, count_model=False)

    with pytest.raises(Interrupted) as caught, guarded:
        asyncio.run(agent.run("Go", capabilities=[capability]))

    assert bank.paid == []
    assert isinstance(caught.value.__cause__, RunStoppedError)


def test_the_breakers_own_key_reaches_the_answer() -> None:
    keys: list[str] = []

    def pay(invoice: str, key: str = "") -> str:
        keys.append(key)
        return invoice

    spec = ToolSpec(name="pay", effect="write", identity=("invoice",), key_argument="key")

    run(Agent(answers({"invoice": "I-1", "key": "forged"}), output_type=pay), None, spec)

    assert len(keys) == 1
    assert keys[0] not in ("", "forged")


# -- what is declared


UNDECLARED: dict[str, Callable[[Bank], Any]] = {
    "tool": lambda bank: bank.pay,
    "text": lambda bank: TextOutput(bank.pay_from_text),
    "native": lambda bank: NativeOutput(bank.pay),
    "prompted": lambda bank: PromptedOutput([bank.pay]),
}


@pytest.mark.parametrize("kind", UNDECLARED)
def test_an_answer_that_nobody_declared_ends_the_run_before_the_model_is_asked(kind: str) -> None:
    asked, bank = list[Any](), Bank()

    def answer(messages: list[Any], _: Any) -> parts.ModelResponse:
        asked.append(messages)
        return parts.ModelResponse(parts=[parts.TextPart('{"invoice": "I-1"}')])

    agent = Agent(FunctionModel(answer), output_type=UNDECLARED[kind](bank))

    with pytest.raises(UndeclaredToolError, match="pay"), Breaker().run() as guarded:
        asyncio.run(agent.run("Go", capabilities=[Tripwire(guarded)]))

    assert asked == []
    assert bank.paid == []


@pytest.mark.parametrize("kind", UNDECLARED)
def test_so_does_one_that_is_given_to_the_run(kind: str) -> None:
    bank = Bank()
    model = answers(GIVEN if kind == "tool" else '{"invoice": "I-1"}')

    with pytest.raises(UndeclaredToolError, match="pay"), Breaker().run() as guarded:
        asyncio.run(
            Agent(model).run(
                "Go", output_type=UNDECLARED[kind](bank), capabilities=[Tripwire(guarded)]
            )
        )

    assert bank.paid == []


@pytest.mark.parametrize("kind", ["text", "native", "prompted"])
@pytest.mark.parametrize("where", ["agent", "run"])
def test_an_answer_that_is_no_tool_is_decided_about_too(kind: str, where: str) -> None:
    bank = Bank()
    spec = ToolSpec(name="pay_from_text" if kind == "text" else "pay", effect="write")
    output = UNDECLARED[kind](bank)
    agent = Agent(answers('{"invoice": "I-1"}'), output_type=output if where == "agent" else str)
    given = {"output_type": output} if where == "run" else {}
    breaker = Breaker(specs={spec.name: spec})

    async def once() -> None:
        with breaker.run(request_id="message-1") as guarded:
            await agent.run("Go", capabilities=[Tripwire(guarded)], **given)

    asyncio.run(once())
    with pytest.raises(UnexpectedModelBehavior):
        asyncio.run(once())

    assert len(bank.paid) == 1


class Found(BaseModel):
    """What an agent may find."""

    invoice: str
    note: str = ""


@dataclasses.dataclass
class Seen:
    invoice: str
    note: str = ""


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (Found, GIVEN),
        (Seen, GIVEN),
        ([Found, Seen], {"tool": "final_result_Seen", "given": GIVEN}),
        (ToolOutput(Found, name="found"), GIVEN),
        (bool, {"response": True}),
        (NativeOutput([Found, Seen]), '{"result": {"kind": "Found", "data": {"invoice": "I-1"}}}'),
        (PromptedOutput(Found), '{"invoice": "I-1"}'),
        (Choices({"yes": Choice("It is.", value=True)}), {"response": "yes"}),
        (str, "Done."),
    ],
)
def test_an_answer_that_only_has_a_type_is_free(output: Any, said: Any) -> None:
    events = list[BreakerEvent]()
    breaker = Breaker(budget=RunBudget(max_tool_calls=0), on_event=events.append)

    with breaker.run() as guarded:
        result = asyncio.run(
            Agent(answers(said), output_type=output).run("Go", capabilities=[Tripwire(guarded)])
        )

    assert result.output is not None
    assert not [each for each in events if isinstance(each, Decided)]
    assert guarded.stats().turns == 1


ACTS: dict[str, Callable[[Bank], Any]] = {
    "choice of actions": lambda bank: Choices({"pay": Choice("Pay.", value=lambda: bank.pay("I"))}),
    "one of several": lambda bank: NativeOutput([bank.pay, Found]),
}


@pytest.mark.parametrize("kind", ACTS)
def test_an_answer_that_acts_and_cannot_be_asked_for_is_refused(kind: str) -> None:
    bank = Bank()
    said = {"response": "pay"} if kind == "choice of actions" else WRAPPED
    agent = Agent(answers(said), output_type=ACTS[kind](bank))

    with pytest.raises(ValueError, match="output"):
        run(agent)

    assert bank.paid == []


WRAPPED = '{"result": {"kind": "pay", "data": {"invoice": "I-1"}}}'


# -- streamed


@pytest.mark.parametrize("reads", ["output", "nothing"])
def test_a_streamed_answer_acts_once_and_when_it_is_complete(reads: str) -> None:
    bank = Bank()

    async def pieces(_: list[Any], info: Any) -> AsyncIterator[Any]:
        name = info.output_tools[0].name
        yield {0: DeltaToolCall(name, '{"invoice": "I-1"', tool_call_id="call-0")}
        for each in (', "no', 'te": "d', 'ue"}'):
            yield {0: DeltaToolCall(json_args=each)}

    agent = Agent(FunctionModel(stream_function=pieces), output_type=bank.pay)

    async def streamed() -> Any:
        with Breaker().run() as guarded:
            capability = Tripwire(guarded, {"pay": PAY})
            async with agent.run_stream("Go", capabilities=[capability]) as result:
                if reads == "output":
                    seen = [each async for each in result.stream_output(debounce_by=None)]
                    assert seen == [{"payment_id": "P-1"}] * len(seen)
                return await result.get_output()

    assert asyncio.run(streamed()) == {"payment_id": "P-1"}
    assert bank.paid == ["I-1"]


# -- taken over


class Desk:
    """Answers each call with its own words."""

    def __init__(self, says: Any = None) -> None:
        self.asked: list[Any] = []
        self.says = says or {"from": "the desk"}

    async def acall(self, name: str, arguments: Any, **told: Any) -> Any:
        self.asked.append((name, arguments, told))
        return self.says

    def call(self, name: str, arguments: Any, **_: Any) -> Any:
        raise NotImplementedError


async def plainly(agent: Any, **options: Any) -> Any:
    return (await agent.run("Go", **options)).output


async def streamed(agent: Any, **options: Any) -> Any:
    async with agent.run_stream("Go", **options) as result:
        return await result.get_output()


def whole_or_streamed(given: dict[str, Any]) -> FunctionModel:
    async def pieces(_: list[Any], info: Any) -> AsyncIterator[Any]:
        name = info.output_tools[0].name
        yield {0: DeltaToolCall(name, json.dumps(given), tool_call_id="call-0")}

    return FunctionModel(answers(given).function, stream_function=pieces)


@pytest.mark.parametrize("way", [plainly, streamed])
@pytest.mark.parametrize("where", ["agent", "run"])
def test_an_answer_that_plays_a_part_has_another_body(way: Any, where: str) -> None:
    desk, bank = Desk(), Bank()
    at_the_agent = {"output_type": bank.pay} if where == "agent" else {}
    agent = Agent(whole_or_streamed(GIVEN), name="clerk", **at_the_agent)
    taken = adopt(agent, Adoption(desk, ["pay"]))

    output = asyncio.run(way(taken, **({} if at_the_agent else {"output_type": bank.pay})))

    assert output == {"from": "the desk"}
    assert desk.asked == [("pay", GIVEN, {"call_id": "call-0", "agent": "clerk"})]
    assert bank.paid == []


def test_an_answer_that_plays_no_part_does_not_run() -> None:
    bank = Bank()
    known, unknown = Adoption(Desk(), []), Adoption(Desk(), [])
    adopt(Agent(answers(GIVEN), output_type=bank.pay), known)
    taken = adopt(Agent(answers(GIVEN)), unknown)

    with pytest.raises(UnknownToolError, match="'pay'"):
        known.check()
    with pytest.raises(UnknownToolError, match="'pay'"):
        asyncio.run(taken.run("Go", output_type=bank.pay))

    assert bank.paid == []


def test_an_answer_that_is_only_put_into_another_form_runs_itself() -> None:
    @tool_spec(effect="read")
    def words(text: str) -> list[str]:
        return text.split()

    adoption = Adoption(Desk(), [])
    taken = adopt(Agent(answers("one two"), output_type=TextOutput(words)), adoption)
    adoption.check()

    assert asyncio.run(plainly(taken)) == ["one", "two"]


def test_an_answer_that_is_refused_is_told_to_the_model() -> None:
    desk, bank = Desk({"refused": True, "reason": "stale_resume", "message": "No."}), Bank()
    agent = Agent(answers(GIVEN, "I cannot."), output_type=[ToolOutput(bank.pay), str])

    assert asyncio.run(plainly(adopt(agent, Adoption(desk, ["pay"])))) == "I cannot."


def test_an_answer_that_plays_a_part_keeps_its_own_guard() -> None:
    desk, bank, events = Desk({"payment_id": "P-1"}), Bank(), list[BreakerEvent]()
    taken = adopt(Agent(answers(GIVEN), output_type=bank.pay), Adoption(desk, ["pay"]))
    breaker = Breaker(specs={"pay": PAY}, on_event=events.append)

    async def once() -> None:
        with breaker.run(request_id="message-1") as guarded:
            await taken.run("Go", capabilities=[Tripwire(guarded)])

    asyncio.run(once())
    with pytest.raises(UnexpectedModelBehavior):
        asyncio.run(once())

    assert len(desk.asked) == 1
    assert [each.status for each in events if isinstance(each, Settled)] == ["ok"]


def test_the_answer_of_an_agent_that_a_tool_runs_cannot_be_played() -> None:
    bank = Bank()
    other = Agent(answers(GIVEN), output_type=bank.pay, name="billing")

    async def ask() -> Any:
        return (await other.run("Go")).output

    with pytest.raises(ValueError, match="billing"):
        adopt(Agent(answers("Done."), tools=[ask]), Adoption(Desk(), ["pay"]))


def test_an_agent_that_is_taken_over_has_no_realtime_sessions() -> None:
    taken = adopt(Agent(answers("Done.")), Adoption(Desk(), []))

    with pytest.raises(ValueError, match="realtime"):
        taken.realtime("any")
