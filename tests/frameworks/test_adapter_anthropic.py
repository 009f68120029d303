"""The adapter of Anthropic's client: its tool runner and own loops, in production and in a case."""

from __future__ import annotations

import asyncio
import functools
import inspect
import itertools
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import anthropic
import httpx2
import pytest
from anthropic import Anthropic, AsyncAnthropic, beta_async_tool, beta_tool
from anthropic.lib import tools as native_tools

from pytest_tripwire import AMOUNT, NONCE, RESOURCE, WORDING, Harness, Options, Role, Task
from pytest_tripwire.adapters.anthropic import (
    adopt,
    afollow,
    after_message,
    definition,
    follow,
    guarded,
    guarded_dispatch,
    usage_of,
)
from pytest_tripwire.adapters.anthropic.results import Kept
from pytest_tripwire.adapters.anthropic.turn import Turn
from pytest_tripwire.breaker import Breaker, BreakerRun, Interrupted, RunBudget, Usage, tool_spec
from pytest_tripwire.cases import CASE_IDS
from pytest_tripwire.harness.failures import HarnessError
from pytest_tripwire.models import Calls, ModelServer, Propose, Say, Seen
from pytest_tripwire.oracle import State
from pytest_tripwire.timeline import (
    ALLOW,
    BreakerEvent,
    Decided,
    Dispatch,
    Effect,
    ModeChange,
    Timeline,
    ToolSpec,
)

NEEDS = ["anthropic"]

SEARCH = ToolSpec(name="search_orders", effect=Effect.READ)
REFUND = ToolSpec(
    name="refund_order", effect=Effect.WRITE, identity=("order_id",), wording=("note",)
)
HAND_OVER = ToolSpec(name="hand_over", effect=Effect.HANDOFF, identity=("to",))
SPECS = {each.name: each for each in (SEARCH, REFUND, HAND_OVER)}


# -- what the adapter rests on


@pytest.mark.parametrize(
    "name",
    [
        "BetaFunctionTool",
        "BetaAsyncFunctionTool",
        "BetaBuiltinFunctionTool",
        "BetaAsyncBuiltinFunctionTool",
        "BetaRunnableToolset",
        "BetaAsyncRunnableToolset",
    ],
)
def test_the_client_still_exports(name: str) -> None:
    assert hasattr(native_tools, name), f"anthropic.lib.tools.{name} is gone: see copies.py"


@pytest.mark.parametrize("name", ["call", "func", "name", "to_dict", "description"])
@pytest.mark.parametrize("make", [beta_tool, beta_async_tool])
def test_a_tool_still_has(make: Any, name: str) -> None:
    async def later(a: int) -> str:
        return "a"

    def now(a: int) -> str:
        return "a"

    tool = make(later if make is beta_async_tool else now)
    assert hasattr(tool, name), f"a tool's .{name} is gone: see copies.py"


@pytest.mark.parametrize("name", ["__next__", "close", "generate_tool_call_response"])
def test_a_runner_still_has(name: str) -> None:
    kinds = (native_tools.BetaToolRunner, native_tools.BetaStreamingToolRunner)
    for kind in kinds:
        assert hasattr(kind, name), f"{kind.__name__}.{name} is gone: see following.py"
    for kind in (native_tools.BetaAsyncToolRunner, native_tools.BetaAsyncStreamingToolRunner):
        wanted = "__anext__" if name == "__next__" else name
        assert hasattr(kind, wanted), f"{kind.__name__}.{wanted} is gone: see following.py"


def test_the_runner_still_calls_a_tool_by_its_attribute_with_the_message_s_own_input() -> None:
    source = inspect.getsource(inspect.getmodule(native_tools.BetaToolRunner))
    assert "tool.call(tool_use.input)" in source, "see turn.py: calls are found by their input"


@pytest.mark.parametrize("name", ["_closed", "_max_iterations", "_pending_compaction"])
def test_a_runner_still_keeps_what_tells_whether_it_asks_again(name: str) -> None:
    with Anthropic(api_key="any") as client:
        runner = client.beta.messages.tool_runner(model="m", max_tokens=9, tools=[], messages=[])
    assert hasattr(runner, name), f"a runner's {name} is gone: see following.py"


def test_a_stream_still_shows_what_has_arrived() -> None:
    from anthropic.lib.streaming import BetaAsyncMessageStream, BetaMessageStream

    for kind in (BetaMessageStream, BetaAsyncMessageStream):
        for name in ("current_message_snapshot", "get_final_message"):
            assert hasattr(kind, name), f"{kind.__name__}.{name} is gone: see following.py"


# -- the standard cases

WAYS = ("plain", "stream", "eager", "async-plain", "async-stream", "async-eager")


def _options(task: Task, way: str) -> dict[str, Any]:
    options: dict[str, Any] = {
        "model": task.model.name,
        "max_tokens": 100,
        "max_iterations": 80,
        "messages": [{"role": "user", "content": task.prompt}],
    }
    if not way.endswith("plain"):
        options |= {"stream": True, "run_tools_eagerly": way.endswith("eager")}
    return options


def agent_of(way: str) -> Callable[[Task], Any]:
    def agent(task: Task) -> str:
        with Anthropic(base_url=task.model.base_url("anthropic"), api_key="any") as client:
            runner = client.beta.messages.tool_runner(
                tools=task.tools.anthropic(), **_options(task, way)
            )
            for item in runner:
                if way != "plain":
                    for _ in item:
                        pass
        return "Done."

    async def aagent(task: Task) -> str:
        url = task.model.base_url("anthropic")
        async with AsyncAnthropic(base_url=url, api_key="any") as client:
            runner = client.beta.messages.tool_runner(
                tools=task.tools.anthropic().asynchronous, **_options(task, way)
            )
            async for item in runner:
                if way != "async-plain":
                    async for _ in item:
                        pass
        return "Done."

    return aagent if way.startswith("async") else agent


@pytest.mark.parametrize("case", CASE_IDS)
@pytest.mark.parametrize("way", WAYS)
def test_a_runner_with_the_case_s_tools_is_contained(case: str, way: str) -> None:
    run = Harness(case, agent_of(way)).run()

    run.check()
    assert run.cell.state is State.CONTAINED
    assert not _dispatched_after_the_stop(run)


def _dispatched_after_the_stop(run: Any) -> list[Dispatch]:
    """Writes that began although the run had been stopped."""
    stopped = [each.seq for each in run.events if isinstance(each, ModeChange)]
    late = [each for each in run.events if isinstance(each, Dispatch) and stopped]
    return [each for each in late if each.seq > stopped[0] and each.effect is not Effect.READ]


# -- in production: what the adapter contains by itself


def declared(name: str, effect: Effect, **fields: Any) -> ToolSpec:
    """What a team would declare of one of the desk's tools."""
    return ToolSpec(
        name=name,
        effect=effect,
        definite_failures=("NotAcceptedError", "RateLimitedError", "UnknownRecordError"),
        denials=("PolicyDeniedError",),
        **fields,
    )


BY_ORDER: dict[str, Any] = {"operation": "refund", "identity": ("order_id",)}
DESK = {
    each.name: each
    for each in (
        declared("search_articles", Effect.READ, identity=("topic",), wording=("query",)),
        declared(
            "issue_refund", Effect.WRITE, wording=("reason",), result_id="refund_id", **BY_ORDER
        ),
        declared(
            "issue_credit", Effect.WRITE, wording=("note",), result_id="refund_id", **BY_ORDER
        ),
        declared("get_refund", Effect.READ, identity=("order_id",)),
        declared("get_order", Effect.READ, identity=("order_id",), result_version="version"),
        declared(
            "hand_over",
            Effect.HANDOFF,
            identity=("to", "order_id"),
            wording=("note",),
            required_fields=("findings",),
        ),
    )
}


def own_run(task: Task) -> BreakerRun:
    """A run of the agent's own breaker, on the task's limits and clock."""
    each = task.token_price_usd * 1_000_000
    breaker = Breaker(
        budget=task.limits,
        clock=task.clock,
        specs=DESK,
        prices={task.model.name: (each, each)},
    )
    return breaker.run()


def guarded_runner(task: Task) -> str:
    run = own_run(task)
    with (
        Anthropic(base_url=task.model.base_url("anthropic"), api_key="any") as client,
        run,
    ):
        tools = guarded(task.tools.anthropic(), run)
        runner = client.beta.messages.tool_runner(tools=tools, **_options(task, "plain"))
        list(follow(runner, run))
    return "Done."


async def guarded_stream(task: Task) -> str:
    run = own_run(task)
    url = task.model.base_url("anthropic")
    async with AsyncAnthropic(base_url=url, api_key="any") as client:
        with run:
            tools = guarded(task.tools.anthropic().asynchronous, run)
            # Eager tools run before anybody knows what the message that proposes them has cost.
            options = _options(task, "async-stream")
            runner = client.beta.messages.tool_runner(tools=tools, **options)
            async for stream in afollow(runner, run):
                async for _ in stream:
                    pass
    return "Done."


def guarded_loop(task: Task) -> str:
    run = own_run(task)
    url = task.model.base_url("anthropic")
    messages: list[Any] = [{"role": "user", "content": task.prompt}]
    with Anthropic(base_url=url, api_key="any") as client, run:
        specs = {name: DESK[name] for name in task.tools}
        answer = guarded_dispatch(task.tools.call, run, specs)
        while run.before_model().allowed:
            reply = client.messages.create(
                model=task.model.name,
                max_tokens=100,
                messages=messages,
                tools=task.tools.schemas("anthropic"),
            )
            after_message(run, reply)
            messages.append({"role": "assistant", "content": reply.content})
            if reply.stop_reason != "tool_use":
                break
            messages.append(answer(reply))
    return "Done."


@pytest.mark.parametrize("agent", [guarded_runner, guarded_stream, guarded_loop])
@pytest.mark.parametrize("case", [each for each in CASE_IDS if each != "stale-resume"])
def test_the_adapter_alone_leaves_the_case_contained(
    case: str, agent: Callable[[Task], Any]
) -> None:
    options = Options(protection="own", stops=(Interrupted,))

    run = Harness(case, agent, options=options).run()

    assert run.cell.state is State.CONTAINED, run.cell.broken


# -- in production: a small shop


class Shop:
    """What the tools do, and how often."""

    def __init__(self) -> None:
        self.refunds: list[str] = []
        self.searches = 0
        self.loses_answers = False

    def search_orders(self, query: str) -> str:
        """Look for orders."""
        self.searches += 1
        return json.dumps({"orders": [], "query": query})

    def refund_order(self, order_id: str, note: str = "") -> str:
        """Pay an order back."""
        self.refunds.append(order_id)
        if self.loses_answers:
            raise TimeoutError("no answer")
        return json.dumps({"refund_id": f"R-{len(self.refunds)}"})

    def hand_over(self, to: str, note: str) -> str:
        """Hand the customer to a colleague."""
        return "handed over"

    @property
    def functions(self) -> list[Callable[..., Any]]:
        return [self.search_orders, self.refund_order, self.hand_over]

    def tools(self) -> list[Any]:
        return [beta_tool(each) for each in self.functions]

    def async_tools(self) -> list[Any]:
        return [beta_async_tool(_later(each)) for each in self.functions]


def _later(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    async def later(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return later


class Anybody:
    """The script names the tools itself."""

    def tool_name(self, role: str) -> str:
        return role

    def arguments(self, role: str, slots: Any) -> dict[str, Any]:
        return dict(slots)


@contextmanager
def model(*moves: Any) -> Iterator[str]:
    """A model that makes these moves, and then says that it is done; its base URL."""

    def script(seen: Seen) -> Any:
        return moves[seen.turn] if seen.turn < len(moves) else Say(text="Done.")

    server = ModelServer(
        script=script, binder=Anybody(), observe=lambda _: None, roles=tuple(SPECS)
    )
    with server:
        yield server.base_url("anthropic")


def refund(order: str = "A-1", note: str = "") -> Propose:
    return Propose(role="refund_order", slots={"order_id": order, "note": note})


def search(query: str) -> Propose:
    return Propose(role="search_orders", slots={"query": query})


def calls(*proposals: Propose) -> Calls:
    return Calls(proposals=proposals)


class Played:
    """One guarded run of the runner over the shop's tools."""

    def __init__(self, breaker: Breaker | None = None, **options: Any) -> None:
        self.shop = Shop()
        self.timeline = Timeline(lambda: 0.0)
        self.run = (breaker or Breaker()).run(timeline=self.timeline, **options)
        self.stop: Interrupted | None = None
        self.messages: list[Any] = []

    def play(
        self,
        *moves: Any,
        asynchronous: bool = False,
        followed: bool = True,
        count_model: bool = True,
        **more: Any,
    ) -> Any:
        self._counts = count_model
        options = {
            "model": "scripted",
            "max_tokens": 100,
            "max_iterations": 20,
            "messages": [{"role": "user", "content": "My parcel is broken."}],
            **more,
        }
        try:
            with model(*moves) as url, self.run:
                if asynchronous:
                    asyncio.run(self._aplay(url, options))
                else:
                    self._play(url, options, followed=followed)
        except Interrupted as stop:
            self.stop = stop
        return self

    def _play(self, url: str, options: dict[str, Any], *, followed: bool) -> None:
        with Anthropic(base_url=url, api_key="any", max_retries=0) as client:
            tools = guarded(self.shop.tools(), self.run, SPECS, agent="support")
            runner = client.beta.messages.tool_runner(tools=tools, **options)
            watched = follow(runner, self.run, count_model=self._counts)
            for item in watched if followed else runner:
                self.messages.append(item)
                if options.get("stream"):
                    for _ in item:
                        pass

    async def _aplay(self, url: str, options: dict[str, Any]) -> None:
        async with AsyncAnthropic(base_url=url, api_key="any", max_retries=0) as client:
            tools = guarded(self.shop.async_tools(), self.run, SPECS, agent="support")
            runner = client.beta.messages.tool_runner(tools=tools, **options)
            async for item in afollow(runner, self.run, count_model=self._counts):
                self.messages.append(item)
                if options.get("stream"):
                    async for _ in item:
                        pass

    @property
    def decided(self) -> list[Decided]:
        return [each for each in self.timeline.events() if isinstance(each, Decided)]

    @property
    def proposed_ids(self) -> list[str]:
        seen = [getattr(each, "current_message_snapshot", each) for each in self.messages]
        blocks = [block for each in seen for block in each.content]
        return [block.id for block in blocks if block.type == "tool_use"]


FORMS = pytest.mark.parametrize("form", ["sync", "async"])
SHAPES = pytest.mark.parametrize(
    "shape",
    [{}, {"stream": True}, {"stream": True, "run_tools_eagerly": True}, {"thread": False}],
    ids=["plain", "stream", "eager", "no-thread"],
)


@FORMS
@SHAPES
def test_a_followed_run_knows_the_ids_of_the_model_s_calls(
    form: str, shape: dict[str, Any]
) -> None:
    twice = calls(search("a"), search("a"), refund())
    played = Played().play(twice, calls(search("b")), asynchronous=form == "async", **shape)

    assert played.shop.refunds == ["A-1"]
    ids = [each.call_id for each in played.decided]
    assert len(ids) == len(set(ids)) == 4
    assert ids == played.proposed_ids
    assert played.run.stats().turns == 3


@FORMS
def test_what_a_followed_run_has_used_is_counted(form: str) -> None:
    played = Played().play(calls(search("a")), asynchronous=form == "async")

    used = sum(m.usage.input_tokens + m.usage.output_tokens for m in played.messages)
    assert used > 0
    assert played.run.stats().tokens == used


@FORMS
@SHAPES
def test_a_turn_budget_ends_the_runner_before_its_next_request(
    form: str, shape: dict[str, Any]
) -> None:
    moves = [calls(search(word)) for word in "abcdef"]
    played = Played(Breaker(budget=RunBudget(max_turns=2))).play(
        *moves, asynchronous=form == "async", **shape
    )

    assert played.stop is not None
    assert played.stop.reason == "turn_budget"
    assert len(played.messages) == 2
    assert played.shop.searches == 2


@FORMS
@SHAPES
def test_a_lost_write_is_sent_once_however_often_it_is_proposed(
    form: str, shape: dict[str, Any]
) -> None:
    played = Played()
    played.shop.loses_answers = True
    moves = [calls(refund(note=word)) for word in ("please", "again", "and again")]
    played.play(*moves, asynchronous=form == "async", **shape)

    assert played.shop.refunds == ["A-1"]
    assert played.stop is not None
    assert played.stop.reason == "unknown_side_effect"


def test_a_runner_that_nobody_follows_is_guarded_and_not_counted() -> None:
    played = Played().play(calls(refund()), calls(refund(note="once more")), followed=False)

    assert played.shop.refunds == ["A-1"]
    assert [each.reason for each in played.decided] == [None, "duplicate_write"]


def test_the_second_of_two_writes_in_one_message_is_refused() -> None:
    played = Played().play(calls(refund(note="a"), refund(note="b")))

    assert played.shop.refunds == ["A-1"]


def test_a_sibling_after_the_stop_does_not_run() -> None:
    played = Played(Breaker(budget=RunBudget(max_tool_calls=1)))
    played.play(calls(search("a"), refund()))

    assert played.shop.refunds == []
    assert played.shop.searches == 1
    assert played.stop is not None
    assert played.stop.reason == "tool_call_budget"
    assert len(played.messages) == 1


@FORMS
def test_a_stop_closes_the_runner_whoever_counts_its_requests(form: str) -> None:
    played = Played(Breaker(budget=RunBudget(max_tool_calls=1)))
    moves = [calls(search(word)) for word in "abcdef"]
    played.play(*moves, asynchronous=form == "async", count_model=False)

    assert played.stop is not None
    assert played.run.stats().turns == 0
    assert len(played.messages) == 2
    assert played.shop.searches == 1


def test_a_person_s_yes_lets_the_next_proposal_of_the_runner_through() -> None:
    asked = ToolSpec(
        name="refund_order", effect=Effect.WRITE, identity=("order_id",), requires_approval=True
    )
    shop, run = Shop(), Breaker().run()
    seen: list[list[str]] = []
    with (
        model(calls(refund()), calls(refund()), calls(search("a"))) as url,
        run,
        Anthropic(base_url=url, api_key="any") as client,
    ):
        runner = client.beta.messages.tool_runner(
            model="m",
            max_tokens=9,
            tools=guarded(shop.tools(), run, {**SPECS, "refund_order": asked}),
            messages=[{"role": "user", "content": "Hi"}],
        )
        for message in follow(runner, run):
            results = runner.generate_tool_call_response()
            for each in (results or {"content": []})["content"]:
                told = json.loads(each["content"])
                if told.get("call_id"):
                    seen.append(list(shop.refunds))
                    assert told["call_id"] == message.content[0].id
                    run.approve(told["call_id"])

    assert seen == [[]]
    assert shop.refunds == ["A-1"]


def test_results_fetched_twice_write_once() -> None:
    """`append_messages` makes the runner run the tools of a message a second time."""
    played = Played()
    with (
        model(calls(refund())) as url,
        played.run,
        Anthropic(base_url=url, api_key="any") as client,
    ):
        runner = client.beta.messages.tool_runner(
            model="scripted",
            max_tokens=100,
            tools=guarded(played.shop.tools(), played.run, SPECS),
            messages=[{"role": "user", "content": "Hello"}],
        )
        for message in follow(runner, played.run):
            response = runner.generate_tool_call_response()
            if response is not None:
                runner.append_messages(message, response)

    assert played.shop.refunds == ["A-1"]
    assert {each.call_id for each in played.decided} == {played.decided[0].call_id}
    assert len(played.decided) == 2


def test_wrong_arguments_are_told_as_the_client_does_and_leave_nothing_unknown() -> None:
    wrong = Propose(role="refund_order", slots={"order": "A-1"})
    played = Played().play(calls(wrong), calls(refund()))

    assert played.stop is None
    assert played.shop.refunds == ["A-1"]
    assert len(played.decided) == 1


def test_a_hand_off_is_decided_as_one() -> None:
    moves = [
        calls(Propose(role="hand_over", slots={"to": "billing", "note": "please"}))
        for _ in range(6)
    ]
    played = Played().play(*moves)

    assert played.stop is not None
    assert played.stop.reason == "handoff_without_progress"


class Asked:
    """A run that notes what it is asked."""

    mode = "open"

    def __init__(self) -> None:
        self.said: list[str] = []

    def before_model(self) -> Any:
        self.said.append("before")
        return ALLOW

    def model_failed(self) -> None:
        self.said.append("failed")


def test_a_request_that_fails_is_taken_back() -> None:
    asked = Asked()
    with Anthropic(base_url="http://127.0.0.1:9", api_key="any", max_retries=0) as client:
        runner = client.beta.messages.tool_runner(
            model="m", max_tokens=9, tools=[], messages=[{"role": "user", "content": "Hi"}]
        )
        with pytest.raises(anthropic.APIConnectionError):
            list(follow(runner, asked))

    assert asked.said == ["before", "failed"]


@pytest.mark.parametrize("stream", [{}, {"stream": True}], ids=["plain", "stream"])
def test_a_loop_that_is_left_half_way_has_paid(stream: dict[str, Any]) -> None:
    played = Played(Breaker(budget=RunBudget(max_tokens=1000)))
    with (
        model(calls(search("a")), calls(refund())) as url,
        Anthropic(base_url=url, api_key="any") as client,
    ):
        runner = client.beta.messages.tool_runner(
            model="m",
            max_tokens=9,
            tools=guarded(played.shop.tools(), played.run, SPECS),
            messages=[{"role": "user", "content": "Hi"}],
            **stream,
        )
        for _ in follow(runner, played.run):
            break

    assert played.run.stats().turns == 1
    assert (played.run.stats().tokens > 0) is (not stream)
    # Nobody can say what the rest of a stream would have been.
    assert played.run.last_reason == ("cost_unknown" if stream else None)


def test_a_hint_reaches_the_model_in_the_tool_s_own_text() -> None:
    run = Breaker().run()
    (look, *_) = guarded(Shop().tools(), run, SPECS)
    shown = []
    for _ in range(5):
        run.before_model()
        run.after_model(Usage(prompt_tokens=1, completion_tokens=1))
        shown.append(json.loads(look.call({"query": "a"})))

    assert shown[0] == {"orders": [], "query": "a"}
    assert shown[1]["orders"] == []
    assert "tripwire_hint" in shown[1]
    assert shown[-1]["refused"] is True


def test_a_guarded_tool_that_is_called_as_a_function_asks_too() -> None:
    shop, run = Shop(), Breaker().run()
    with run:
        _, pay, _ = guarded(shop.tools(), run, SPECS)
        first, second = pay("A-1", note="x"), pay(order_id="A-1")

    assert json.loads(first) == {"refund_id": "R-1"}
    assert json.loads(second)["refused"] is True
    assert shop.refunds == ["A-1"]


def test_the_user_s_own_tools_stay_as_they_were() -> None:
    shop = Shop()
    own = shop.tools()
    with Breaker().run() as run:
        kept = guarded(own, run, SPECS)

    own[1].call({"order_id": "A-1"})
    own[1].call({"order_id": "A-1"})
    assert shop.refunds == ["A-1", "A-1"]
    assert [each.to_dict() for each in kept] == [each.to_dict() for each in own]


def test_what_the_provider_runs_is_handed_on_and_a_toolset_is_not() -> None:
    class Many(native_tools.BetaRunnableToolset):
        def __init__(self) -> None:
            pass

        def to_dict(self) -> Any:
            return {}

        def tool_result(self, tool_use: Any) -> Any:
            return None

    Many.__abstractmethods__ = frozenset()
    web = {"type": "web_search_20250305", "name": "web_search"}
    with Breaker().run() as run:
        assert guarded([web], run) == [web]
        with pytest.raises(TypeError, match="toolset"):
            guarded([Many()], run)


def _block(call_id: str, given: dict[str, Any]) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "look", "input": given}


def test_of_equal_calls_the_one_is_found_whose_input_it_is() -> None:
    first, second = {"query": "a"}, {"query": "a"}
    turn = Turn(lambda: [_block("one", first), _block("two", second)])

    assert turn.id_of("look", second) == "two"
    assert turn.id_of("look", first) == "one"


def test_of_equal_calls_that_were_copied_each_is_found_once() -> None:
    turn = Turn(lambda: [_block("one", {"query": "a"}), _block("two", {"query": "a"})])

    assert [turn.id_of("look", {"query": "a"}) for _ in range(2)] == ["one", "two"]
    assert turn.id_of("look", {"query": "b"}) is None
    assert turn.id_of("burn", {"query": "a"}) is None


def test_what_came_from_the_cache_or_went_into_it_is_part_of_the_prompt() -> None:
    used = {
        "input_tokens": 1,
        "cache_creation_input_tokens": 20,
        "cache_read_input_tokens": 300,
        "output_tokens": 4000,
    }

    assert usage_of({"usage": used}) == Usage(
        prompt_tokens=321, completion_tokens=4000, cached_tokens=300, cache_write_tokens=20
    )
    assert usage_of({}) == Usage()


# -- what the runner's requests have cost


@contextmanager
def provider(*replies: Any) -> Iterator[Any]:
    """The arguments for a client whose provider answers with these: messages, or exceptions."""
    left = list(replies)

    def answer(_request: Any) -> Any:
        reply = left.pop(0)
        if isinstance(reply, BaseException):
            raise reply
        if isinstance(reply, int):
            return httpx2.Response(reply, json={"type": "error", "error": {"type": "any"}})
        return httpx2.Response(200, json=reply)

    async def later(request: Any) -> Any:
        return answer(request)

    yield answer, later


def answered(stop_reason: str, *content: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": list(content) or [{"type": "text", "text": "Well."}],
        "stop_reason": stop_reason,
        "usage": {"input_tokens": 3, "output_tokens": 2},
    }


ASKS: dict[str, Any] = {
    "model": "m",
    "max_tokens": 9,
    "messages": [{"role": "user", "content": "Hi"}],
}


def _followed(run: BreakerRun, *replies: Any, use: Any = None, **options: Any) -> list[Any]:
    """The messages of a followed runner of the sync client; `use` is called with each."""
    with (
        provider(*replies) as (answer, _),
        Anthropic(
            api_key="any",
            max_retries=0,
            http_client=httpx2.Client(transport=httpx2.MockTransport(answer)),
        ) as client,
    ):
        tools = guarded(Shop().tools(), run, SPECS)
        runner = client.beta.messages.tool_runner(tools=tools, **{**ASKS, **options})
        seen = []
        for message in follow(runner, run):
            seen.append(message)
            if use is not None:
                use(runner, message)
        return seen


async def _afollowed(run: BreakerRun, *replies: Any) -> list[Any]:
    with provider(*replies) as (_, answer):
        http = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
        async with AsyncAnthropic(api_key="any", max_retries=0, http_client=http) as client:
            runner = client.beta.messages.tool_runner(
                tools=guarded(Shop().async_tools(), run, SPECS), **ASKS
            )
            return [message async for message in afollow(runner, run)]


def paid_run(**more: Any) -> BreakerRun:
    """A run in which each request may have cost something."""
    run = Breaker(budget=RunBudget(max_model_cost_usd=Decimal(10), **more)).run()
    run.before_model(Decimal(1))
    run.after_model(Usage(prompt_tokens=1, completion_tokens=1, cost_usd=Decimal(1)))
    return run


def test_a_request_that_is_cancelled_may_have_been_billed() -> None:
    run = paid_run()

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(_afollowed(run, asyncio.CancelledError()))

    assert run.last_reason == "cost_unknown"
    assert [each.spent for each in run.budgets()] == [2]


@FORMS
@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (httpx2.ReadTimeout("no answer"), "cost_unknown"),
        (httpx2.RemoteProtocolError("cut off"), "cost_unknown"),
        (httpx2.ConnectError("nobody there"), None),
        (httpx2.ConnectTimeout("nobody there"), None),
        (529, None),
        (400, None),
    ],
    ids=["read-timeout", "cut-off", "no-connection", "connect-timeout", "overloaded", "refused"],
)
def test_a_request_that_fails_is_given_back_where_it_cannot_have_been_billed(
    form: str, failure: Any, reason: str | None
) -> None:
    run = paid_run()

    by = {"sync": _followed, "async": lambda *given: asyncio.run(_afollowed(*given))}
    with pytest.raises(anthropic.APIError):
        by[form](run, failure)

    assert run.last_reason == reason
    assert [each.spent for each in run.budgets()] == [2 if reason else 1]


def test_a_timeout_of_a_run_without_such_a_budget_stops_nothing() -> None:
    run = Breaker(budget=RunBudget(max_turns=5)).run()

    with pytest.raises(anthropic.APITimeoutError):
        _followed(run, httpx2.ReadTimeout("no answer"))

    assert run.mode == "open"


def _compacting(runner: Any, message: Any) -> None:
    if message.stop_reason == "end_turn":
        runner.compact_before_next_turn()


SUMMARY = answered("compaction", {"type": "compaction", "content": "They said hello."})


def test_a_compaction_after_the_last_turn_is_a_request_too() -> None:
    run = Breaker(budget=RunBudget(max_turns=9)).run()

    seen = _followed(run, answered("end_turn"), SUMMARY, use=_compacting)

    assert [each.stop_reason for each in seen] == ["end_turn", "compaction"]
    assert run.stats().turns == 2
    assert run.stats().tokens == 10


def test_a_compaction_that_is_one_request_too_many_is_not_sent() -> None:
    run = Breaker(budget=RunBudget(max_turns=1)).run()

    seen = _followed(run, answered("end_turn"), use=_compacting)

    assert [each.stop_reason for each in seen] == ["end_turn"]
    assert run.last_reason == "turn_budget"


LOOKS = answered(
    "tool_use", {"type": "tool_use", "id": "t", "name": "search_orders", "input": {"query": "a"}}
)


def test_a_runner_that_is_at_its_own_end_asks_for_no_turn() -> None:
    """A limit of the runner's own that is the same as the budget's is no stop of the run."""
    run = Breaker(budget=RunBudget(max_turns=2)).run()

    seen = _followed(run, LOOKS, LOOKS, max_iterations=2)

    assert len(seen) == 2
    assert run.mode == "open"


def test_a_runner_that_its_application_has_closed_asks_for_no_turn() -> None:
    run = Breaker(budget=RunBudget(max_turns=1)).run()

    _followed(run, LOOKS, use=lambda runner, _message: runner.close())

    assert run.mode == "open"


def test_whoever_takes_each_message_in_a_task_of_its_own_has_the_ids_all_the_same() -> None:
    """`asyncio.wait_for` around each message makes a task for it, whose context is its own."""
    played = Played()

    async def main(url: str) -> None:
        async with AsyncAnthropic(base_url=url, api_key="any") as client:
            tools = guarded(played.shop.async_tools(), played.run, SPECS)
            runner = client.beta.messages.tool_runner(tools=tools, **ASKS)
            messages = afollow(runner, played.run)
            while (message := await asyncio.create_task(anext(messages, None))) is not None:
                played.messages.append(message)

    with model(calls(search("a"), refund())) as url, played.run:
        asyncio.run(main(url))

    assert played.shop.refunds == ["A-1"]
    assert [each.call_id for each in played.decided] == played.proposed_ids


def test_of_two_runners_in_turn_each_tool_knows_its_own_message() -> None:
    played = Played()
    with (
        model(calls(search("a"), refund("A-1"))) as one,
        model(calls(search("a"), refund("A-1"))) as other,
        Anthropic(base_url=one, api_key="any") as first,
        Anthropic(base_url=other, api_key="any") as second,
    ):
        runners = [
            each.beta.messages.tool_runner(
                tools=guarded(played.shop.tools(), played.run, SPECS), **ASKS
            )
            for each in (first, second)
        ]
        followed = [follow(each, played.run) for each in runners]
        for pair in itertools.zip_longest(*followed):
            played.messages.extend(filter(None, pair))

    ids = [each.call_id for each in played.decided]
    assert sorted(ids) == sorted(played.proposed_ids)
    assert played.shop.refunds == ["A-1"]


# -- own loops


def _reply(*blocks: tuple[str, str, dict[str, Any]]) -> dict[str, Any]:
    """An assistant message as it stands in a saved conversation."""
    content = [
        {"type": "tool_use", "id": call_id, "name": name, "input": given}
        for call_id, name, given in blocks
    ]
    return {"role": "assistant", "content": [{"type": "text", "text": "Well."}, *content]}


def _dispatch_of(shop: Shop) -> Callable[[str, dict[str, Any]], Any]:
    return lambda name, given: getattr(shop, name)(**given)


PAY = ("toolu_1", "refund_order", {"order_id": "A-1", "note": "x"})
PAY_AGAIN = ("toolu_2", "refund_order", {"order_id": "A-1", "note": "y"})
LOOK = ("toolu_3", "search_orders", {"query": "a"})


def _answers(message: dict[str, Any]) -> dict[str, Any]:
    return {each["tool_use_id"]: each for each in message["content"]}


@FORMS
def test_a_whole_message_is_decided_as_one_and_each_call_is_answered(form: str) -> None:
    shop = Shop()
    message = _reply(PAY, PAY_AGAIN, LOOK)
    with Breaker().run() as run:
        if form == "async":
            answer = guarded_dispatch(_later(_dispatch_of(shop)), run, SPECS)
            results = _answers(asyncio.run(answer.acall(message)))
        else:
            results = _answers(guarded_dispatch(_dispatch_of(shop), run, SPECS)(message))

    assert list(results) == ["toolu_1", "toolu_2", "toolu_3"]
    assert shop.refunds == ["A-1"]
    assert json.loads(results["toolu_1"]["content"]) == {"refund_id": "R-1"}
    assert json.loads(results["toolu_2"]["content"])["refused"] is True
    assert json.loads(results["toolu_3"]["content"])["orders"] == []


@FORMS
def test_one_saved_message_answered_twice_writes_once(form: str) -> None:
    shop, breaker = Shop(), Breaker()
    for _ in range(2):
        with breaker.run(request_id="message-1") as run:
            if form == "async":
                answer = guarded_dispatch(_later(_dispatch_of(shop)), run, SPECS)
                results = asyncio.run(answer.acall(_reply(PAY)))
            else:
                results = guarded_dispatch(_dispatch_of(shop), run, SPECS)(_reply(PAY))

    assert shop.refunds == ["A-1"]
    assert json.loads(results["content"][0]["content"])["reason"] == "duplicate_write"


def test_a_person_s_yes_lets_the_same_message_through() -> None:
    shop = Shop()
    asked = ToolSpec(
        name="refund_order", effect=Effect.WRITE, identity=("order_id",), requires_approval=True
    )
    with Breaker().run() as run:
        answer = guarded_dispatch(_dispatch_of(shop), run, {**SPECS, "refund_order": asked})
        before = json.loads(answer(_reply(PAY))["content"][0]["content"])
        assert shop.refunds == []
        run.approve(before["call_id"])
        answer(_reply(PAY))

    assert before["call_id"] == "toolu_1"
    assert shop.refunds == ["A-1"]


def test_a_tool_that_raises_is_told_and_the_next_write_is_held() -> None:
    shop = Shop()
    shop.loses_answers = True
    answer = guarded_dispatch(_dispatch_of(shop), Breaker().run(), SPECS)
    first, second, third = (answer(_reply(each))["content"][0] for each in (PAY, PAY_AGAIN, LOOK))

    assert first["is_error"] is True
    assert first["content"] == "TimeoutError: no answer"
    assert json.loads(second["content"])["reason"] == "unknown_side_effect"
    assert "tool_use_id" in third
    assert shop.refunds == ["A-1"]


def test_what_breaks_off_a_message_leaves_the_rest_of_it_undone() -> None:
    class OutOfHereError(BaseException):
        pass

    def dispatch(name: str, given: dict[str, Any]) -> Any:
        raise OutOfHereError

    with Breaker(budget=RunBudget(max_side_effects=1)).run() as run:
        answer = guarded_dispatch(dispatch, run, SPECS)
        with pytest.raises(OutOfHereError):
            answer(_reply(LOOK, PAY))
        shop = Shop()
        guarded_dispatch(_dispatch_of(shop), run, SPECS)(_reply(PAY))

    assert shop.refunds == ["A-1"]


def test_a_sibling_of_the_call_that_stops_the_run_is_refused() -> None:
    shop, run = Shop(), Breaker().run()

    def dispatch(name: str, given: dict[str, Any]) -> Any:
        if name == "search_orders":
            run.interrupt("Somebody has pulled the plug.")
        return getattr(shop, name)(**given)

    with pytest.raises(Interrupted), run:
        results = _answers(guarded_dispatch(dispatch, run, SPECS)(_reply(LOOK, PAY)))

    assert json.loads(results["toolu_1"]["content"])["refused"] is True
    assert shop.refunds == []


class LaterShop(Shop):
    """A shop whose dispatch is an object with an async call."""

    async def __call__(self, name: str, given: dict[str, Any]) -> Any:
        return getattr(self, name)(**given)

    async def tenants(self, tenant: str, name: str, given: dict[str, Any]) -> Any:
        return await self(name, given)

    def hidden(self, name: str, given: dict[str, Any]) -> Any:
        """Async, as only its result shows."""
        return self(name, given)

    @property
    def dispatches(self) -> dict[str, Callable[[str, dict[str, Any]], Any]]:
        partial = functools.partial(self.tenants, "acme")
        return {"object": self, "partial": partial, "hidden": self.hidden}


@pytest.mark.parametrize("written", ["object", "partial", "hidden"])
def test_an_async_dispatch_is_awaited_or_told(written: str) -> None:
    shop = LaterShop()
    dispatch = shop.dispatches[written]
    with pytest.raises(TypeError, match="acall"):
        guarded_dispatch(dispatch, Breaker().run(), SPECS)(_reply(PAY))
    assert shop.refunds == []

    answered = asyncio.run(guarded_dispatch(dispatch, Breaker().run(), SPECS).acall(_reply(PAY)))

    assert shop.refunds == ["A-1"]
    assert answered["content"][0]["content"] == '{"refund_id": "R-1"}'


def test_a_dispatch_that_is_told_has_left_nothing_unknown() -> None:
    run = Breaker().run()
    with pytest.raises(TypeError):
        guarded_dispatch(LaterShop(), run, SPECS)(_reply(PAY))

    assert run.close() is None


def test_a_dispatch_that_is_not_async_works_in_the_async_form() -> None:
    shop, run = Shop(), Breaker().run()
    answer = guarded_dispatch(_dispatch_of(shop), run, SPECS)

    first, second = (asyncio.run(answer.acall(_reply(each))) for each in (PAY, PAY_AGAIN))

    assert first["content"][0]["content"] == '{"refund_id": "R-1"}'
    assert json.loads(second["content"][0]["content"])["reason"] == "duplicate_write"
    assert shop.refunds == ["A-1"]


def test_a_cancellation_of_a_tool_s_own_is_told_and_the_rest_of_the_message_goes_on() -> None:
    shop, run = Shop(), Breaker().run()

    async def dispatch(name: str, given: dict[str, Any]) -> Any:
        if name == "refund_order":
            raise asyncio.CancelledError
        return getattr(shop, name)(**given)

    answer = guarded_dispatch(dispatch, run, SPECS)
    results = _answers(asyncio.run(answer.acall(_reply(PAY, LOOK))))

    assert results["toolu_1"]["is_error"] is True
    assert json.loads(results["toolu_3"]["content"])["orders"] == []
    again = asyncio.run(answer.acall(_reply(PAY_AGAIN)))["content"][0]
    assert json.loads(again["content"])["reason"] == "unknown_side_effect"


def test_two_tools_of_one_name_run_each_its_own_body() -> None:
    ran: list[str] = []

    def of(whose: str) -> Any:
        @beta_tool(name="search_orders")
        def look(query: str) -> str:
            ran.append(whose)
            return "{}"

        return look

    first, second = guarded([of("first"), of("second")], Breaker().run(), SPECS)
    first.call({"query": "a"})
    second.call({"query": "b"})

    assert ran == ["first", "second"]


def test_two_tools_of_one_name_that_are_declared_differently_are_refused() -> None:
    @beta_tool(name="order")
    @tool_spec(effect="read")
    def look(order: str) -> str:
        return "{}"

    @beta_tool(name="order")
    @tool_spec(effect="write", identity=("order",))
    def change(order: str) -> str:
        return "{}"

    with pytest.raises(TypeError, match="'order'"):
        guarded([look, change], Breaker().run())
    told = {"order": ToolSpec(name="order", effect=Effect.WRITE)}
    assert len(guarded([look, change], Breaker().run(), told)) == 2


def test_an_observer_that_raises_changes_nothing() -> None:
    def observer(_event: BreakerEvent) -> None:
        raise RuntimeError

    shop = Shop()
    with Breaker(on_event=observer).run() as run:
        guarded_dispatch(_dispatch_of(shop), run, SPECS)(_reply(PAY, PAY_AGAIN))

    assert shop.refunds == ["A-1"]


# -- taking an agent over


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


def test_adopted_tools_look_the_same_and_call_somebody_else() -> None:
    from pytest_tripwire.adapters import Adoption

    shop, caller = Shop(), Recorded()
    adoption = Adoption(caller, SPECS)
    own = [*shop.tools(), *shop.async_tools()]
    adopted = adopt(own, adoption)
    adoption.check()

    assert adopted[1].call({"order_id": "A-1"}) == '{"ok": true}'
    assert asyncio.run(adopted[4].call({"order_id": "A-2"})) == '{"ok": true}'
    assert caller.calls == [
        ("refund_order", {"order_id": "A-1"}),
        ("refund_order", {"order_id": "A-2"}),
    ]
    assert shop.refunds == []
    assert [each.to_dict() for each in adopted] == [each.to_dict() for each in own]


def test_a_task_names_every_tool_of_two_agents_that_plays_no_role() -> None:
    def archive(order: str) -> str:
        return "archived"

    def shred(order: str) -> str:
        return "shredded"

    billing, shipping = [beta_tool(archive)], [beta_tool(shred)]

    def agent(task: Task) -> str:
        task.adopt([*billing, *shipping])
        return "Done."

    with pytest.raises(HarnessError, match=r"'archive' of .*'shred' of "):
        Harness("empty-search", agent).run()


@beta_tool
def give_back(order: str, euros: float, why: str, slip: str) -> str:
    """Give a customer money back.

    Args:
        order: the order's number.
    """
    raise AssertionError("the team's own body is never run")


@beta_async_tool
async def give_back_later(order: str, euros: float, why: str, slip: str) -> str:
    """Give a customer money back."""
    raise AssertionError("the team's own body is never run")


@pytest.mark.parametrize("tool", [give_back, give_back_later], ids=["sync", "async"])
def test_an_agent_with_tools_of_its_own_is_taken_over_whole(tool: Any) -> None:
    shown: list[Any] = []

    def runner_of(task: Task, client: Any) -> Any:
        adopted = task.adopt([tool])
        shown.append(adopted[0].to_dict())
        return client.beta.messages.tool_runner(tools=adopted, **_options(task, "plain"))

    def agent(task: Task) -> Any:
        with Anthropic(base_url=task.model.base_url("anthropic"), api_key="any") as client:
            return runner_of(task, client).until_done().stop_reason

    async def aagent(task: Task) -> Any:
        url = task.model.base_url("anthropic")
        async with AsyncAnthropic(base_url=url, api_key="any") as client:
            return (await runner_of(task, client).until_done()).stop_reason

    means = {"order": RESOURCE, "euros": AMOUNT, "why": WORDING, "slip": NONCE}
    options = Options(roles={"write": Role(tool, means)})
    run = Harness("lost-write", agent if tool is give_back else aagent, options=options).run()

    run.check()
    assert run.reason == "unknown_side_effect"
    assert shown == [tool.to_dict()]
    assert [each.tool for each in run.events if isinstance(each, Dispatch)] == [tool.name]


def test_a_definition_says_what_the_model_is_shown() -> None:
    (look, *_) = Shop().tools()

    assert definition(look) == {
        "name": "search_orders",
        "description": "Look for orders.",
        "parameters": look.input_schema,
    }
    assert definition(look.to_dict()) == definition(look)


@pytest.mark.parametrize("result", [42, True, 1.5, None])
def test_a_result_that_is_no_text_is_one_all_the_same(result: Any) -> None:
    kept = Kept()

    assert kept.seen(result) is result
    assert json.loads(kept.shown(result)) == result


def _paying(found: list[str], paid: list[str]) -> Any:
    def dispatch(name: str, arguments: dict[str, Any]) -> Any:
        if name == "find":
            found.append(arguments["invoice"])
            return {"payment": "P-1"} if arguments["invoice"] in paid else {}
        paid.append(arguments["invoice"])
        raise TimeoutError("no answer")

    return dispatch


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_lost_write_of_an_own_loop_is_settled_by_its_read(asynchronous: bool) -> None:  # noqa: FBT001
    found: list[str] = []
    paid: list[str] = []
    plain = _paying(found, paid)

    async def later(name: str, arguments: dict[str, Any]) -> Any:
        return plain(name, arguments)

    specs = {
        "pay": ToolSpec(
            name="pay",
            effect=Effect.WRITE,
            identity=("invoice",),
            result_id="payment",
            reconcile="find",
        ),
        "find": ToolSpec(name="find", effect=Effect.READ),
    }

    def proposal(call_id: str) -> dict[str, Any]:
        use = {"type": "tool_use", "id": call_id, "name": "pay", "input": {"invoice": "I-1"}}
        return {"role": "assistant", "content": [use]}

    with Breaker(specs=specs).run() as run:
        answer = guarded_dispatch(later if asynchronous else plain, run, specs)
        told = [
            asyncio.run(answer.acall(proposal(each))) if asynchronous else answer(proposal(each))
            for each in ("c1", "c2")
        ]

    assert (paid, found) == (["I-1"], ["I-1"])
    assert json.loads(told[1]["content"][0]["content"])["reason"] == "duplicate_write"
