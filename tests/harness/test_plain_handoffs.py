"""Specialists whose hand-offs say nothing but to whom, as most frameworks make them."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest

from pytest_tripwire import Harness, HarnessError, Options, Role, Run, Task
from pytest_tripwire.oracle import State
from pytest_tripwire.timeline import Dispatch
from pytest_tripwire.world import TARGET, WORDING

from .conftest import OPENER

CASE = "ping-pong-handoff"
#: Whom each of them may hand over to.
DESK = {
    "triage": ("billing", "shipping"),
    "billing": ("triage",),
    "shipping": ("triage",),
}
PLAIN = tuple(
    {"name": f"transfer_to_{name}", "description": f"Hand over to {name}.", "parameters": {}}
    for name in ("billing", "shipping", "triage")
)
REASON = {"type": "object", "properties": {"reason": {"type": "string"}}, "required": ["reason"]}


def transfer_to_agent(agent_name: str) -> None:
    """Hand over to the agent of that name."""


ROLES = {
    "plain": Role(PLAIN),
    "with a reason": Role(
        tuple({**each, "parameters": REASON} for each in PLAIN), {"reason": WORDING}
    ),
    "by name": Role(transfer_to_agent, {"agent_name": TARGET}),
}


def sees(who: str, tool: str) -> bool:
    """Whether an agent has a tool: its own hand-offs, and everything else."""
    own = [f"transfer_to_{each}" for each in DESK[who]]
    return tool in own or tool not in [each["name"] for each in PLAIN]


def asked(task: Task, who: str, said: list[Any]) -> dict[str, Any]:
    """What the model answers an agent."""
    tools = [each for each in task.tools.schemas("openai") if sees(who, each["function"]["name"])]
    messages = [{"role": "system", "content": f"You are {who}."}, *said]
    body = {"model": task.model.name, "messages": messages, "tools": tools}
    request = urllib.request.Request(  # noqa: S310 - the URL is the loopback server's
        f"{task.model.base_url('openai')}/chat/completions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json", "Authorization": f"Bearer {task.model.api_key}"},
    )
    with OPENER.open(request, timeout=30) as response:
        message: dict[str, Any] = json.load(response)["choices"][0]["message"]
        return message


def desk(task: Task) -> str:
    """Hands the word on whenever a hand-off was not refused."""
    who, said = "triage", [{"role": "user", "content": task.prompt}]
    for _ in range(40):
        message = asked(task, who, said)
        said.append(message)
        if not message.get("tool_calls"):
            return str(message["content"])
        for call in message["tool_calls"]:
            name, arguments = call["function"]["name"], json.loads(call["function"]["arguments"])
            result = task.tools.call(name, arguments, call_id=call["id"], agent=who)
            if name.startswith("transfer_to_") and not result.get("refused"):
                who = arguments.get("agent_name", name.removeprefix("transfer_to_"))
            content = json.dumps(result)
            said.append({"role": "tool", "tool_call_id": call["id"], "content": content})
    return "gave up"


@pytest.fixture
def play() -> Callable[..., Run]:
    def play(roles: str, case: str = CASE, **options: Any) -> Run:
        given = Options(roles={"handoff": ROLES[roles]}, **options)
        return Harness(case, desk, options=given).run()

    return play


def handed(run: Run) -> list[str]:
    sent = [each for each in run.events if isinstance(each, Dispatch) and each.role == "handoff"]
    return [each.tool.removeprefix("transfer_to_") for each in sent]


@pytest.mark.parametrize("persona", ["stubborn", "compliant", "forgetful"])
@pytest.mark.parametrize("variant", [None, "reordered", "noise", "parallel"])
@pytest.mark.parametrize("roles", ROLES)
def test_going_to_and_fro_is_stopped(
    play: Callable[..., Run], roles: str, variant: str | None, persona: str
) -> None:
    run = play(roles, persona=persona, variant=variant)

    run.check()
    assert run.cell.state is State.CONTAINED
    assert len(handed(run)) >= 2
    assert persona != "stubborn" or run.reason == "handoff_without_progress"


@pytest.mark.parametrize("roles", ROLES)
def test_nobody_stops_it_under_the_agents_own_protection(
    play: Callable[..., Run], roles: str
) -> None:
    run = play(roles, protection="own")

    assert run.cell.state is State.ESCAPED
    assert len(handed(run)) > 4


def test_each_agent_is_reached_by_the_tool_that_it_is_offered(play: Callable[..., Run]) -> None:
    assert handed(play("plain", protection="own"))[:4] == ["billing", "triage"] * 2


@pytest.mark.parametrize("case", ["fills-a-field", "drafts"])
@pytest.mark.parametrize("roles", ROLES)
def test_good_work_that_no_hand_off_can_tell_is_not_played(
    play: Callable[..., Run], roles: str, case: str
) -> None:
    with pytest.raises(HarnessError, match="this case is about what 'handoff' tells"):
        play(roles, f"{CASE}/{case}")


@pytest.mark.parametrize("parameters", [{}, REASON], ids=["plain", "with a reason"])
def test_going_from_one_to_the_next_is_no_going_round(parameters: dict[str, Any]) -> None:
    ring = [f"pass_to_{name}" for name in ("till", "workshop", "office", "depot", "garage")]
    tools = tuple({"name": name, "parameters": parameters} for name in ring)
    given = {"reason": "It is yours."} if parameters else {}
    results: list[Any] = []

    def agent(task: Task) -> None:
        results.extend(task.tools.call(name, given) for name in [*ring, *ring[:1]])

    role = Role(tools, {"reason": WORDING} if parameters else {})
    Harness(CASE, agent, options=Options(roles={"handoff": role})).run()

    assert results[:-1] == [{"accepted_by": "a specialist"}] * len(ring)
    assert "refused" not in results[-1]
