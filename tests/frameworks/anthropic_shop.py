"""A small shop, a scripted model and agents of a team, for the tests of Anthropic's client."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from anthropic import Anthropic, AsyncAnthropic, beta_async_tool, beta_tool

from pytest_tripwire import Task
from pytest_tripwire.adapters.anthropic import (
    afollow,
    after_message,
    follow,
    guarded,
    guarded_dispatch,
)
from pytest_tripwire.breaker import Breaker, BreakerRun, Interrupted
from pytest_tripwire.models import Calls, ModelServer, Propose, Say, Seen
from pytest_tripwire.timeline import (
    Decided,
    Effect,
    Timeline,
    ToolSpec,
)

from .refund_desk import DESK

SEARCH = ToolSpec(name="search_orders", effect=Effect.READ)
REFUND = ToolSpec(
    name="refund_order", effect=Effect.WRITE, identity=("order_id",), wording=("note",)
)
HAND_OVER = ToolSpec(name="hand_over", effect=Effect.HANDOFF, identity=("to",))
SPECS = {each.name: each for each in (SEARCH, REFUND, HAND_OVER)}


def options_of(task: Task, way: str) -> dict[str, Any]:
    options: dict[str, Any] = {
        "model": task.model.name,
        "max_tokens": 100,
        "max_iterations": 80,
        "messages": [{"role": "user", "content": task.prompt}],
    }
    if not way.endswith("plain"):
        options |= {"stream": True, "run_tools_eagerly": way.endswith("eager")}
    return options


def breaker_of(task: Task) -> Breaker:
    """The agent's own breaker, on the task's limits and clock."""
    each = task.token_price_usd * 1_000_000
    return Breaker(
        budget=task.limits,
        clock=task.clock,
        specs=DESK,
        prices={task.model.name: (each, each)},
    )


def own_run(task: Task) -> BreakerRun:
    """A run of it."""
    return breaker_of(task).run()


def guarded_runner(task: Task) -> str:
    run = own_run(task)
    with (
        Anthropic(base_url=task.model.base_url("anthropic"), api_key="any") as client,
        run,
    ):
        tools = guarded(task.tools.anthropic(), run)
        runner = client.beta.messages.tool_runner(tools=tools, **options_of(task, "plain"))
        list(follow(runner, run))
    return "Done."


async def guarded_stream(task: Task) -> str:
    run = own_run(task)
    url = task.model.base_url("anthropic")
    async with AsyncAnthropic(base_url=url, api_key="any") as client:
        with run:
            tools = guarded(task.tools.anthropic().asynchronous, run)
            # Eager tools run before anybody knows what the message that proposes them has cost.
            options = options_of(task, "async-stream")
            runner = client.beta.messages.tool_runner(tools=tools, **options)
            async for stream in afollow(runner, run):
                async for _ in stream:
                    pass
    return "Done."


def loops(task: Task, client: Any, run: BreakerRun, messages: list[Any]) -> None:
    """A loop of the team's own."""
    answer = guarded_dispatch(task.tools.call, run, {name: DESK[name] for name in task.tools})
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


def guarded_loop(task: Task) -> str:
    run = own_run(task)
    url = task.model.base_url("anthropic")
    messages: list[Any] = [{"role": "user", "content": task.prompt}]
    with Anthropic(base_url=url, api_key="any") as client, run:
        loops(task, client, run, messages)
    return "Done."


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
        return [beta_async_tool(later(each)) for each in self.functions]


def later(function: Callable[..., Any]) -> Callable[..., Any]:
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
        script=script, binder=Anybody(), observe=lambda _: None, roles=(*SPECS, "leave")
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


ASKS: dict[str, Any] = {
    "model": "m",
    "max_tokens": 9,
    "messages": [{"role": "user", "content": "Hi"}],
}
