"""Agents within agents, in whole runs: each is played, under ids that others have had."""

from __future__ import annotations

import http.client
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

import pytest

from pytest_tripwire import Harness, Options, Protection, Run, Task
from pytest_tripwire.cases.long_investigation import STEPS
from pytest_tripwire.timeline import Dispatch, ModelRequest

WORKER = {"role": "system", "content": "You look for what is known."}


def ask(task: Task, messages: list[Any], *, offers: bool = True) -> Any:
    url = urlsplit(task.model.base_url("openai"))
    body = {"model": "any", "messages": messages}
    tools = {"tools": task.tools.schemas("openai")} if offers else {}
    with closing(http.client.HTTPConnection(url.netloc, timeout=30)) as connection:
        connection.request("POST", f"{url.path}/chat/completions", json.dumps({**body, **tools}))
        return json.load(connection.getresponse())["choices"][0]["message"]


def work(task: Task, *, keep: int = 1000, before: Sequence[Any] = (), renames: bool = False) -> str:
    """A sub-agent: its own system prompt, the same task each time, the latest messages only.
    `renames`: it gives each call an id of its own.
    """
    history: list[Any] = []
    begin = [WORKER, *before, {"role": "user", "content": "Look."}]
    while True:
        message = ask(task, [*begin, *history[-keep:]])
        for call in message.get("tool_calls", []) if renames else []:
            call["id"] = f"own-{len(history)}"
        history.append(message)
        if not message.get("tool_calls"):
            return str(message["content"])
        for call in message["tool_calls"]:
            arguments = json.loads(call["function"]["arguments"])
            result = task.tools.call(call["function"]["name"], arguments, call_id=call["id"])
            history.append(
                {"role": "tool", "tool_call_id": call["id"], "content": json.dumps(result)}
            )


def played(agent: Any) -> Run:
    options = Options(protection=Protection.OWN)
    return Harness("long-investigation", agent, options=options).run()


def searches(run: Run) -> int:
    return sum(isinstance(each, Dispatch) for each in run.events)


def test_same_task_one_after_the_other_is_worked_on_twice() -> None:
    run = played(lambda task: [work(task), work(task)])

    assert searches(run) == 2 * STEPS
    assert run.answer == ["This is what happened: ..."] * 2


def test_same_task_side_by_side_is_worked_on_twice() -> None:
    def agent(task: Task) -> list[str]:
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(lambda _: work(task), range(2)))

    run = played(agent)

    assert searches(run) == 2 * STEPS
    assert run.answer == ["This is what happened: ..."] * 2


def test_agent_that_shows_the_latest_pair_only_gets_every_move() -> None:
    run = played(lambda task: work(task, keep=2))

    assert searches(run) == STEPS
    assert run.cell.state == "contained"


def test_router_between_the_calls_is_none_of_the_runs_requests() -> None:
    def agent(task: Task) -> str:
        for _ in range(3):
            ask(task, [{"role": "user", "content": "Who answers?"}], offers=False)
        return work(task)

    run = played(agent)

    assert sum(isinstance(each, ModelRequest) for each in run.events) == STEPS + 1
    assert run.cell.state == "contained"


GREETING = [{"role": "assistant", "content": "Hello! How can I help?"}]
EXAMPLE = [
    {"role": "user", "content": "Where is A-1?"},
    {
        "role": "assistant",
        "tool_calls": [
            {"id": "example", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        ],
    },
    {"role": "tool", "tool_call_id": "example", "content": "on its way"},
    {"role": "assistant", "content": "It is on its way."},
]


@pytest.mark.parametrize("before", [GREETING, EXAMPLE, GREETING + EXAMPLE])
@pytest.mark.parametrize("renames", [False, True])
def test_what_an_agent_wrote_in_the_models_name_before_costs_no_move(
    before: list[Any],
    renames: bool,  # noqa: FBT001 - pytest passes parameters by name
) -> None:
    run = played(lambda task: work(task, before=before, renames=renames))

    assert searches(run) == STEPS
    assert run.answer == "This is what happened: ..."
    assert run.cell.state == "contained"


def test_a_router_that_is_asked_first_hides_no_greeting() -> None:
    def agent(task: Task) -> str:
        ask(task, [{"role": "user", "content": "Look."}], offers=False)
        return work(task, before=GREETING)

    assert searches(played(agent)) == STEPS
