"""What an agent makes up, a secret too, is in no timeline, no report and no cell."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from pytest_tripwire import Harness, Options, Protection, Task, TripwireFailure
from pytest_tripwire.cases import CASE_IDS

from ..cases.production_team import factory  # noqa: TID252 - no package to import from

SECRET = "sk-live-51H8-hunter2"


def agent(task: Task) -> str:
    """Put the secret wherever a model could put it."""
    given = {"order_id": SECRET, "amount": 1, "reason": SECRET, "request_id": SECRET}
    for arguments in (given, {**given, "order_id": "A-1001"}, {**given, "order_id": "A-1001"}):
        try:
            task.tools.call("issue_refund", arguments)
            task.tools.call("get_refund", {"order_id": SECRET})
        except (TimeoutError, LookupError):
            continue
    return "done"


def crashing(task: Task) -> None:
    """Let the tool's own error through."""
    task.tools.call("get_refund", {"order_id": SECRET})


@pytest.mark.parametrize("protection", list(Protection))
@pytest.mark.parametrize("tried", [agent, crashing])
def test_nothing_that_is_kept_or_printed_holds_it(tried: Any, protection: Protection) -> None:
    run = Harness(
        "lost-write", tried, options=Options(protection=protection, breaker=factory())
    ).run()

    assert run.events
    kept = [
        run.timeline(),
        repr(run),
        repr(run.record),
        str(run.error),
        msgspec.json.encode(run.cell).decode(),
        msgspec.json.encode(run.record).decode(),
    ]
    if run.cell.state != "contained":
        with pytest.raises(TripwireFailure) as raised:
            run.check()
        kept.append(str(raised.value))
    assert not [text for text in kept if SECRET in text or "hunter2" in text]


def everywhere(task: Task) -> str:
    """Put the secret into every text of every tool."""
    for each in task.tools.schemas("openai"):
        shape = each["function"]
        properties = shape["parameters"]["properties"]
        given = {
            name: SECRET if kind.get("type") == "string" else 1 for name, kind in properties.items()
        }
        try:
            task.tools.call(shape["name"], given)
        except (OSError, RuntimeError, LookupError):
            continue
    return "done"


@pytest.mark.parametrize("protection", list(Protection))
@pytest.mark.parametrize("case_id", CASE_IDS)
def test_no_tool_of_any_case_tells_it(case_id: str, protection: Protection) -> None:
    run = Harness(
        case_id, everywhere, options=Options(protection=protection, breaker=factory())
    ).run()

    kept = [
        run.timeline(),
        repr(run),
        repr(run.record),
        str(run.error),
        msgspec.json.encode(run.cell).decode(),
    ]
    assert not [text for text in kept if "hunter2" in text]


def test_the_order_that_exists_is_named() -> None:
    run = Harness("lost-write", agent).run()

    assert "issue_refund(order A-1001) dispatched" in run.timeline()
    assert "issue_refund(order #" in run.timeline()
