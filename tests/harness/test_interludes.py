"""Between the agent's two calls: who resumes, what others did, what the agent is told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from pytest_tripwire import Harness, Options, Protection, Run, Task
from pytest_tripwire.cases import load_case
from pytest_tripwire.cases.case import Case, Interlude
from pytest_tripwire.harness import Resumed
from pytest_tripwire.oracle import State
from pytest_tripwire.timeline import (
    ExternalChange,
    Finished,
    ModeChange,
    ModelRequest,
    Resumption,
)
from pytest_tripwire.world import Stage

ORDER = {"order_id": "A-1001"}
REFUND = {**ORDER, "amount": 40.0, "reason": "As approved.", "request_id": "r-1"}


class Diary:
    """An agent that follows no model: it reads first, and pays when it is resumed."""

    def __init__(self, ask: Callable[..., Any]) -> None:
        self.ask = ask
        self.resumes: list[Resumed | None] = []
        self.results: list[Any] = []

    def __call__(self, task: Task) -> str:
        self.resumes.append(task.resume)
        tool = ("get_order", ORDER) if task.resume is None else ("issue_refund", REFUND)
        self.results.append(task.tools.call(*tool))
        self.ask(task, [{"role": "user", "content": "go on"}])
        return "done"

    async def later(self, task: Task) -> str:
        """The same, async."""
        self.resumes.append(task.resume)
        tool = ("get_order", ORDER) if task.resume is None else ("issue_refund", REFUND)
        self.results.append(await task.tools.acall(*tool))
        self.ask(task, [{"role": "user", "content": "go on"}])
        return "done"


@pytest.fixture
def diary(agents: Any) -> Diary:
    return Diary(agents.ask)


def played(agent: Any, case: Case | str = "stale-resume", **options: Any) -> Run:
    return Harness(case, agent, options=Options(**options)).run()


def kinds(run: Run, *wanted: type) -> list[str]:
    return [type(event).__name__ for event in run.events if isinstance(event, wanted)]


def test_agent_is_called_again_with_the_operators_word(diary: Diary) -> None:
    run = played(diary)

    first, second = diary.resumes
    assert first is None
    assert second == Resumed(decision="approved", run_id="stale-resume-1", token_version=1)
    assert diary.results[1]["reason"] == "stale_resume"
    run.check()


def test_order_of_what_happens_between(diary: Diary) -> None:
    run = played(diary)

    assert kinds(run, ModeChange, Finished, ExternalChange, Resumption) == [
        "ModeChange",  # the interruption, which the operator takes back
        "Finished",
        "ExternalChange",
        "Resumption",
        "ModeChange",  # to read-only, on the old version
        "ModeChange",  # the write
        "Finished",
    ]
    assert run.reason == "stale_resume"


def test_unchanged_record_is_paid_on(diary: Diary) -> None:
    run = played(diary, "stale-resume/unchanged")

    assert diary.results[1]["refund_id"] == "R-A-1001-1"
    assert not run.interrupted
    run.check()


def test_own_protection_is_told_of_the_resumption_too(diary: Diary) -> None:
    run = played(diary, protection="own")

    assert diary.resumes[1] == Resumed(decision="approved", run_id="stale-resume", token_version=1)
    assert run.cell.state is State.ESCAPED


def test_own_protection_that_reads_again_before_it_writes_is_contained() -> None:
    def careful(task: Task) -> str:
        before = task.tools.call("get_order", ORDER)
        if task.resume is not None and before["total"] == 40:
            task.tools.call("issue_refund", REFUND)
        return "done"

    assert played(careful, protection="own").cell.state is State.CONTAINED


def test_agent_that_fails_the_first_time_is_not_called_again() -> None:
    calls: list[Task] = []

    def broken(task: Task) -> str:
        calls.append(task)
        raise LookupError("no such thing")

    run = played(broken)

    assert len(calls) == 1
    assert run.cell.state is State.INCONCLUSIVE
    assert isinstance(run.error, LookupError)


class Enough(Exception):  # noqa: N818 - a stop, and no error
    """How an agent's own protection stops it."""


@pytest.mark.parametrize(("protection", "calls"), [("own", 2), ("harness", 1)])
def test_an_agent_whose_own_protection_stopped_it_is_taken_up(protection: str, calls: int) -> None:
    """Under a breaker of ours it is that breaker's stop that is taken up, and no other."""
    seen: list[Task] = []

    def stops(task: Task) -> str:
        seen.append(task)
        raise Enough

    options = Options(protection=Protection(protection), stops=(Enough,))
    Harness("stale-resume", stops, options=options).run()

    assert [each.resume is not None for each in seen] == [False, True][:calls]


@pytest.mark.parametrize("road", ["run", "asyncio", "trio"])
def test_async_agent_is_called_again_in_its_loop(diary: Diary, road: str) -> None:
    harness = Harness("stale-resume", diary.later)
    if road == "run":
        run = harness.run()
    elif road == "asyncio":
        run = asyncio.run(harness.arun())
    else:
        run = pytest.importorskip("trio").run(harness.arun)

    assert len(diary.resumes) == 2
    run.check()


def test_new_request_is_a_run_of_its_own(diary: Diary) -> None:
    def pays(task: Task) -> str:
        diary.results.append(task.tools.call("issue_refund", REFUND))
        return "done"

    run = played(pays, "lost-write/asked-again")

    assert [each["refund_id"] for each in diary.results] == ["R-A-1001-1", "R-A-1001-2"]
    assert kinds(run, Resumption) == []
    assert kinds(run, Finished) == ["Finished", "Finished"]
    run.check()


def test_decision_and_meanwhile_are_the_cases(diary: Diary) -> None:
    seen: list[Stage] = []
    case = load_case("stale-resume")
    assert case.interlude is not None
    other: Interlude = msgspec.structs.replace(
        case.interlude, decision="rejected", meanwhile=seen.append
    )

    run = played(diary, msgspec.structs.replace(case, interlude=other))

    assert len(seen) == 1
    assert diary.resumes[1] is not None
    assert diary.resumes[1].decision == "rejected"
    assert "operator resumes the run (rejected)" in run.timeline()


def test_requests_of_the_second_call_are_counted_too(play: Callable[..., Run]) -> None:
    # A plain loop starts from the prompt again, so its second first request looks like a retry.
    run = play("stale-resume/unchanged")

    resumed = next(e.seq for e in run.events if isinstance(e, Resumption))
    after = [e for e in run.events if isinstance(e, ModelRequest) and e.seq > resumed]
    assert len(after) == 2
