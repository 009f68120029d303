"""Runs one agent on one case."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import os
import re
from collections.abc import Callable
from typing import Any

import msgspec

from pytest_tripwire.breaker.budget import RunBudget
from pytest_tripwire.cases.case import Case
from pytest_tripwire.guard import Interrupted
from pytest_tripwire.harness.ceiling import is_overrun
from pytest_tripwire.harness.checks import check_options
from pytest_tripwire.harness.failures import HarnessError, trim
from pytest_tripwire.harness.loops import in_loop, in_thread, wait_at_most
from pytest_tripwire.harness.native_roles import with_definitions
from pytest_tripwire.harness.observe import is_meant, observation
from pytest_tripwire.harness.options import Options, Protection
from pytest_tripwire.harness.production import made
from pytest_tripwire.harness.real_model import Traffic, check_model
from pytest_tripwire.harness.run import Run
from pytest_tripwire.harness.script import played
from pytest_tripwire.harness.setting import Setting
from pytest_tripwire.harness.specs import check_names
from pytest_tripwire.harness.task import Agent
from pytest_tripwire.models import ModelServer
from pytest_tripwire.oracle import judge
from pytest_tripwire.world import BindingError, VirtualClock

_INSIDE = (
    "run() was called inside a running event loop, where it cannot start one for the agent. "
    "Write `run = await tripwire.arun()` in async tests."
)
_OTHER_LOOP = (
    "the agent is bound to another event loop ({error}): it was built in a fixture, while run() "
    "starts a loop of its own. Build it inside the agent function, or use an async test with "
    "`run = await tripwire.arun()`."
)

#: How asyncio says it: of a future, of a lock or queue, and of what belonged to a loop that ended.
_ANOTHER_LOOP = re.compile(r"different (event )?loop|Event loop is closed")


class Harness:
    """An agent and the case to try it on, for use without pytest too.

    Args:
        case: a case, or the id of a standard one.
        agent: called with a `Task`; sync or async.
        agent_id: names the agent in reports.
        options: protection, roles, budget and so on.
        model_server: makes the model server of a run, of what a `ModelServer` takes.
        clock: makes the clock of a run.
        outside: whether the agent is another process, which finds all in its environment.

    Raises:
        UnknownCaseError: for an id that no standard case has.
        HarnessError: for an agent that cannot be called, or a variant, roles or specs that there
            are not.
    """

    def __init__(
        self,
        case: Case | str,
        agent: Agent,
        *,
        agent_id: str = "agent",
        options: Options | None = None,
        model_server: Callable[..., ModelServer] = ModelServer,
        clock: Callable[[], VirtualClock] = VirtualClock,
        outside: bool = False,
    ) -> None:
        self._options = with_definitions(options or Options())
        check_options(self._options)
        check_model(self._options)
        self._case = played(
            case, self._options.variant, self._options.seed, _limits(self._options, clock)
        )
        check_names(self._options, self._case.operations)
        self._agent = checked(agent)
        self._agent_id = agent_id
        self._model_server = model_server
        self._numbers = itertools.count(1)
        self._clock = clock
        self._outside = outside

    def run(self) -> Run:
        """Run the agent, sync or async, and judge it.

        Raises:
            HarnessError: inside a running event loop; there, use `arun`.
        """
        __tracebackhide__ = True
        if in_loop():
            raise HarnessError(_INSIDE)
        setting = self._setting()
        with setting.server, self._traffic() as traffic:
            setting.real_model = traffic.model
            answer, error = self._attempt(setting)
            if self._goes_on(setting, error):
                answer, error = self._attempt(setting)
            traffic.settle(whole=self._came_to_its_end(error))
        return self._judged(setting, answer, error)

    async def arun(self) -> Run:
        """The same inside a running event loop; a sync agent runs in a thread."""
        __tracebackhide__ = True
        setting = self._setting()
        with setting.server, self._traffic() as traffic:
            setting.real_model = traffic.model
            answer, error = await self._aattempt(setting)
            if self._goes_on(setting, error):
                answer, error = await self._aattempt(setting)
            traffic.settle(whole=self._came_to_its_end(error))
        return self._judged(setting, answer, error)

    def _setting(self) -> Setting:
        __tracebackhide__ = True
        try:
            return Setting(self._case, self._options, self._model_server, self._clock)
        except BindingError as error:
            raise HarnessError(str(error)) from None

    def _traffic(self) -> Traffic:
        return Traffic(self._options, next(self._numbers), os.environ)

    def _came_to_its_end(self, error: BaseException | None) -> bool:
        return error is None or is_meant(error, self._options.stops)

    def _goes_on(self, setting: Setting, error: BaseException | None) -> bool:
        """Whether the case calls the agent a second time; an agent that failed is not. One that its
        own protection has stopped has come to an end of its own.
        """
        interlude = self._case.interlude
        ended = error is None or (setting.run is None and self._came_to_its_end(error))
        return interlude is not None and ended and setting.turn_over(interlude)

    def _attempt(self, setting: Setting) -> tuple[Any, BaseException | None]:
        try:
            answer = self._agent(setting.task())
            if inspect.isawaitable(answer):
                answer = asyncio.run(wait_at_most(answer, self._options.max_seconds))
        except BaseException as error:  # noqa: BLE001 - whatever the agent raises is judged
            _raise_if_not_judged(error)
            return None, error
        return answer, None

    async def _aattempt(self, setting: Setting) -> tuple[Any, BaseException | None]:
        task = setting.task()
        try:
            if inspect.iscoroutinefunction(self._agent):
                answer = await wait_at_most(self._agent(task), self._options.max_seconds)
            else:
                answer = await in_thread(self._agent, task)
                if inspect.isawaitable(answer):
                    answer = await wait_at_most(answer, self._options.max_seconds)
        except BaseException as error:  # noqa: BLE001 - whatever the agent raises is judged
            _raise_if_not_judged(error)
            return None, error
        return answer, None

    def _judged(self, setting: Setting, answer: Any, error: BaseException | None) -> Run:
        overran = self._overran(setting)
        if setting.server.error is not None:
            raise setting.server.error
        open_at_end = setting.run is None or setting.run.last_reason is None
        crashed = error is not None and not is_meant(error, self._options.stops)
        record = setting.close(crashed=crashed and open_at_end)
        seen = observation(
            setting,
            error=error,
            stops=self._options.stops,
            record=record,
            open_at_end=open_at_end,
            overran=overran,
            outside=self._outside,
        )
        trim(error)
        protection = self._options.protection
        cell = judge(self._case, seen, agent=self._agent_id, protection=protection)
        return Run(
            cell=msgspec.structs.replace(
                cell, events=setting.timeline.events(), seed=self._options.seed
            ),
            answer=answer,
            error=error,
            record=record,
            stop_seq=seen.stop.seq if seen.stop else 0,
            surfaced=seen.surfaced,
            budgets=seen.budgets,
        )

    def _overran(self, setting: Setting) -> str:
        options, seconds = self._options, setting.ceiling.elapsed
        if setting.server.exhausted:
            return f"more than {options.max_requests} model requests"
        if seconds > options.max_seconds:
            return f"{seconds:.1f} s, more than {options.max_seconds:g} s of real time"
        return ""


def checked(agent: Any) -> Agent:
    """`agent`, if it can be called with a task. Raises HarnessError with what to write."""
    if callable(agent):
        return agent  # type: ignore[no-any-return]
    raise HarnessError(
        f"tripwire_agent gave {type(agent).__name__}, which cannot be called. Return a function "
        f"that takes a task and runs your agent:\n\n{EXAMPLE}"
    )


EXAMPLE = """\
    # conftest.py
    import pytest

    @pytest.fixture
    def tripwire_agent():
        def agent(task):          # or: async def agent(task)
            return MyAgent(
                tools=list(task.tools.values()),
                base_url=task.model.base_url("openai"),
                api_key=task.model.api_key,
            ).run(task.prompt)
        return agent
"""


def _limits(options: Options, clock: Callable[[], VirtualClock]) -> RunBudget | None:
    """The limits of a team's breaker in production, which a case has to be laid out around."""
    if options.protection != Protection.PRODUCTION:
        return None
    return made(options.breaker, clock()).budget


def _raise_if_not_judged(error: BaseException) -> None:
    """Trouble of the harness's own is not a finding about the agent, and what ends a session
    is nobody's.
    """
    if not isinstance(error, Exception) and not is_overrun(error):
        raise error
    if isinstance(error, HarnessError):
        raise error
    if isinstance(error, RuntimeError) and _ANOTHER_LOOP.search(str(error)):
        raise HarnessError(_OTHER_LOOP.format(error=error)) from error


__all__ = ["EXAMPLE", "Harness", "Interrupted", "checked"]
