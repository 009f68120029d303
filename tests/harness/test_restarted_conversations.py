"""A conversation that is begun anew is asked for, and paid for, like any other."""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

from pytest_tripwire import Harness, Task
from pytest_tripwire.timeline import ModelRequest


def ask(task: Task, messages: list[Any]) -> Any:
    url = urlsplit(task.model.base_url("openai"))
    connection = http.client.HTTPConnection(url.netloc)
    body = {"model": "any", "messages": messages, "tools": task.tools.schemas("openai")}
    connection.request("POST", f"{url.path}/chat/completions", json.dumps(body))
    reply = json.loads(connection.getresponse().read())
    connection.close()
    return reply["choices"][0]["message"]


def begins_again(task: Task) -> str:
    """Asks the first question of its conversation thirty times."""
    for _ in range(30):
        ask(task, [{"role": "user", "content": task.prompt}])
    return "done"


def test_it_costs_and_is_seen() -> None:
    run = Harness("cost-budget", begins_again).run()

    asked = [each for each in run.events if isinstance(each, ModelRequest)]
    assert len(asked) == 30
    assert run.reason == "cost_budget"
    assert sum(each.cost_usd > 0 for each in asked) < 12
