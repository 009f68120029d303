"""The same agent on every wire, streamed or not, sync or async, meets the same case."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anthropic
import openai
import pytest

from pytest_tripwire import Harness, Options, Task
from pytest_tripwire.harness.task import Model
from pytest_tripwire.models.faults import CutStream, Drop, Status
from pytest_tripwire.timeline import Dispatch, ModelRequest

from ..dealing import dealt  # noqa: TID252 - no package to import from

Client = Callable[[Task], Any]
CASES = ("empty-search", "lost-write")
CLIENTS = [
    f"{wire}-{way}-{form}"
    for wire in ("chat", "responses", "kept", "messages")
    for way in ("sync", "async")
    for form in ("whole", "stream")
]
#: Each wire meets both cases, sync and async, and streamed or not.
ONE_CASE = [
    (name, CASES[(name.split("-")[1] == "async") ^ name.endswith("stream")]) for name in CLIENTS
]


def proposed(run: Any) -> list[str]:
    return [each.says for each in run.events if isinstance(each, ModelRequest)]


def dispatched(run: Any) -> list[tuple[str, str]]:
    return [(each.tool, each.resource) for each in run.events if isinstance(each, Dispatch)]


@pytest.mark.parametrize(
    ("client", "case", "persona"),
    dealt(CLIENTS, CASES, ("stubborn", "compliant")),
    indirect=["client"],
)
def test_a_case_is_contained_on_every_wire(client: Client, case: str, persona: str) -> None:
    run = Harness(case, client, options=Options(persona=persona)).run()

    run.check()
    assert len(proposed(run)) > 1


@pytest.mark.parametrize(("client", "case"), ONE_CASE, indirect=["client"])
def test_retries_of_a_client_lead_no_script_astray(client: Client, case: str) -> None:
    fault = Status(turn=None, attempts=(1, 2), headers={"retry-after-ms": "1"})

    plain = Harness(case, client).run()
    retried = Harness(case, client, options=Options(model_faults=(fault,))).run()

    retried.check()
    assert proposed(retried) == proposed(plain)
    assert dispatched(retried) == dispatched(plain)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    "client",
    [
        f"{wire}-{way}-whole"
        for wire in ("chat", "responses", "messages")
        for way in ("sync", "async")
    ],
    indirect=True,
)
def test_what_is_lost_or_cut_is_asked_for_again(client: Client) -> None:
    faults = (Drop(turn=0), CutStream(turn=1))

    plain = Harness("empty-search", client).run()
    struck = Harness("empty-search", client, options=Options(model_faults=faults)).run()

    struck.check()
    assert proposed(struck) == proposed(plain)
    assert dispatched(struck) == dispatched(plain)


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_the_model_that_an_agent_is_told_of_is_one_that_is_served(provider: str) -> None:
    def agent(task: Task) -> list[str]:
        key, url = task.model.api_key, task.model.base_url(provider)
        client: Any
        if provider == "openai":
            client = openai.OpenAI(api_key=key, base_url=url)
        else:
            client = anthropic.Anthropic(api_key=key, base_url=url)
        return [
            client.models.retrieve(task.model.name).id,
            *(each.id for each in client.models.list()),
        ]

    run = Harness("lost-write", agent).run()

    assert run.answer == [Model.name] * 2
