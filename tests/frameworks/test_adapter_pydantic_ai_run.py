"""The breaker as a capability of Pydantic AI's, in runs of one's own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import (
    Agent,
    ApprovalRequired,
    DeferredToolRequests,
    DeferredToolResults,
    ModelMessagesTypeAdapter,
    RunContext,
    ToolDenied,
    ToolReturn,
)
from pydantic_ai import messages as parts
from pydantic_ai.capabilities import AbstractCapability, Hooks
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from pydantic_ai.toolsets import FunctionToolset, WrapperToolset
from pydantic_ai.usage import RequestUsage

from pytest_tripwire.adapters.pydantic_ai import RunStoppedError, Tripwire
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

Made = tuple[str, dict[str, Any]]


def answers(*turns: Any) -> Any:
    """What the model says, or calls, turn by turn; the last again and again."""

    def answer(messages: list[Any], _info: Any) -> parts.ModelResponse:
        number = sum(isinstance(each, parts.ModelResponse) for each in messages)
        turn = turns[min(number, len(turns) - 1)]
        used = RequestUsage(input_tokens=100, output_tokens=10)
        if isinstance(turn, str):
            return parts.ModelResponse(parts=[parts.TextPart(turn)], usage=used)
        called = [
            parts.ToolCallPart(tool, given, tool_call_id=f"call-{number}-{place}")
            for place, (tool, given) in enumerate(turn)
        ]
        return parts.ModelResponse(parts=called, usage=used)

    return answer


def model(*turns: Any) -> FunctionModel:
    return FunctionModel(answers(*turns))


class Bank:
    """Pays, and says what it was asked."""

    def __init__(self, fails: BaseException | None = None) -> None:
        self.paid: list[str] = []
        self.found: list[str] = []
        self.fails = fails

    async def pay(self, invoice: str, note: str = "") -> dict[str, Any]:
        """Pay an invoice."""
        self.paid.append(invoice)
        if self.fails:
            raise self.fails
        return {"payment_id": f"P-{len(self.paid)}"}

    def find(self, invoice: str) -> dict[str, Any]:
        """Look up whether an invoice was paid."""
        self.found.append(invoice)
        return {"payment_id": "P-1"} if invoice in self.paid else {}


PAY = ToolSpec(
    name="pay",
    effect="write",
    identity=("invoice",),
    wording=("note",),
    result_id="payment_id",
)
FIND = ToolSpec(name="find", effect="read")
SPECS = {"pay": PAY, "find": FIND}

TWICE = (
    [("pay", {"invoice": "I-1", "note": "due"})],
    [("pay", {"invoice": "I-1", "note": "it is due now"})],
    "Done.",
)


def clerk(bank: Bank, *turns: Any, **options: Any) -> Agent[Any, Any]:
    return Agent(model(*turns), name="clerk", tools=[bank.pay, bank.find], **options)


def run(agent: Agent[Any, Any], breaker: Breaker | None = None, **options: Any) -> Any:
    """Run an agent; returns its result. Raises Interrupted as the breaker's run does."""
    with (breaker or Breaker()).run() as guarded:
        return asyncio.run(agent.run("Go", capabilities=[Tripwire(guarded, SPECS, **options)]))


def results(messages: Any) -> list[Any]:
    """What the model was told of its calls."""
    found = [each for message in messages for each in message.parts]
    return [each.content for each in found if isinstance(each, parts.ToolReturnPart)]


# -- decisions


def test_a_write_that_was_confirmed_is_not_made_again_and_the_model_is_told() -> None:
    bank, events = Bank(), list[BreakerEvent]()

    result = run(clerk(bank, *TWICE), Breaker(on_event=events.append))

    first, second = results(result.all_messages())
    assert bank.paid == ["I-1"]
    assert first == {"payment_id": "P-1"}
    assert second["refused"]
    assert second["reason"] == "duplicate_write"
    calls = [each.call_id for each in events if isinstance(each, Decided)]
    assert calls == ["call-0-0", "call-1-0"]


def test_of_the_same_write_twice_in_one_message_one_is_made() -> None:
    bank = Bank()

    run(clerk(bank, [TWICE[0][0], TWICE[1][0]], "Done."))

    assert bank.paid == ["I-1"]


def test_a_tool_that_nobody_declared_ends_the_run_before_the_model_is_asked() -> None:
    bank = Bank()

    with pytest.raises(UndeclaredToolError, match="pay"), Breaker().run() as guarded:
        asyncio.run(clerk(bank, *TWICE).run("Go", capabilities=[Tripwire(guarded)]))

    assert bank.paid == []


def test_what_stands_beside_a_function_declares_it() -> None:
    made: list[str] = []

    @tool_spec(effect="write", identity=("invoice",), wording=("note",))
    def pay(invoice: str, note: str) -> str:
        made.append(f"{invoice}: {note}")
        return "paid"

    with Breaker().run() as guarded:
        agent = Agent(model(*TWICE), tools=[pay])
        asyncio.run(agent.run("Go", capabilities=[Tripwire(guarded)]))

    assert made == ["I-1: due"]


def test_a_tool_is_known_by_the_name_that_the_model_knows() -> None:
    bank = Bank()
    toolset = FunctionToolset([bank.pay]).prefixed("bank")
    turns = [[("bank_pay", dict(TWICE[place][0][1]))] for place in (0, 1)]
    agent = Agent(model(*turns, "Done."), toolsets=[toolset])
    spec = ToolSpec(name="bank_pay", effect="write", identity=("invoice",), wording=("note",))

    with Breaker().run() as guarded:
        asyncio.run(agent.run("Go", capabilities=[Tripwire(guarded, {"bank_pay": spec})]))

    assert bank.paid == ["I-1"]


# -- what fails


def test_a_tool_that_raises_ends_the_run_and_its_write_is_unknown() -> None:
    bank = Bank(fails=TimeoutError("no answer"))

    with pytest.raises(Interrupted) as stop:
        run(clerk(bank, *TWICE))

    assert isinstance(stop.value.__cause__, TimeoutError)
    assert stop.value.reason == "unknown_side_effect"
    assert bank.paid == ["I-1"]


async def tell(_: Any, *, error: Exception, **_more: Any) -> Any:
    return {"error": str(error)}


def test_a_write_whose_answer_was_lost_is_held_where_the_model_is_told() -> None:
    bank = Bank(fails=TimeoutError("no answer"))
    agent = clerk(bank, *TWICE, capabilities=[Hooks(tool_execute_error=tell)])

    with pytest.raises(Interrupted, match="pay"):
        run(agent)

    assert bank.paid == ["I-1"]


def test_a_lost_write_is_settled_by_a_tool_of_the_agent() -> None:
    bank = Bank(fails=TimeoutError("no answer"))
    reconciled = {**SPECS, "pay": ToolSpec(**{**fields(PAY), "reconcile": "find"})}
    agent = clerk(bank, *TWICE, capabilities=[Hooks(tool_execute_error=tell)])

    with Breaker().run() as guarded:
        capability = Tripwire(guarded, reconciled)
        result = asyncio.run(agent.run("Go", capabilities=[capability]))

    assert bank.paid == ["I-1"]
    assert bank.found == ["I-1"]
    assert results(result.all_messages())[1]["reason"] == "duplicate_write"


def fields(spec: ToolSpec) -> dict[str, Any]:
    return {name: getattr(spec, name) for name in spec.__struct_fields__}


async def refuses(*_: Any, **_more: Any) -> Any:
    raise RuntimeError("the hook is broken")


def test_a_hook_that_raises_before_a_call_means_that_it_was_never_made() -> None:
    bank, events = Bank(), list[BreakerEvent]()
    agent = clerk(bank, *TWICE, capabilities=[Hooks(before_tool_execute=refuses)])

    with pytest.raises(RuntimeError, match="the hook is broken"):
        run(agent, Breaker(on_event=events.append))

    assert bank.paid == []
    assert not [each for each in events if isinstance(each, Decided)]


def test_a_hook_that_raises_after_a_call_leaves_it_settled() -> None:
    bank, events = Bank(), list[BreakerEvent]()
    agent = clerk(bank, *TWICE, capabilities=[Hooks(after_tool_execute=refuses)])

    with pytest.raises(RuntimeError, match="the hook is broken"):
        run(agent, Breaker(on_event=events.append))

    assert bank.paid == ["I-1"]
    assert [each.status for each in events if isinstance(each, Settled)] == ["ok"]


class Stubborn(WrapperToolset[Any]):
    """Swallows whatever is raised, and tries again."""

    async def call_tool(self, name: str, tool_args: Any, ctx: Any, tool: Any) -> Any:
        for _ in range(3):
            try:
                result = await super().call_tool(name, tool_args, ctx, tool)
            except Exception:  # noqa: BLE001, S112 - it is what is wrong with it
                continue
            if not (isinstance(result, dict) and result.get("refused")):
                return result
        return "worked"


class Again(AbstractCapability[Any]):
    """The same as a hook."""

    async def wrap_tool_execute(self, ctx: Any, *, args: Any, handler: Any, **_: Any) -> Any:
        for _try in range(3):
            try:
                result = await handler(args)
            except Exception:  # noqa: BLE001, S112 - it is what is wrong with it
                continue
            if not (isinstance(result, dict) and result.get("refused")):
                return result
        return "worked"


@pytest.mark.parametrize("kind", ["toolset", "hook"])
def test_a_swallowed_stop_stays_one(kind: str) -> None:
    bank = Bank(fails=TimeoutError("no answer"))
    others = [[("pay", {"invoice": f"I-{number}"})] for number in range(2, 5)]
    turns = (*TWICE[:2], *others, "Done.")
    if kind == "hook":
        agent = clerk(bank, *turns, capabilities=[Again()])
    else:
        agent = Agent(model(*turns), toolsets=[Stubborn(FunctionToolset([bank.pay]))])

    with pytest.raises(Interrupted) as stop:
        run(agent)

    assert bank.paid == ["I-1"]
    assert stop.value.reason == "unknown_side_effect"


def test_a_sibling_that_runs_at_the_stop_is_settled_and_nothing_begins_after_it() -> None:
    started, stopped, made = threading.Event(), threading.Event(), list[str]()
    events = list[BreakerEvent]()

    def slow(order: str) -> str:
        started.set()
        stopped.wait(10)
        made.append(order)
        return "shipped"

    async def stops(order: str) -> str:
        await asyncio.to_thread(started.wait, 10)
        guarded.interrupt("that is enough")
        stopped.set()
        return order

    turns = (
        [("slow", {"order": "A-1"}), ("stops", {"order": "A-1"})],
        [("slow", {"order": "A-2"})],
        "Done.",
    )
    specs = {
        "slow": ToolSpec(name="slow", effect="write", identity=("order",)),
        "stops": ToolSpec(name="stops", effect="read"),
    }
    agent = Agent(model(*turns), tools=[slow, stops])

    with pytest.raises(Interrupted), Breaker(on_event=events.append).run() as guarded:
        asyncio.run(agent.run("Go", capabilities=[Tripwire(guarded, specs, count_model=False)]))

    assert made == ["A-1"]
    settled = {each.call_id: each.status for each in events if isinstance(each, Settled)}
    assert settled["call-0-0"] == "ok"


def test_a_sibling_that_a_failure_cuts_off_is_settled_too() -> None:
    events = list[BreakerEvent]()

    async def slow(order: str) -> str:
        await asyncio.sleep(5)
        return order

    async def breaks(order: str) -> str:
        await asyncio.sleep(0)
        raise RuntimeError(order)

    specs = {
        "slow": ToolSpec(name="slow", effect="write", identity=("order",)),
        "breaks": ToolSpec(name="breaks", effect="read"),
    }
    calls = [("slow", {"order": "A-1"}), ("breaks", {"order": "A-1"})]
    agent = Agent(model(calls, "Done."), tools=[slow, breaks])

    with pytest.raises(Interrupted) as stop, Breaker(on_event=events.append).run() as guarded:
        asyncio.run(agent.run("Go", capabilities=[Tripwire(guarded, specs)]))

    assert stop.value.reason == "unknown_side_effect"
    settled = {each.call_id: each.status for each in events if isinstance(each, Settled)}
    assert settled["call-0-0"] == "unknown"


# -- hand-offs


def test_hand_offs_that_lead_nowhere_are_stopped() -> None:
    spoken: list[str] = []
    hand = {"order": "A-1", "note": "yours"}
    others = {name: Agent(name=name) for name in ("billing", "shipping")}
    turns = [[(f"to_{name}", hand)] for name in ("billing", "shipping") * 4]
    front = Agent(model(*turns, "Done."), name="front")
    specs = {
        f"to_{name}": ToolSpec(
            name=f"to_{name}", effect="handoff", identity=("order",), wording=("note",)
        )
        for name in others
    }

    async def ask(name: str, context: RunContext[Any], note: str) -> str:
        spoken.append(name)
        capability = Tripwire(context.deps, specs)
        words = f"Not mine, says {name} to {len(spoken)}."
        with others[name].override(model=model(words)):
            return (await others[name].run(note, capabilities=[capability])).output

    @front.tool
    async def to_billing(context: RunContext[Any], order: str, note: str) -> str:
        return await ask("billing", context, f"{order}: {note}")

    @front.tool
    async def to_shipping(context: RunContext[Any], order: str, note: str) -> str:
        return await ask("shipping", context, f"{order}: {note}")

    with pytest.raises(Interrupted) as stop, Breaker().run() as guarded:
        asyncio.run(front.run("Go", deps=guarded, capabilities=[Tripwire(guarded, specs)]))

    assert stop.value.reason == "handoff_without_progress"
    assert 0 < len(spoken) < len(turns)


def test_each_of_two_agents_calls_under_its_own_name_in_one_run() -> None:
    callers: list[str | None] = []

    def policy(call: Any, _: Any) -> None:
        callers.append(call.agent)

    bank = Bank()
    billing = clerk(bank, [("pay", {"invoice": "I-1"})], "Paid.")
    front = Agent(model([("ask", {"what": "I-1"}), ("pay", {"invoice": "I-1"})], "Done."))
    front.name = "front"
    front.tool_plain(bank.pay)

    @front.tool
    async def ask(context: RunContext[Any], what: str) -> str:
        return (await billing.run(what, capabilities=[Tripwire(context.deps, SPECS)])).output

    specs = {**SPECS, "ask": ToolSpec(name="ask", effect="handoff")}
    with Breaker(policy=policy).run() as guarded:
        asyncio.run(front.run("Go", deps=guarded, capabilities=[Tripwire(guarded, specs)]))

    assert bank.paid == ["I-1"]
    assert set(callers) == {"front", "clerk"}


def test_agents_that_run_each_other_for_ever_end_with_the_turns() -> None:
    one = Agent(model([("other", {})], "Done."), name="one")
    two = Agent(model([("other", {})], "Done."), name="two")
    specs = {"other": ToolSpec(name="other", effect="handoff")}

    async def run_of(agent: Agent[Any, str], context: RunContext[Any]) -> str:
        capability = Tripwire(context.deps, specs)
        return (await agent.run("Go", deps=context.deps, capabilities=[capability])).output

    @one.tool(name="other")
    async def ask_two(context: RunContext[Any]) -> str:
        return await run_of(two, context)

    @two.tool(name="other")
    async def ask_one(context: RunContext[Any]) -> str:
        return await run_of(one, context)

    breaker = Breaker(budget=RunBudget(max_turns=6))
    with pytest.raises(Interrupted) as stop, breaker.run() as guarded:
        asyncio.run(one.run("Go", deps=guarded, capabilities=[Tripwire(guarded, specs)]))

    assert stop.value.reason == "turn_budget"


# -- approvals, and state that is resumed


ASKED = {**SPECS, "pay": ToolSpec(**{**fields(PAY), "requires_approval": True})}
ONCE = ([("pay", {"invoice": "I-1"})], "Done.")


def approver(bank: Bank, *turns: Any) -> Agent[Any, Any]:
    return clerk(bank, *turns, output_type=[str, DeferredToolRequests])


def saved(agent: Agent[Any, Any], guarded: Any, specs: Any = ASKED) -> tuple[bytes, str]:
    """Run until a person is asked; returns the state as it would be stored, and the call's id."""
    capability = Tripwire(guarded, specs, defer=True)
    result = asyncio.run(agent.run("Go", capabilities=[capability]))
    assert isinstance(result.output, DeferredToolRequests)
    return result.all_messages_json(), result.output.approvals[0].tool_call_id


def resumed(
    agent: Agent[Any, Any], guarded: Any, state: bytes, answer: Any, specs: Any = ASKED
) -> Any:
    capability = Tripwire(guarded, specs, defer=True)
    return asyncio.run(
        agent.run(
            message_history=ModelMessagesTypeAdapter.validate_json(state),
            deferred_tool_results=DeferredToolResults(approvals=answer),
            capabilities=[capability],
        )
    )


def test_a_call_that_needs_a_yes_is_put_up_in_the_way_of_the_framework() -> None:
    bank = Bank()
    agent = approver(bank, *ONCE)

    with Breaker().run() as guarded:
        state, call_id = saved(agent, guarded)
        before = list(bank.paid)
        result = resumed(agent, guarded, state, {call_id: True})

    assert before == []
    assert bank.paid == ["I-1"]
    assert result.output == "Done."


def test_a_call_that_a_person_says_no_to_is_not_made() -> None:
    bank = Bank()
    agent = approver(bank, *ONCE)

    with Breaker().run() as guarded:
        state, call_id = saved(agent, guarded)
        resumed(agent, guarded, state, {call_id: ToolDenied("no")})

    assert bank.paid == []


def test_a_yes_from_before_the_record_changed_is_not_renewed() -> None:
    bank = Bank()
    agent = approver(bank, *ONCE)

    with Breaker().run() as guarded:
        state, call_id = saved(agent, guarded)
        guarded.approve(call_id)
        guarded.changed("I-1", was="v1")
        result = resumed(agent, guarded, state, {call_id: True})

    assert bank.paid == []
    assert isinstance(result.output, DeferredToolRequests)


@pytest.mark.parametrize("kind", ["one run", "a run for each", "the framework alone asks"])
def test_one_saved_state_that_is_resumed_twice_writes_once(kind: str) -> None:
    bank, events = Bank(), list[BreakerEvent]()
    breaker = Breaker(on_event=events.append)
    specs = SPECS if kind == "the framework alone asks" else ASKED
    tools = FunctionToolset([bank.pay]).approval_required()
    agent = (
        Agent(model(*ONCE), toolsets=[tools], output_type=[str, DeferredToolRequests])
        if kind == "the framework alone asks"
        else approver(bank, *ONCE)
    )
    with breaker.run(request_id="message-17") as guarded:
        state, call_id = saved(agent, guarded, specs)
        if kind != "a run for each":
            one = resumed(agent, guarded, state, {call_id: True}, specs)
            two = resumed(agent, guarded, state, {call_id: True}, specs)
    if kind == "a run for each":
        with breaker.run(request_id="message-17") as guarded:
            one = resumed(agent, guarded, state, {call_id: True}, specs)
        with breaker.run(request_id="message-17") as guarded:
            two = resumed(agent, guarded, state, {call_id: True}, specs)

    assert bank.paid == ["I-1"]
    assert results(one.new_messages()) == [{"payment_id": "P-1"}]
    assert results(two.new_messages())[0]["reason"] == "duplicate_write"
    ids = {each.call_id for each in events if isinstance(each, Decided)}
    assert ids == {call_id}


def test_without_the_frameworks_approvals_the_refusal_says_what_to_approve() -> None:
    bank = Bank()
    agent = clerk(bank, *ONCE)

    with Breaker().run() as guarded:
        capability = Tripwire(guarded, ASKED)
        first = asyncio.run(agent.run("Go", capabilities=[capability]))
        (refusal,) = results(first.all_messages())
        guarded.approve(refusal["call_id"])
        asyncio.run(agent.run("Go", capabilities=[capability]))

    assert refusal["refused"]
    assert refusal["call_id"] == "call-0-0"
    assert bank.paid == ["I-1"]


def test_a_body_that_asks_for_approval_itself_has_not_begun() -> None:
    paid: list[str] = []

    def pay(context: RunContext[Any], invoice: str) -> dict[str, str]:
        if not context.tool_call_approved:
            raise ApprovalRequired
        paid.append(invoice)
        return {"payment_id": "P-1"}

    agent = Agent(model(*ONCE), tools=[pay], output_type=[str, DeferredToolRequests])

    with Breaker().run() as guarded:
        state, call_id = saved(agent, guarded, SPECS)
        resumed(agent, guarded, state, {call_id: True}, SPECS)

    assert paid == ["I-1"]


# -- results, and what goes along with a call


class Receipt(BaseModel):
    """What a bank may give."""

    payment_id: str


@pytest.mark.parametrize(
    "given",
    [
        {"payment_id": "P-7"},
        Receipt(payment_id="P-7"),
        ToolReturn(return_value=Receipt(payment_id="P-7"), metadata={"kept": True}),
    ],
    ids=["mapping", "model", "tool return"],
)
def test_a_result_reaches_the_framework_as_it_is_and_the_breaker_as_json(given: Any) -> None:
    events, given_back = list[BreakerEvent](), list[Any]()

    def pay(invoice: str) -> Any:
        return given

    async def after(_: Any, *, result: Any, **_more: Any) -> Any:
        given_back.append(result)
        return result

    agent = Agent(model(*ONCE), tools=[pay], capabilities=[Hooks(after_tool_execute=after)])
    run(agent, Breaker(on_event=events.append))

    (settled,) = [each for each in events if isinstance(each, Settled)]
    assert settled.status == "ok"
    assert given_back == [given]


def test_the_breakers_own_key_reaches_the_body() -> None:
    keys: list[str] = []

    def pay(invoice: str, idempotency_key: str = "") -> str:
        keys.append(idempotency_key)
        return invoice

    spec = ToolSpec(**{**fields(PAY), "key_argument": "idempotency_key", "result_id": None})
    call = ("pay", {"invoice": "I-1", "idempotency_key": "made up"})

    with Breaker().run() as guarded:
        agent = Agent(model([call], "Done."), tools=[pay])
        asyncio.run(agent.run("Go", capabilities=[Tripwire(guarded, {"pay": spec})]))

    assert len(keys) == 1
    assert keys[0] not in ("", "made up")


# -- model requests


async def pieces(messages: list[Any], _info: Any) -> AsyncIterator[Any]:
    if sum(isinstance(each, parts.ModelResponse) for each in messages):
        yield "Done."
    else:
        yield {0: DeltaToolCall("find", '{"invoice": "I-1"}', tool_call_id="call-0-0")}


async def listen(_: Any, events: Any) -> None:
    async for _event in events:
        pass


@pytest.mark.parametrize("handler", [None, listen], ids=["whole", "streamed"])
def test_requests_and_tokens_are_counted(handler: Any) -> None:
    turns = answers([("find", {"invoice": "I-1"})], "Done.")
    agent = Agent(FunctionModel(turns, stream_function=pieces), tools=[Bank().find])

    with Breaker(budget=RunBudget(max_turns=9)).run() as guarded:
        capability = Tripwire(guarded, SPECS)
        result = asyncio.run(
            agent.run("Go", capabilities=[capability], event_stream_handler=handler)
        )

    assert guarded.stats().turns == 2
    assert guarded.stats().tokens == result.usage.total_tokens > 0


def test_requests_are_not_counted_where_somebody_else_does() -> None:
    with Breaker().run() as guarded:
        capability = Tripwire(guarded, SPECS, count_model=False)
        asyncio.run(clerk(Bank(), *ONCE).run("Go", capabilities=[capability]))

    assert guarded.stats().turns == 0


def test_a_request_that_may_not_be_sent_ends_the_run() -> None:
    asked: list[int] = []

    def answer(messages: list[Any], info: Any) -> parts.ModelResponse:
        asked.append(len(messages))
        return answers([("find", {"invoice": f"I-{len(messages)}"})])(messages, info)

    agent = Agent(FunctionModel(answer), tools=[Bank().find])

    with pytest.raises(Interrupted) as stop:
        run(agent, Breaker(budget=RunBudget(max_turns=3)))

    assert len(asked) == 3
    assert stop.value.reason == "turn_budget"
    assert isinstance(stop.value.__cause__, RunStoppedError)


def test_a_usage_that_nobody_reports_is_unknown_and_not_zero() -> None:
    def answer(*_: Any) -> parts.ModelResponse:
        used = RequestUsage(unmeasured_requests=1)
        return parts.ModelResponse(
            parts=[parts.ToolCallPart("find", {"invoice": "I-1"})], usage=used
        )

    class Silent(FunctionModel):
        async def request(self, *given: Any, **options: Any) -> Any:
            response = await super().request(*given, **options)
            response.usage = RequestUsage(unmeasured_requests=1)
            return response

    agent = Agent(Silent(answer), tools=[Bank().find])

    with pytest.raises(Interrupted) as stop:
        run(agent, Breaker(budget=RunBudget(max_model_cost_usd=Decimal(1))))

    assert stop.value.reason == "cost_unknown"


def test_a_cost_is_worked_out_by_the_models_name() -> None:
    agent = clerk(Bank(), *ONCE)
    named = run(agent).all_messages()[1].model_name

    with Breaker(prices={named: (1, 1)}).run() as guarded:
        asyncio.run(agent.run("Go", capabilities=[Tripwire(guarded, SPECS)]))

    assert guarded.stats().cost_usd == Decimal("0.00022")


def test_a_request_that_fails_is_taken_back() -> None:
    def breaks(*_: Any) -> Any:
        raise ConnectionRefusedError("gone")

    agent = Agent(FunctionModel(breaks), tools=[Bank().find])
    budget = RunBudget(max_model_cost_usd=Decimal(1))

    with Breaker(budget=budget).run() as guarded:
        for _ in range(2):
            with pytest.raises(ConnectionRefusedError):
                asyncio.run(agent.run("Go", capabilities=[Tripwire(guarded, SPECS)]))

        assert guarded.mode == "open"
