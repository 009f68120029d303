"""What the requests of a followed runner of Anthropic's client have cost, and whose turn it is."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import anthropic
import httpx2
import pytest
from anthropic import Anthropic, AsyncAnthropic

from pytest_tripwire.adapters.anthropic import (
    afollow,
    follow,
    guarded,
)
from pytest_tripwire.breaker import Breaker, BreakerRun, RunBudget, Usage

from .anthropic_shop import (
    ASKS,
    FORMS,
    SPECS,
    Played,
    Shop,
    calls,
    model,
    refund,
    search,
)

NEEDS = ["anthropic"]


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

    assert len(seen) == run.stats().turns == 2
    assert run.mode == "open"


def _compacting_first(runner: Any, message: Any) -> None:
    if message.stop_reason == "tool_use":
        runner.compact_before_next_turn()


def test_a_compaction_between_two_turns_is_one_more_and_no_iteration_of_the_runner() -> None:
    run = Breaker(budget=RunBudget(max_turns=9)).run()

    replies = (LOOKS, SUMMARY, answered("end_turn"))
    seen = _followed(run, *replies, use=_compacting_first, max_iterations=2)

    assert len(seen) == run.stats().turns == 3
    assert run.stats().tokens == 15


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
