"""Tools for callers in other processes: results, refusals and errors as text."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_tripwire import Harness, Task
from pytest_tripwire.harness import Options
from pytest_tripwire.harness.ceiling import OverrunError
from pytest_tripwire.serve.offered import Answer, Offered

REFUND = {"order_id": "A-1001", "amount": 40.0, "reason": "broken", "request_id": "r-1"}


def _through(case: str, *calls: tuple[str, Any], **options: Any) -> list[Answer]:
    """What calls of an offered tool come to, one after the other."""
    offered, answers = Offered(), []

    def agent(task: Task) -> None:
        offered.replace(task.tools)
        answers.extend(offered.call(*call) for call in calls)

    Harness(case, agent, options=Options(**options)).run()
    return answers


def test_an_error_of_a_tool_is_its_text_and_a_refusal_an_ordinary_result() -> None:
    lost, refused = _through("lost-write", ("issue_refund", REFUND), ("issue_refund", REFUND))

    assert lost == Answer(text="TimeoutError: no answer within 30 s", failed=True)
    assert not refused.failed
    assert json.loads(refused.text)["refused"] is True
    assert json.loads(refused.text)["reason"] == "unknown_side_effect"


def test_a_result_is_json() -> None:
    (answer,) = _through("stale-resume", ("get_order", {"order_id": "A-1001"}))[:1]

    assert not answer.failed
    assert json.loads(answer.text)["total"] == 40


def test_a_tool_that_is_not_there_is_told_with_those_that_are() -> None:
    (answer,) = _through("lost-write", ("issue_refun", {}))

    assert answer.failed
    assert answer.text == "there is no tool 'issue_refun'; there are: issue_refund, get_refund"


def test_before_anything_is_offered_there_is_nothing() -> None:
    assert Offered().schemas() == []
    assert Offered().call("search", {}).failed


@pytest.mark.parametrize("protection", ["harness", "own"])
def test_schemas_are_the_tasks_own(protection: str) -> None:
    offered = Offered()
    seen: list[Any] = []

    def agent(task: Task) -> None:
        offered.replace(task.tools)
        seen.append([each["function"] for each in task.tools.schemas("openai")])

    Harness("lost-write", agent, options=Options(protection=protection)).run()

    assert [offered.schemas()] == seen
    assert [each["name"] for each in offered.schemas()] == ["issue_refund", "get_refund"]


@pytest.mark.parametrize("protection", ["harness", "own"])
def test_the_end_of_the_runs_time_goes_through(protection: str) -> None:
    with pytest.raises(OverrunError):
        _raised("lost-write", protection)


def _raised(case: str, protection: str) -> None:
    offered = Offered()
    raised: list[BaseException] = []

    def agent(task: Task) -> None:
        import time

        offered.replace(task.tools)
        time.sleep(0.02)
        try:
            offered.call("get_refund", {"order_id": "A-1001"})
        except BaseException as error:
            raised.append(error)
            raise

    Harness(case, agent, options=Options(protection=protection, max_seconds=0.01)).run()
    raise raised[0]
