"""A run tells the cause beside the symptom: what is wrong between the agent and its model."""

from __future__ import annotations

import datetime as dt
import http.client
import json
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest

from pytest_tripwire import Harness, Options, Protection, Run, Task, TripwireFailure
from pytest_tripwire.cases import CASE_IDS
from pytest_tripwire.gate import Evidence, Judged, Verdict, decide, render
from pytest_tripwire.models.faults import Status
from pytest_tripwire.oracle import Cell
from pytest_tripwire.timeline import Dispatch, ModelRequest

LOST = "lost-write"
OWN = Options(protection=Protection.OWN)


@pytest.fixture
def retries(agents: Any) -> Any:
    """The plain loop, whose tools are tried again by themselves when their answer is lost."""

    class Retrying(agents):
        @staticmethod
        def used(task: Task, call: dict[str, Any]) -> Any:
            for _ in range(3):
                result = agents.used(task, call)
                if "error" not in result:
                    break
            return result

    return Retrying.loop


def post(task: Task, messages: list[Any], **more: Any) -> bytes:
    """One request with keywords of its own; returns the body of the response."""
    url = urlsplit(task.model.base_url("openai"))
    tools = task.tools.schemas("openai")
    body = {"model": "any", "messages": messages, "tools": tools, **more}
    connection = http.client.HTTPConnection(url.netloc)
    try:
        connection.request("POST", f"{url.path}/chat/completions", json.dumps(body))
        return connection.getresponse().read()
    finally:
        connection.close()


def forces(task: Task) -> str:
    """A plain loop whose every request says that a tool has to be called."""
    messages: list[Any] = [{"role": "user", "content": task.prompt}]
    while True:
        reply = json.loads(post(task, messages, tool_choice="required"))
        message = reply["choices"][0]["message"]
        messages.append(message)
        if not message.get("tool_calls"):
            return str(message["content"])
        for call in message["tool_calls"]:
            function = call["function"]
            try:
                result = task.tools.call(function["name"], json.loads(function["arguments"]))
            except TimeoutError as error:
                result = {"error": str(error)}
            told = {"tool_call_id": call["id"], "content": json.dumps(result)}
            messages.append({"role": "tool", **told})


def dispatches(run: Run) -> int:
    return sum(isinstance(each, Dispatch) for each in run.events)


def test_a_tool_layer_that_tries_again_is_told_beside_the_escape(retries: Any) -> None:
    run = Harness(LOST, retries, options=OWN).run()

    (found,) = run.diagnosis
    assert run.cell.state == "escaped"
    assert (found.kind, found.subject, found.seq) == ("redelivered", "issue_refund", 5)
    assert "proposed once at 1 and reached the business 2 times (2, 5)" in found.message


def test_under_a_breaker_the_second_try_reaches_nobody(retries: Any) -> None:
    run = Harness(LOST, retries).run()

    assert run.cell.state == "contained"
    assert dispatches(run) == 1
    assert run.diagnosis == ()


def test_a_request_tells_the_timeline_what_it_proposes(agents: Any) -> None:
    run = Harness(LOST, agents.loop).run()

    asked = {each.says: each.proposes for each in run.events if isinstance(each, ModelRequest)}
    assert asked == {"proposes write": ("issue_refund",), "is not asked": ()}


@pytest.mark.parametrize("options", [Options(), OWN, Options(persona="compliant")])
@pytest.mark.parametrize("case", CASE_IDS)
def test_the_plain_loop_has_nothing_wrong(agents: Any, case: str, options: Options) -> None:
    run = Harness(case, agents.loop, options=options).run()

    assert run.diagnosis == ()


def test_a_failure_tells_cause_and_remedy_after_what_broke(retries: Any) -> None:
    run = Harness(LOST, retries, options=OWN).run()

    with pytest.raises(TripwireFailure) as failed:
        run.check()
    head, *facts = str(failed.value).partition("\n\n")[0].splitlines()
    assert head.startswith("lost-write: escaped")
    assert facts[-1] == f"- {run.diagnosis[0].line}"
    assert " -> retry a write in one place only" in facts[-1]
    assert len(facts) == len(run.cell.broken) + 1


def test_a_loop_that_is_made_to_go_on_is_told_why() -> None:
    options = Options(protection=Protection.OWN, max_requests=10)
    run = Harness(LOST, forces, options=options).run()

    (found,) = run.diagnosis
    assert "ended in bounds" in [each.check for each in run.cell.broken]
    assert (found.kind, found.request, found.times) == ("forced_tool_choice", 2, 10)


@pytest.mark.parametrize(
    ("more", "kinds"),
    [
        ({}, []),
        ({"stream": True}, ["missing_usage"]),
        ({"stream": True, "stream_options": {"include_usage": True}}, []),
    ],
)
def test_a_stream_is_expected_to_ask_for_its_size(more: dict[str, Any], kinds: list[str]) -> None:
    def agent(task: Task) -> None:
        post(task, [{"role": "user", "content": task.prompt}], **more)

    run = Harness(LOST, agent).run()

    assert [each.kind for each in run.diagnosis] == kinds


def test_an_error_that_the_client_tries_again_after_is_told(agents: Any) -> None:
    class Patient(agents):
        @staticmethod
        def ask(task: Task, messages: list[Any]) -> Any:
            try:
                return agents.ask(task, messages)
            except OSError:
                return agents.ask(task, messages)

    options = Options(model_faults=(Status(status=503, turn=1),))
    run = Harness(LOST, Patient.loop, options=options).run()

    (found,) = run.diagnosis
    assert (found.kind, found.request) == ("hidden_retry", 3)
    assert "after request 2 got an error (503)" in found.message


def test_a_cell_keeps_its_diagnosis_on_its_way_between_processes(retries: Any) -> None:
    cell = Harness(LOST, retries, options=OWN).run().cell

    assert cell.diagnosis
    assert msgspec.json.decode(msgspec.json.encode(cell), type=Cell) == cell


def _alone(cell: Cell) -> Verdict:
    evidence = Evidence(
        version="1",
        catalogue_version=1,
        catalogue=(LOST,),
        declared=("agent",),
        judged=(Judged(cell=cell),),
        protection="own",
    )
    return decide(evidence, today=dt.date(2031, 5, 20))


def test_the_verbose_report_tells_it_under_the_timeline(retries: Any, agents: Any) -> None:
    cells = [Harness(LOST, each, options=OWN).run().cell for each in (retries, agents.loop)]
    lines = [list(render.timelines(_alone(cell))) for cell in cells]

    assert lines[0][-1] == f"- {cells[0].diagnosis[0].line}"
    assert not [line for line in lines[1] if line.startswith("- ")]
    assert json.loads(msgspec.json.encode(cells[1]))["diagnosis"] == []
