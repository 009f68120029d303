"""Whatever goes wrong between a client and its model, the run comes to an end that has a name, and
nobody is paid twice.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from pytest_tripwire import Harness, Options, Protection, Task
from pytest_tripwire.models.faults import (
    CutStream,
    Delay,
    Drop,
    MalformedArguments,
    ModelFault,
    NoUsage,
    Status,
    UnknownTool,
)
from pytest_tripwire.oracle import State
from pytest_tripwire.timeline import Mutation

from ..dealing import dealt  # noqa: TID252 - no package to import from

Client = Callable[[Task], Any]

#: What the clients raise themselves. Anthropic's lets a cut stream through as its transport's own.
TYPED = (openai.OpenAIError, anthropic.AnthropicError, httpx2.HTTPError)
SOON = {"retry-after-ms": "1"}

#: What is over before it strikes for good: the agent has to come through.
PASSING: dict[str, ModelFault] = {
    "error": Status(turn=1, status=500, headers=SOON),
    "rate-limit": Status(turn=1, status=429, headers=SOON),
    "overloaded": Status(turn=1, status=529, headers=SOON),
    "malformed": MalformedArguments(turn=1),
    "unknown-tool": UnknownTool(turn=1),
    "no-usage": NoUsage(),
    "late": Delay(turn=1, seconds=0.01),
}
#: What stays: the agent may not come through, but it has to end.
LASTING: dict[str, ModelFault] = {
    "down": Status(turn=1, attempts=(), status=503, headers=SOON),
    "no-quota": Status(turn=1, attempts=(), status=403, code="insufficient_quota"),
    "cut": CutStream(turn=1, attempts=()),
    "silent": Drop(turn=1, attempts=()),
}


WIRES = ("chat", "responses", "kept", "messages")
#: The async clients read an answer as these do; they differ in how they lose one.
SYNC = ("sync-whole", "sync-stream")
#: How an answer is lost, beside how it is read.
ANYHOW = (*SYNC, "async-stream", "async-whole")


def cells(faults: dict[str, ModelFault], ways: tuple[str, ...]) -> list[Any]:
    """Each fault on each wire, and beside that one of the ways to ask, in turns."""
    return [
        pytest.param(faults[fault], f"{wire}-{way}", id=f"{fault}-{wire}-{way}")
        for fault, wire, way in dealt(faults, WIRES, ways)
    ]


# Anthropic's client reads what it can of broken JSON, and wonders when it sends that back.
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.parametrize(("fault", "client"), cells(PASSING, SYNC), indirect=["client"])
def test_an_agent_comes_through_what_passes(client: Client, fault: ModelFault) -> None:
    run = Harness("lost-write", client, options=Options(model_faults=(fault,))).run()

    run.check()
    assert run.error is None or run.interrupted


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("fault", "client"),
    [*cells(LASTING, ANYHOW[:2]), *cells(LASTING, ANYHOW[2:])],
    indirect=["client"],
)
def test_an_agent_ends_by_name_when_its_model_is_gone(client: Client, fault: ModelFault) -> None:
    options = Options(model_faults=(fault,), max_seconds=20.0)
    run = Harness("lost-write", client, options=options).run()

    assert isinstance(run.error, TYPED), run.error
    assert run.cell.state is not State.ESCAPED, run.cell.broken
    assert sum(isinstance(each, Mutation) for each in run.events) == 1


@pytest.mark.parametrize(
    ("fault", "client"),
    [
        pytest.param(PASSING[fault], client, id=f"{fault}-{client}")
        for fault, client in zip(
            PASSING,
            cycle(("chat-sync-whole", "responses-async-stream", "messages-sync-whole")),
            strict=False,
        )
    ],
    indirect=["client"],
)
def test_the_oracle_still_sees_who_pays_twice(client: Client, fault: ModelFault) -> None:
    options = Options(model_faults=(fault,), protection=Protection.OWN)

    run = Harness("lost-write", client, options=options).run()

    assert run.cell.state is State.ESCAPED
    assert sum(isinstance(each, Mutation) for each in run.events) > 1
