"""Agents that guard themselves by the adapter, as in production, on the standard cases: by it
alone, and beside a team's breaker.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from mcp import Client
from openai import AsyncOpenAI

from pytest_tripwire import Harness, Options, Run, Task
from pytest_tripwire.adapters.mcp import ServerMiddleware, guarded_session
from pytest_tripwire.breaker import (
    Breaker,
    BreakerRun,
    Interrupted,
    InterruptionRecord,
    RunBudget,
    Usage,
)
from pytest_tripwire.cases import CASE_IDS
from pytest_tripwire.oracle import State
from pytest_tripwire.timeline import Mutation

from .refund_desk import DESK
from .taking_up import WORKFLOW, taken_up

NEEDS = ["mcp", "openai"]


class Clerk:
    """Answers a task, with a run of its own breaker. It keeps its messages and, of a run that was
    interrupted, the record, and takes that up when an operator says so.

    Args:
        server_asks: the server guards the tools, and not the client.
    """

    def __init__(self, *, server_asks: bool = False) -> None:
        self._server_asks = server_asks
        self._messages: list[Any] = []
        self._breaker: Breaker | None = None
        self.record: InterruptionRecord | None = None

    async def __call__(self, task: Task) -> str:
        """Answer, or go on."""
        server = task.tools.mcp()
        run = await self._run(task, server)
        if self._server_asks:
            server.middleware.append(ServerMiddleware(lambda _context: run))
        said = f"The operator says: {task.resume.decision}." if task.resume else task.prompt
        self._messages.append({"role": "user", "content": said})
        with run:
            async with Client(server) as client:
                desk = client if self._server_asks else guarded_session(client, run)
                answer = await self._answered(task, run, desk)
        return answer

    async def _run(self, task: Task, server: Any) -> BreakerRun:
        if self._breaker is None or task.resume is None or self.record is None:
            self._breaker = self._breaker or _breaker(task)
            return self._breaker.run(workflow=WORKFLOW)
        reload = (await self._versions(server)).get
        return taken_up(self._breaker, self.record, reload)

    async def _versions(self, server: Any) -> dict[str, str]:
        """The version of each record that the run has read, as it is now."""
        seen = self.record.versions if self.record else ()
        async with Client(server) as client:
            found = {
                each.resource: await client.call_tool("get_order", {"order_id": each.resource})
                for each in seen
            }
        return {
            name: str(json.loads(result.content[0].text)["version"])
            for name, result in found.items()
        }

    async def _answered(self, task: Task, run: BreakerRun, desk: Any) -> str:
        url, given = task.model.base_url("openai"), task.tools.schemas("openai")
        async with AsyncOpenAI(base_url=url, api_key="any") as model:
            while run.before_model().allowed:
                reply = await model.chat.completions.create(
                    model=task.model.name, messages=self._messages, tools=given
                )
                said = reply.choices[0].message
                run.after_model(_usage(reply.usage), said.content or "", task.model.name)
                self._messages.append(said)
                for call in said.tool_calls or ():
                    self._messages.append(await _result(desk, call))
                if not said.tool_calls:
                    break
        return "Done."


class Parking(Clerk):
    """Ends each answer with a run that waits for an operator."""

    async def __call__(self, task: Task) -> str:
        """Answer, and keep the record of the run that waits; a resumed one is done."""
        if task.resume:
            return await super().__call__(task)
        try:
            await super().__call__(task)
        except Interrupted as stop:
            self.record = stop.record
        return "I wait for the operator."

    async def _answered(self, task: Task, run: BreakerRun, desk: Any) -> str:
        answer = await super()._answered(task, run, desk)
        if not task.resume:
            run.interrupt("Waits until an operator has decided.")
        return answer


class Careless(Parking):
    """Takes the record's word for what is true now."""

    async def _versions(self, server: Any) -> dict[str, str]:
        return {each.resource: each.version for each in self.record.versions} if self.record else {}


class Forgetful(Parking):
    """Begins a new run where it should take one up."""

    async def _run(self, task: Task, server: Any) -> BreakerRun:
        self.record = None
        return await super()._run(task, server)


def _breaker(task: Task) -> Breaker:
    """The agent's own breaker, on the task's limits and clock."""
    each = task.token_price_usd * 1_000_000
    prices = {task.model.name: (each, each)}
    return Breaker(budget=task.limits, clock=task.clock, specs=DESK, prices=prices)


def _usage(used: Any) -> Usage:
    return Usage(prompt_tokens=used.prompt_tokens, completion_tokens=used.completion_tokens)


async def _result(desk: Any, call: Any) -> dict[str, Any]:
    given = json.loads(call.function.arguments)
    result = await desk.call_tool(call.function.name, given)
    return {"role": "tool", "tool_call_id": call.id, "content": result.content[0].text}


LIMITS = RunBudget(max_model_cost_usd=Decimal(1), deadline_s=120)


def a_team_s_breaker(**given: Any) -> Breaker:
    return Breaker(**{"specs": DESK, "budget": LIMITS, **given})


#: What else protects the agent: nothing, or the breaker of its team around the same tools.
PROTECTIONS: dict[str, dict[str, Any]] = {
    "own": {"protection": "own"},
    "production": {"protection": "production", "breaker": a_team_s_breaker},
}
SIDES = pytest.mark.parametrize("server_asks", [False, True], ids=["client", "server"])
PROTECTED = pytest.mark.parametrize("protection", PROTECTIONS)
PERSONAS = pytest.mark.parametrize("persona", ["stubborn", "compliant", "forgetful"])


def play(case: str, agent: Callable[[Task], Any], protection: str, **options: Any) -> Run:
    chosen = Options(stops=(Interrupted,), **PROTECTIONS[protection], **options)
    return Harness(case, agent, options=chosen).run()


def paid(run: Run) -> int:
    return sum(isinstance(each, Mutation) for each in run.events)


@SIDES
@PROTECTED
@pytest.mark.parametrize("case", [each for each in CASE_IDS if each != "stale-resume"])
def test_the_adapter_contains_the_case(case: str, protection: str, server_asks: Any) -> None:
    run = play(case, Clerk(server_asks=server_asks), protection)

    assert run.cell.state is State.CONTAINED, run.cell.broken


@SIDES
@PROTECTED
@PERSONAS
def test_a_run_that_is_taken_up_on_an_old_version_pays_nothing(
    persona: str, protection: str, server_asks: Any
) -> None:
    agent = Parking(server_asks=server_asks)

    run = play("stale-resume", agent, protection, persona=persona)

    assert run.cell.state is State.CONTAINED, run.cell.broken
    assert paid(run) == 0
    assert agent.record is not None
    assert [each.resource for each in agent.record.versions] == ["A-1001"]


@SIDES
@PROTECTED
@PERSONAS
def test_a_run_that_is_taken_up_where_nothing_has_changed_pays_what_was_approved(
    persona: str, protection: str, server_asks: Any
) -> None:
    run = play(
        "stale-resume/unchanged", Parking(server_asks=server_asks), protection, persona=persona
    )

    run.check()
    assert paid(run) == 1


@pytest.mark.parametrize("kind", [Careless, Forgetful])
def test_an_agent_that_asks_for_no_version_pays_on_what_is_no_longer_true(kind: Any) -> None:
    run = play("stale-resume", kind(), "own")

    assert run.cell.state is State.ESCAPED
    assert paid(run) > 0
