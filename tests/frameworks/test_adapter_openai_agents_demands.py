"""What a run demands of agents of the OpenAI Agents SDK before a tool of theirs may run: arguments
that fit, tools that can be seen, a yes for each write.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
from typing import Annotated, Any, ClassVar

import pytest
from agents import (
    Agent,
    AgentHooks,
    RunState,
    ToolOutputText,
    function_tool,
)
from agents.exceptions import ModelBehaviorError
from agents.sandbox import SandboxAgent
from pydantic import BaseModel, Field, field_validator

from pytest_tripwire.adapters import Adoption, UnknownToolError
from pytest_tripwire.adapters.openai_agents import adopt, guarded
from pytest_tripwire.breaker import Breaker, Interrupted, RunBudget, tool_spec
from pytest_tripwire.timeline import Effect, Reason, ToolSpec

from .openai_agents_kit import WAYS, go, reason, script, told

NEEDS = ("openai-agents",)


def payer(paid: list[Any], **options: Any) -> Any:
    @function_tool(**options)
    @tool_spec(effect="write", identity=("order",), wording=("note",))
    async def pay(order: str, cents: int, note: str = "") -> str:
        """Pay."""
        paid.append((order, cents))
        return f"paid {note}"

    return pay


def clerk(tools: list[Any], *turns: list[tuple[str, Any]], **options: Any) -> Any:
    return Agent[None](name="clerk", tools=tools, model=script(*turns), **options)


async def never(_context: Any, _arguments: dict[str, Any], _call_id: str) -> bool:
    return False


FITS = ("pay", {"order": "A-1", "cents": 40, "note": "sorry"})
FITS_NOT = ("pay", {"order": "A-1", "cents": "forty", "note": "sorry"})


# -- arguments


class Parcel(BaseModel):
    """Checked by the team's own code."""

    checked: ClassVar[list[str]] = []
    order: str

    @field_validator("order")
    @classmethod
    def known(cls, value: str) -> str:
        cls.checked.append(value)
        return value.upper()


@WAYS
def test_arguments_that_do_not_fit_are_told_and_leave_nothing_unknown(way: str) -> None:
    paid: list[Any] = []

    with Breaker(budget=RunBudget(max_side_effects=1)).run() as run:
        agent = guarded(clerk([payer(paid)], [FITS_NOT], [FITS]), run)
        guarded_result = asyncio.run(go(agent, way=way))
    bare_result = asyncio.run(go(clerk([payer([])], [FITS_NOT], [FITS]), way=way))

    assert paid == [("A-1", 40)]
    assert told(guarded_result) == told(bare_result)


def test_arguments_that_do_not_fit_raise_where_the_tool_tells_no_failures() -> None:
    tool = payer([], failure_error_function=None)

    with Breaker().run() as run, pytest.raises(ModelBehaviorError, match="Invalid JSON input"):
        asyncio.run(go(guarded(clerk([tool], [FITS_NOT]), run)))


def test_the_error_of_bad_arguments_is_no_proof_once_the_body_has_begun() -> None:
    paid: list[str] = []

    @function_tool
    @tool_spec(effect="write", identity=("order",))
    async def pay(order: str) -> str:
        """Pay, and ask another model what it thinks of it."""
        paid.append(order)
        raise ModelBehaviorError("Invalid JSON input for tool pay")

    agent = clerk([pay], [("pay", {"order": "A-1"})], [("pay", {"order": "A-1"})])

    with pytest.raises(Interrupted) as caught, Breaker().run() as run:
        asyncio.run(go(guarded(agent, run)))

    assert caught.value.reason == "unknown_side_effect"
    assert paid == ["A-1"]


def test_arguments_are_checked_as_the_tool_gets_them_and_its_own_checks_run_once() -> None:
    sent: list[Any] = []
    Parcel.checked.clear()

    @function_tool
    @tool_spec(effect="write", identity=("parcel",))
    async def send(parcel: Parcel) -> str:
        """Send."""
        sent.append(parcel.order)
        return "sent"

    with Breaker().run() as run:
        asyncio.run(go(guarded(clerk([send], [("send", {"parcel": {"order": "a-1"}})]), run)))

    assert (Parcel.checked, sent) == (["a-1"], ["A-1"])


@pytest.mark.parametrize("given", [{"order": "A-1"}, {"order": "A-1", "key": 7}])
def test_what_the_breaker_puts_in_the_model_need_not_have_given(given: dict[str, Any]) -> None:
    keys: list[str] = []

    @function_tool(strict_mode=False)
    @tool_spec(effect="write", identity=("order",), key_argument="key")
    async def send(order: str, key: Annotated[str, Field(min_length=8)]) -> str:
        """Send."""
        keys.append(f"{order} {key}")
        return "sent"

    with Breaker().run() as run:
        result = asyncio.run(go(guarded(clerk([send], [("send", given)]), run)))

    assert told(result) == ["sent"]
    assert len(keys) == 1


# -- results


class Payment(BaseModel):
    """What a bank knows of a payment."""

    payment: str
    found: bool = True


def as_text(payment: str) -> str:
    return json.dumps({"payment": payment})


def as_model(payment: str) -> Payment:
    return Payment(payment=payment)


def as_output(payment: str) -> ToolOutputText:
    return ToolOutputText(text=as_text(payment))


@pytest.mark.parametrize("form", [as_text, as_model, as_output])
def test_fields_are_read_in_whatever_form_a_tool_gives_them(form: Any) -> None:
    """The id in the read's result is what proves that the lost write was made."""
    paid: list[str] = []

    @function_tool
    @tool_spec(effect="read", identity=("order",))
    def find(order: str) -> Any:
        """Look a payment up."""
        return form(f"P-{order}")

    @function_tool
    @tool_spec(effect="write", identity=("order",), result_id="payment", reconcile="find")
    def pay(order: str) -> str:
        """Pay."""
        paid.append(order)
        raise TimeoutError("lost")

    lost = ("pay", {"order": "A-1"})
    turns = [[("find", lost[1])], [lost], [lost]]

    with Breaker().run() as run:
        result = asyncio.run(go(guarded(clerk([find, pay], *turns), run)))
    as_ever = asyncio.run(go(clerk([find], turns[0])))

    assert [reason(each) for each in told(result)] == [None, None, "duplicate_write"]
    assert paid == ["A-1"]
    assert told(result)[0] == told(as_ever)[0]


def test_a_tool_that_says_that_it_waits_is_told_in_its_own_words() -> None:
    own = f'{{"refused":true,  "reason":"{Reason.DENIED}", "call_id":"call-0-0"}}'
    paid: list[str] = []

    @function_tool(needs_approval=True)
    @tool_spec(effect="write", identity=("order",))
    def pay(order: str) -> str:
        """Pay, through somebody who asks a person."""
        paid.append(order)
        return own

    async def approved(agent: Any) -> Any:
        state = (await go(agent)).to_state()
        state.approve(state.get_interruptions()[0])
        return await go(agent, state)

    with Breaker().run() as run:
        agent = guarded(clerk([pay], [("pay", {"order": "A-1"})]), run)
        result = asyncio.run(approved(agent))

    assert told(result) == [own]
    assert paid == ["A-1"]


def test_a_hint_is_put_into_a_text_that_is_json() -> None:
    @function_tool
    @tool_spec(effect="read", wording=("words",))
    def search(words: str) -> str:
        """Search."""
        return '{"found": []}'

    turns = [[("search", {"words": f"{number} words"})] for number in range(2)]

    with Breaker().run() as run:
        first, second = told(asyncio.run(go(guarded(clerk([search], *turns), run))))

    assert first == '{"found": []}'
    assert json.loads(second).keys() == {"found", "tripwire_hint"}


# -- tools that nothing can be put before


def sandboxed(**options: Any) -> Any:
    return SandboxAgent(name="clerk", tools=[payer([])], model=script(), **options)


def test_an_agent_that_gets_tools_when_it_runs_is_an_error_unless_it_is_named() -> None:
    with Breaker().run() as run:
        with pytest.raises(TypeError, match="tools that 'clerk' gets when it runs"):
            guarded(sandboxed(), run)
        clone = guarded(sandboxed(), run, unguarded=["clerk"])

    assert isinstance(clone, SandboxAgent)


def test_an_agent_of_the_teams_own_class_is_guarded_like_any_other() -> None:
    class Clerk(Agent[None]):
        """Knows its shop, and gets no tools from anywhere else."""

        def shop(self) -> str:
            return f"the shop of {self.name}"

    with Breaker().run() as run:
        clone = guarded(Clerk(name="clerk", tools=[payer([])], model=script()), run)

    assert clone.shop() == "the shop of clerk"


def test_a_prompt_that_the_provider_keeps_may_bring_tools_and_is_named() -> None:
    agent = clerk([payer([])], prompt={"id": "pmpt_1"})

    with Breaker().run() as run:
        with pytest.raises(TypeError, match="stored prompt of 'clerk'"):
            guarded(agent, run)
        guarded(agent, run, unguarded=["clerk"])


def test_tools_that_an_agent_gets_when_it_runs_cannot_be_taken_over() -> None:
    class Silent:
        def call(self, *given: Any, **named: Any) -> Any:
            raise AssertionError(given, named)

        async def acall(self, *given: Any, **named: Any) -> Any:
            raise AssertionError(given, named)

    adoption = Adoption(Silent(), ["pay"])

    adopt(sandboxed(), adoption)

    with pytest.raises(UnknownToolError, match="gets when it runs"):
        adoption.check()


class Changes(AgentHooks[Any]):
    """Changes an agent's tools when it starts."""

    def __init__(self, change: Any) -> None:
        self._change = change

    async def on_start(self, context: Any, agent: Any) -> None:
        self._change(agent)


@WAYS
def test_a_tool_that_a_hook_gives_an_agent_ends_the_run_before_its_model_is_asked(way: str) -> None:
    paid: list[Any] = []
    late = payer(paid, name_override="late")
    agent = clerk([payer([])], [("late", FITS[1])], hooks=Changes(lambda it: it.tools.append(late)))

    with Breaker().run() as run, pytest.raises(TypeError, match=r"'late'.*after it was guarded"):
        asyncio.run(go(guarded(agent, run), way=way))

    assert paid == []
    assert agent.model.calls == ()


def test_an_agent_that_a_hook_lets_be_handed_to_ends_the_run_too() -> None:
    stranger = Agent[None](name="stranger", tools=[payer([])])
    agent = clerk([], hooks=Changes(lambda it: it.handoffs.append(stranger)))

    with (
        Breaker().run() as run,
        pytest.raises(TypeError, match=r"'stranger'.*after it was guarded"),
    ):
        asyncio.run(go(guarded(agent, run)))


def test_a_tool_that_was_given_late_does_not_run_when_a_state_is_taken_up() -> None:
    paid: list[Any] = []

    def with_late(agent: Any) -> Any:
        agent.tools.append(payer(paid, name_override="late", needs_approval=True))
        return agent

    async def taken_up(run: Any) -> None:
        bare = await go(with_late(clerk([], [("late", FITS[1])])))
        state = await RunState.from_string(
            with_late(guarded(clerk([]), run)), bare.to_state().to_string()
        )
        state.approve(state.get_interruptions()[0])
        await go(with_late(guarded(clerk([]), run)), state)

    with Breaker().run() as run, pytest.raises(Exception, match="after it was guarded"):
        asyncio.run(taken_up(run))

    assert paid == []


def narrowed(agent: Any) -> None:
    agent.tools = agent.tools[:1]


def reworded(agent: Any) -> None:
    agent.tools = [dataclasses.replace(each, description="Pay a guest.") for each in agent.tools]


@pytest.mark.parametrize("change", [narrowed, reworded])
def test_a_hook_may_choose_among_the_guarded_tools_and_reword_them(change: Any) -> None:
    paid: list[Any] = []
    agent = clerk([payer(paid), payer([], name_override="other")], [FITS], hooks=Changes(change))

    with Breaker().run() as run:
        result = asyncio.run(go(guarded(agent, run)))

    assert told(result) == ["paid sorry"]
    assert paid == [("A-1", 40)]


# -- agents as tools


def front(paid: list[Any], *turns: list[tuple[str, Any]]) -> Any:
    inner = clerk([payer(paid)], [FITS], [FITS])
    return Agent[None](
        name="front", tools=[inner.as_tool("ask_clerk", "Ask.")], model=script(*turns)
    )


ASK = ("ask_clerk", {"input": "Pay."})


def test_an_agents_tool_that_the_breaker_declares_is_decided_about() -> None:
    paid: list[Any] = []
    spec = ToolSpec(name="ask_clerk", effect=Effect.WRITE, identity=())

    with Breaker(specs={"ask_clerk": spec}).run() as run:
        result = asyncio.run(go(guarded(front(paid, [ASK], [ASK]), run)))

    assert [reason(each) for each in told(result)] == [None, "duplicate_write"]
    assert paid == [("A-1", 40)]


def test_an_agents_tool_that_nobody_declares_is_guarded_inside_whatever_tools_do_by_default() -> (
    None
):
    paid: list[Any] = []

    with Breaker(default_effect="write").run() as run:
        result = asyncio.run(go(guarded(front(paid, [ASK], [ASK]), run)))

    assert [reason(each) for each in told(result)] == [None, None]
    assert paid == [("A-1", 40)]


# -- approvals


def asking(tool: Any) -> dict[str, ToolSpec]:
    spec = ToolSpec(
        name=tool.name,
        effect=Effect.WRITE,
        identity=("order",),
        wording=("note",),
        requires_approval=True,
    )
    return {tool.name: spec}


@WAYS
def test_a_policy_that_wants_no_yes_does_not_outweigh_the_breaker_that_wants_one(way: str) -> None:
    paid: list[Any] = []
    tool = payer(paid, needs_approval=never)

    async def asked_and_approved(run: Any) -> Any:
        agent = guarded(clerk([tool], [FITS]), run, asking(tool))
        waiting = await go(agent, way=way)
        assert len(waiting.interruptions) == 1
        assert paid == []
        state = waiting.to_state()
        state.approve(state.get_interruptions()[0])
        return await go(agent, state, way=way)

    with Breaker().run() as run:
        result = asyncio.run(asked_and_approved(run))

    assert paid == [("A-1", 40)]
    assert told(result) == ["paid sorry"]


def order(number: int) -> tuple[str, dict[str, Any]]:
    return ("pay", {"order": f"A-{number}", "cents": 40, "note": ""})


async def always(agent: Any, words: Any, *, stored: bool) -> Any:
    """Run until somebody is asked, and say yes to this call and all later ones."""
    result = await go(agent, words)
    state = result.to_state()
    if stored:
        state = await RunState.from_string(agent, state.to_string())
    state.approve(state.get_interruptions()[0], always_approve=True)
    return await go(agent, state)


@pytest.mark.parametrize("stored", [False, True])
def test_a_yes_to_all_later_calls_is_one_to_this_write_alone(stored: bool) -> None:  # noqa: FBT001
    paid: list[Any] = []
    tool = payer(paid)

    async def work(run: Any) -> Any:
        agent = guarded(clerk([tool], [order(1)], [order(2)]), run, asking(tool))
        first = await always(agent, "Pay.", stored=stored)
        assert paid == [("A-1", 40)]
        assert len(first.interruptions) == 1
        state = first.to_state()
        state.approve(state.get_interruptions()[0])
        return await go(agent, state)

    with Breaker().run() as run:
        asyncio.run(work(run))

    assert paid == [("A-1", 40), ("A-2", 40)]


def test_of_two_writes_that_were_put_up_together_a_yes_to_all_makes_one() -> None:
    paid: list[Any] = []
    tool = payer(paid)

    with Breaker().run() as run:
        agent = guarded(clerk([tool], [order(1), order(2)]), run, asking(tool))
        asyncio.run(always(agent, "Pay.", stored=False))

    assert len(paid) == 1


def test_where_only_the_sdk_asks_a_yes_to_all_later_calls_is_the_teams_affair() -> None:
    paid: list[Any] = []
    tool = payer(paid, needs_approval=True)

    with Breaker().run() as run:
        agent = guarded(clerk([tool], [order(1)], [order(2)]), run)
        result = asyncio.run(always(agent, "Pay.", stored=False))

    assert result.interruptions == []
    assert paid == [("A-1", 40), ("A-2", 40)]
