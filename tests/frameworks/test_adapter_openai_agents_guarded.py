"""Agents of the OpenAI Agents SDK in production: a run of the breaker decides about their calls,
hand-offs and model requests.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
from typing import Any

import pytest
from agents import (
    Agent,
    AgentHooks,
    FunctionTool,
    HostedMCPTool,
    ModelResponse,
    RunConfig,
    RunHooks,
    Runner,
    RunState,
    Usage,
    WebSearchTool,
    function_tool,
    handoff,
)
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call

from pytest_tripwire.adapters.openai_agents import Hooks, StoppedError, guarded
from pytest_tripwire.adapters.openai_agents.handing import target_of
from pytest_tripwire.breaker import Breaker, Interrupted, RunBudget, tool_spec
from pytest_tripwire.guard.errors import UndeclaredToolError
from pytest_tripwire.timeline import Effect, Mode, ToolSpec

NEEDS = ("openai-agents",)

QUIET: dict[str, Any] = {"run_config": RunConfig(tracing_disabled=True)}
WAYS = pytest.mark.parametrize("way", ["run", "stream"])
#: What the SDK tells by default of a tool that has raised.
FAILED = "An error occurred while running the tool. Please try again."


async def go(way: str, agent: Any, words: Any = "Help.", **options: Any) -> Any:
    if way == "run":
        return await Runner.run(agent, words, **QUIET, **options)
    result = Runner.run_streamed(agent, words, **QUIET, **options)
    async for _ in result.stream_events():
        pass
    return result


IDS = itertools.count(1)


def calls(*made: tuple[str, dict[str, Any]]) -> list[Any]:
    """One message of the model, with a call for each pair."""
    return [function_call(name, given, call_id=f"call-{next(IDS)}") for name, given in made]


def script(*turns: list[tuple[str, dict[str, Any]]], usage: Usage | None = None) -> ScriptedModel:
    """A model that makes these calls and then says goodbye."""
    steps: list[Any] = [calls(*made) for made in turns]
    return ScriptedModel([*steps, [assistant_message("Goodbye.")]], default_usage=usage)


def told(result: Any) -> list[Any]:
    """What the model was told of its calls, in order."""
    items = result.to_input_list()
    return [each["output"] for each in items if each.get("type") == "function_call_output"]


def reasons(result: Any) -> list[Any]:
    """Why calls were refused, None for those that were not."""
    found = []
    for each in told(result):
        told_as = json.loads(each) if each.startswith('{"refused"') else {}
        found.append(told_as.get("reason"))
    return found


class Shop:
    """What the tools below have done."""

    def __init__(self) -> None:
        self.paid: list[tuple[str, int]] = []
        self.searched = 0
        self.fails: type[Exception] | None = None

    def tools(self) -> list[Any]:
        @function_tool
        @tool_spec(effect="read")
        async def search(query: str) -> str:
            """Search."""
            self.searched += 1
            return ""

        @function_tool
        @tool_spec(effect="read", identity=("order",))
        async def find_payment(order: str) -> dict[str, Any]:
            """Look a payment up."""
            paid = [cents for known, cents in self.paid if known == order]
            return {"payment": f"P-{order}", "cents": paid[0]} if paid else {}

        @function_tool
        @tool_spec(effect="write", identity=("order",), wording=("note",))
        async def pay(order: str, cents: int, note: str) -> str:
            """Pay."""
            self.paid.append((order, cents))
            if self.fails:
                raise self.fails("lost")
            return "paid"

        return [search, find_payment, pay]


PAY = ("pay", {"order": "A-1", "cents": 40, "note": "sorry"})
PAY_AGAIN = ("pay", {"order": "A-1", "cents": 40, "note": "trying once more"})
FIND = ("find_payment", {"order": "A-1"})


def clerk(shop: Shop, model: ScriptedModel, **options: Any) -> Any:
    return Agent[None](name="clerk", tools=shop.tools(), model=model, **options)


@WAYS
def test_a_write_that_is_proposed_again_runs_once_and_the_model_is_told(way: str) -> None:
    shop = Shop()
    agent = clerk(shop, script([PAY], [PAY_AGAIN]))

    with Breaker().run() as run:
        result = asyncio.run(go(way, guarded(agent, run)))

    assert shop.paid == [("A-1", 40)]
    assert told(result)[0] == "paid"
    assert reasons(result) == [None, "duplicate_write"]


@WAYS
def test_a_body_that_raises_is_told_as_ever_and_its_write_is_unknown(way: str) -> None:
    shop = Shop()
    shop.fails = TimeoutError
    agent = clerk(shop, script([PAY], [PAY_AGAIN]))
    results: list[Any] = []

    with pytest.raises(Interrupted) as caught, Breaker().run() as run:
        results.append(asyncio.run(go(way, guarded(agent, run))))

    assert caught.value.reason == "unknown_side_effect"
    assert shop.paid == [("A-1", 40)]
    assert told(results[0])[0] == FAILED
    assert reasons(results[0]) == [None, "unknown_side_effect"]


def test_a_lost_write_is_settled_by_the_read_that_its_spec_names() -> None:
    shop = Shop()
    shop.fails = TimeoutError
    spec = ToolSpec(
        name="pay",
        effect=Effect.WRITE,
        identity=("order",),
        wording=("note",),
        result_id="payment",
        reconcile="find_payment",
    )
    agent = clerk(shop, script([PAY], [PAY_AGAIN]))
    results: list[Any] = []

    with Breaker().run() as run:
        results.append(asyncio.run(go("run", guarded(agent, run, {"pay": spec}))))

    assert shop.paid == [("A-1", 40)]
    assert reasons(results[0]) == [None, "duplicate_write"]


def test_a_failure_that_the_tool_lets_through_still_ends_the_run() -> None:
    @function_tool(failure_error_function=None)
    @tool_spec(effect="read")
    def broken() -> str:
        """Break."""
        raise RuntimeError("no such table")

    agent = Agent[None](name="clerk", tools=[broken], model=script([("broken", {})]))

    with Breaker().run() as run, pytest.raises(Exception, match="no such table"):
        asyncio.run(go("run", guarded(agent, run)))


@pytest.mark.parametrize("count_model", [True, False])
@WAYS
def test_a_run_that_is_stopped_ends_before_its_next_model_request(
    way: str,
    count_model: bool,  # noqa: FBT001 - a parameter
) -> None:
    shop = Shop()
    model = script([PAY], [("pay", {**PAY[1], "order": "A-2"})])

    class Cancels(RunHooks[Any]):
        async def on_tool_end(self, *_: Any) -> None:
            run.interrupt("enough")

    async def work(run: Any) -> None:
        agent = guarded(clerk(shop, model), run, count_model=count_model)
        await go(way, agent, hooks=Cancels())

    with pytest.raises(Interrupted) as caught, Breaker().run() as run:
        asyncio.run(work(run))

    assert isinstance(caught.value.__cause__, StoppedError)
    assert caught.value.__cause__.run_data is not None
    assert len(model.calls) == 1
    assert shop.paid == [("A-1", 40)]


@WAYS
def test_turns_are_counted_unless_somebody_else_counts_them(way: str) -> None:
    turns = [[FIND], [("find_payment", {"order": "A-2"})], [("find_payment", {"order": "A-3"})]]
    model, uncounted = script(*turns), script(*turns)
    breaker = Breaker(budget=RunBudget(max_turns=2))

    with pytest.raises(Interrupted) as caught, breaker.run() as run:
        asyncio.run(go(way, guarded(clerk(Shop(), model), run)))
    with breaker.run() as run:
        result = asyncio.run(go(way, guarded(clerk(Shop(), uncounted), run, count_model=False)))

    assert caught.value.reason == "turn_budget"
    assert len(model.calls) == 2
    assert result.final_output == "Goodbye."


def test_tokens_are_counted_and_unknown_ones_stay_unknown() -> None:
    used = Usage(requests=1, input_tokens=90, output_tokens=10, total_tokens=100)
    breaker = Breaker(budget=RunBudget(max_tokens=150))
    counted, unknown = script([FIND], [FIND], usage=used), script([FIND], [FIND])
    ended: list[Any] = []

    for model in (counted, unknown):
        with pytest.raises(Interrupted) as caught, breaker.run() as run:
            asyncio.run(go("run", guarded(clerk(Shop(), model), run)))
        ended.append(caught.value.reason)

    assert ended == ["token_budget", "cost_unknown"]


def test_hooks_of_the_agents_own_are_called_and_may_raise() -> None:
    seen: list[str] = []

    class Own(AgentHooks[Any]):
        async def on_start(self, context: Any, agent: Any) -> None:
            seen.append("start")

        async def on_end(self, context: Any, agent: Any, output: Any) -> None:
            seen.append("end")

        async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:
            seen.append(f"tool {tool.name}")

        async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: Any) -> None:
            seen.append(f"came back {result}")

        async def on_llm_start(self, *_: Any) -> None:
            seen.append("asks")

        async def on_llm_end(self, *_: Any) -> None:
            seen.append("answered")

    class Raises(AgentHooks[Any]):
        async def on_tool_end(self, *_: Any) -> None:
            raise RuntimeError("a hook")

    shop = Shop()
    with Breaker().run() as run:
        asyncio.run(go("run", guarded(clerk(shop, script([PAY]), hooks=Own()), run)))
    broken = clerk(shop, script([PAY]), hooks=Raises())
    with Breaker().run() as run, pytest.raises(Exception, match="a hook"):
        asyncio.run(go("run", guarded(broken, run)))

    turn = ["asks", "answered"]
    assert seen == ["start", *turn, "tool pay", "came back paid", *turn, "end"]
    assert run.mode is Mode.OPEN
    assert shop.paid == [("A-1", 40)] * 2


def test_the_same_write_twice_in_one_message_is_made_once() -> None:
    shop = Shop()

    with Breaker().run() as run:
        result = asyncio.run(go("run", guarded(clerk(shop, script([PAY, PAY_AGAIN])), run)))

    assert shop.paid == [("A-1", 40)]
    assert sorted(map(str, reasons(result))) == ["None", "duplicate_write"]


def test_a_sibling_that_still_runs_at_the_stop_comes_to_its_end() -> None:
    done: list[str] = []
    entered = threading.Event()

    @function_tool
    @tool_spec(effect="write", identity=("order",))
    def slow(order: str) -> str:
        """Take time."""
        entered.set()
        assert stopped.wait(10)
        done.append(order)
        return "done"

    @function_tool
    @tool_spec(effect="read")
    def fast() -> str:
        """Stop the run."""
        assert entered.wait(10)
        run.interrupt("enough")
        stopped.set()
        return "stopped"

    stopped = threading.Event()
    model = script([("slow", {"order": "A-1"}), ("fast", {})], [("slow", {"order": "A-2"})])
    agent = Agent[None](name="clerk", tools=[slow, fast], model=model)

    with pytest.raises(Interrupted) as caught, Breaker().run() as run:
        asyncio.run(go("run", guarded(agent, run)))

    assert done == ["A-1"]
    assert [each.status for each in caught.value.record.writes] == ["confirmed"]
    assert len(model.calls) == 1


# -- several agents


def ring(shop: Shop, model: Any, **options: Any) -> Any:
    """Two clerks who hand over to each other; the first of them."""
    one, other = (Agent[None](name=name, tools=shop.tools(), model=model) for name in "AB")
    one.handoffs = [handoff(other, **options)] if options else [other]
    other.handoffs = [handoff(one, **options)] if options else [one]
    return one


def hand_over(call: Any) -> list[Any]:
    """Hand over to the colleague, whoever that is."""
    return calls((call.handoffs[0].tool_name, {}))


@WAYS
def test_specialists_who_hand_to_and_fro_are_interrupted_before_a_write(way: str) -> None:
    shop = Shop()
    goodbye = [assistant_message("Goodbye.")]
    model = ScriptedModel([*[ModelStep.respond(hand_over)] * 4, calls(PAY), goodbye])

    with pytest.raises(Interrupted) as caught, Breaker().run() as run:
        asyncio.run(go(way, guarded(ring(shop, model), run), max_turns=30))

    assert caught.value.reason == "handoff_without_progress"
    assert isinstance(caught.value.__cause__, StoppedError)
    assert shop.paid == []
    # The write was asked for, refused, and the run ended there.
    assert model.remaining_steps == 1
    heard = [each["output"] for each in model.calls[-1].input if "output" in each]
    assert heard[:2] == ['{"assistant": "B"}', '{"assistant": "A"}']
    assert "tripwire_hint" in json.loads(heard[2])
    assert len(heard) == 4


def test_a_hand_off_that_is_refused_leaves_the_word_where_it_is() -> None:
    asked: list[str] = []

    given: list[Any] = []

    async def handed(run: Any) -> None:
        agent = guarded(ring(Shop(), script(), on_handoff=lambda _: asked.append("handed")), run)
        run.interrupt("enough")
        (only,) = agent.handoffs
        to = await only.on_invoke_handoff(None, "{}")
        given.extend([agent, to, only.get_transfer_message(to)])

    with pytest.raises(Interrupted), Breaker().run() as run:
        asyncio.run(handed(run))

    agent, to, message = given
    assert to is agent
    assert json.loads(message)["reason"] == "cancelled"
    assert asked == []


def test_an_agent_inside_a_tool_is_guarded_and_its_requests_are_counted() -> None:
    shop = Shop()
    inner = Agent[None](name="cashier", tools=shop.tools(), model=script([PAY], [PAY_AGAIN]))
    ask = ("ask_cashier", {"input": "Pay."})
    outer = Agent[None](
        name="front",
        tools=[inner.as_tool("ask_cashier", "Ask.", custom_output_extractor=said)],
        model=script([ask]),
    )

    with Breaker().run() as run:
        result = asyncio.run(go("run", guarded(outer, run)))

    assert shop.paid == [("A-1", 40)]
    assert told(result) == ["The cashier says: Goodbye."]
    assert run.stats().turns == 5
    assert inner.tools[2].name == "pay"


async def said(result: Any) -> str:
    return f"The cashier says: {result.final_output}"


def test_an_agents_tool_that_is_declared_is_decided_about_too() -> None:
    shop = Shop()
    inner = Agent[None](name="cashier", tools=shop.tools(), model=script([PAY, PAY_AGAIN]))
    ask = ("ask_cashier", {"input": "Pay."})
    spec = ToolSpec(name="ask_cashier", effect=Effect.WRITE, identity=())
    outer = Agent[None](
        name="front", tools=[inner.as_tool("ask_cashier", "Ask.")], model=script([ask], [ask])
    )

    with Breaker().run() as run:
        result = asyncio.run(go("run", guarded(outer, run, {"ask_cashier": spec})))

    assert shop.paid == [("A-1", 40)]
    assert reasons(result) == [None, "duplicate_write"]


# -- what cannot be guarded


def test_a_tool_that_nobody_declared_is_an_error() -> None:
    agent = Agent[None](name="clerk", tools=[function_tool(lambda: "", name_override="mystery")])

    with Breaker().run() as run, pytest.raises(UndeclaredToolError, match="mystery"):
        guarded(agent, run)


def test_what_cannot_be_guarded_is_an_error_unless_it_is_named() -> None:
    hosted = HostedMCPTool(tool_config={"type": "mcp", "server_label": "x", "server_url": "x"})
    agent = Agent[None](name="clerk", tools=[WebSearchTool(), hosted])

    with Breaker().run() as run:
        with pytest.raises(TypeError, match="the HostedMCPTool of 'clerk' named 'hosted_mcp'"):
            guarded(agent, run, unguarded=["web_search"])
        clone = guarded(agent, run, unguarded=["web_search", "hosted_mcp"])

    assert clone.tools == agent.tools


def test_nothing_of_the_teams_own_is_changed() -> None:
    agent = ring(Shop(), script())
    before = (list(agent.tools), list(agent.handoffs), agent.hooks)

    with Breaker().run() as run:
        clone = guarded(agent, run)

    assert (agent.tools, agent.handoffs, agent.hooks) == before
    assert [each.name for each in clone.tools] == [each.name for each in agent.tools]
    assert clone.tools[0].params_json_schema == agent.tools[0].params_json_schema
    assert target_of(target_of(clone.handoffs[0]).handoffs[0]) is clone


# -- approvals, and a state that is taken up again


def waiting(shop: Shop) -> Any:
    return Agent[None](name="clerk", tools=[*shop.tools()[:2], approved(shop)], model=script([PAY]))


def approved(shop: Shop) -> Any:
    """A payment that a person has to say yes to, by the SDK's own means."""
    tool = shop.tools()[2]
    tool.needs_approval = True
    return tool


NEEDS_YES = ToolSpec(
    name="pay",
    effect=Effect.WRITE,
    identity=("order",),
    wording=("note",),
    requires_approval=True,
)


async def put_up(agent: Any) -> str:
    """Run until somebody is asked; the state as it is stored."""
    result = await go("run", agent)
    assert len(result.interruptions) == 1
    return str(result.to_state().to_string())


async def take_up(agent: Any, stored: str) -> Any:
    """Say yes, and go on."""
    state = await RunState.from_string(agent, stored)
    state.approve(state.get_interruptions()[0])
    return await go("run", agent, state)


@pytest.mark.parametrize("specs", [{}, {"pay": NEEDS_YES}], ids=["the-sdk-asks", "both-ask"])
def test_a_state_that_is_taken_up_twice_pays_once(specs: dict[str, ToolSpec]) -> None:
    shop = Shop()
    breaker = Breaker()
    piece = {"tenant": "acme", "workflow": "payouts@1", "request_id": "message-4"}

    with breaker.run(**piece) as run:
        stored = asyncio.run(put_up(guarded(waiting(shop), run, specs)))
    results = []
    for _ in range(2):
        agent = waiting(shop)
        agent.model = script()
        with breaker.run(**piece) as run:
            results.append(asyncio.run(take_up(guarded(agent, run, specs), stored)))

    assert shop.paid == [("A-1", 40)]
    assert [reasons(each) for each in results] == [[None], ["duplicate_write"]]


@pytest.mark.parametrize("where", ["specs", "breaker"])
def test_a_write_that_needs_a_yes_is_put_up_by_the_sdk(where: str) -> None:
    shop = Shop()
    agent = clerk(shop, script([PAY]))
    known = {"pay": NEEDS_YES}

    with Breaker(specs=known if where == "breaker" else {}).run() as run:
        guarded_one = guarded(agent, run, known if where == "specs" else None)
        stored = asyncio.run(put_up(guarded_one))
        assert shop.paid == []
        asyncio.run(take_up(guarded_one, stored))

    assert shop.paid == [("A-1", 40)]


def test_a_no_of_a_person_is_told_and_nothing_runs() -> None:
    shop = Shop()

    async def refused(agent: Any) -> Any:
        state = await RunState.from_string(agent, await put_up(agent))
        state.reject(state.get_interruptions()[0])
        return await go("run", agent, state)

    with Breaker().run() as run:
        result = asyncio.run(refused(guarded(clerk(shop, script([PAY])), run, {"pay": NEEDS_YES})))

    assert shop.paid == []
    assert told(result) == ["Tool execution was not approved."]


def test_a_yes_from_before_the_record_changed_is_no_yes() -> None:
    shop = Shop()

    with Breaker().run() as run:
        agent = guarded(clerk(shop, script([FIND], [PAY])), run, {"pay": NEEDS_YES})
        stored = asyncio.run(put_up(agent))
        run.changed("A-1")
        result = asyncio.run(take_up(agent, stored))

    assert shop.paid == []
    assert reasons(result)[-1] == "stale_resume"


async def never(_context: Any, _arguments: dict[str, Any], _call_id: str) -> bool:
    return False


def test_a_policy_of_approval_is_asked_as_without_a_breaker() -> None:
    """Arguments that do not fit have a person asked, whatever the policy says."""

    @function_tool(needs_approval=never)
    @tool_spec(effect="write", identity=("order",), key_argument="key")
    async def send(order: str, key: str = "") -> str:
        """Send."""
        sent.append((order, key))
        return "sent"

    sent: list[tuple[str, str]] = []
    fits, fits_not = {"order": "A-1", "key": ""}, {"key": "x"}
    agents = [
        Agent[None](name="clerk", tools=[send], model=script([("send", given)]))
        for given in (fits, fits_not)
    ]

    with Breaker().run() as run:
        results = [asyncio.run(go("run", guarded(each, run))) for each in agents]

    assert [len(each.interruptions) for each in results] == [0, 1]
    ((order, key),) = sent
    assert order == "A-1"
    assert key


def test_a_tool_made_by_hand_ends_the_run_with_what_it_raises() -> None:
    async def body(_context: Any, _raw: str) -> str:
        raise RuntimeError("no such table")

    by_hand = FunctionTool(
        name="broken", description="Break.", params_json_schema={}, on_invoke_tool=body
    )
    spec = ToolSpec(name="broken", effect=Effect.READ)
    agent = Agent[None](name="clerk", tools=[by_hand], model=script([("broken", {})]))

    with Breaker().run() as run, pytest.raises(Exception, match="no such table"):
        asyncio.run(go("run", guarded(agent, run, {"broken": spec})))


def test_a_hand_off_is_told_to_the_hooks_of_the_agent_that_takes_over() -> None:
    seen: list[str] = []

    class Own(AgentHooks[Any]):
        async def on_handoff(self, context: Any, agent: Any, source: Any) -> None:
            seen.append(f"{source.name} to {agent.name}")

    first = ring(Shop(), ScriptedModel([ModelStep.respond(hand_over), [assistant_message("Bye.")]]))
    first.hooks = Own()

    with Breaker().run() as run:
        result = asyncio.run(go("run", guarded(first, run)))

    assert result.last_agent.name == "B"
    assert seen == ["A to B"]


def test_what_the_model_says_and_its_name_are_told() -> None:
    asked: list[Any] = []

    class Told:
        def after_model(self, usage: Any, **given: Any) -> None:
            asked.append((usage.prompt_tokens, given))

    used = Usage(requests=1, input_tokens=9, output_tokens=1, total_tokens=10)
    response = ModelResponse(
        output=[assistant_message("Hello."), *calls(PAY)], usage=used, response_id=None
    )
    hooks = Hooks(Told())  # type: ignore[arg-type]

    for model in ("a-model", None, script()):
        asyncio.run(hooks.on_llm_end(None, Agent(name="clerk", model=model), response))

    assert asked == [(9, {"text": "Hello.", "model": name}) for name in ("a-model", None, None)]
