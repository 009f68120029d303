"""What is passed wrongly is told where it was passed, before a tool has run and before the store
keeps what nobody can read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from pytest_tripwire.breaker import (
    Breaker,
    BreakerRun,
    InterruptionRecord,
    Resume,
    ResumeRefusedError,
    ToolSpec,
)
from pytest_tripwire.guard import State
from pytest_tripwire.ledger import Wanted, open_store
from pytest_tripwire.timeline import Mode, Outcome, SafeAction, Status, ToolCall

ID = UUID("12345678-1234-5678-1234-567812345678")
WRONG = [pytest.param(each, id=type(each).__name__) for each in (17, ID, b"m", {"a": 1}, 1.5, None)]
SPECS = {
    "get": ToolSpec(name="get", effect="read", identity=("order",), result_version="version"),
    "pay": ToolSpec(name="pay", effect="write", identity=("order",)),
    "close": ToolSpec(name="close", effect="write", requires_approval=True),
}


class Word(str):
    """A text of a class of its own, such as frameworks mark what they have escaped with."""

    __slots__ = ()

    def __str__(self) -> str:
        return "told otherwise"


class Shop:
    """A store that others read too, and what was paid."""

    def __init__(self, store: Any) -> None:
        self.store = store
        self.paid: list[str] = []

    def breaker(self, **over: Any) -> Breaker:
        return Breaker(store=self.store, specs=SPECS, **over)

    def pay(self, order: str) -> dict[str, str]:
        self.paid.append(order)
        return {"id": f"R-{order}"}

    def interrupted(self, **over: Any) -> InterruptionRecord:
        run = self.breaker().run(request_id="m-1", tenant="acme", **over)
        run.interrupt("Wait for the operator.")
        record = run.close()
        assert record is not None
        return record

    def resumed(self, record: InterruptionRecord, **over: Any) -> BreakerRun:
        wanted = Resume(
            run_id=record.run_id,
            token_version=record.token_version,
            operator=over.pop("who", "ada"),
        )
        asked = {"authorise": lambda *_: True, "reload": lambda _: None, **over}
        return self.breaker().resume(wanted, **asked)

    def demand_untouched(self, record: InterruptionRecord) -> None:
        """Nobody has taken the run up, and nobody has been told that somebody did."""
        assert self.store.record_of(record.run_id) == record
        assert [each.became for each in self.store.happenings(record.run_id)] == ["interrupted"]


@pytest.fixture(params=["memory", "sqlite"])
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shop]:
    where = "memory:" if request.param == "memory" else f"sqlite:///{tmp_path}/runs.db"
    with closing(open_store(where)) as store:
        yield Shop(store)


# -- names


@pytest.mark.parametrize("name", ["tenant", "workflow", "request_id", "inputs"])
@pytest.mark.parametrize("wrong", WRONG)
def test_a_run_is_named_by_text(shop: Shop, name: str, wrong: Any) -> None:
    kind = "None" if wrong is None else type(wrong).__name__
    told = rf"^Breaker\.run\({name}=\.\.\.\): expected text, not {kind}\. [A-Z]"
    with pytest.raises(TypeError, match=told):
        shop.breaker().run(**{"request_id": "m-1", name: wrong})


@pytest.mark.parametrize("wrong", WRONG)
def test_a_version_of_the_policy_is_text(shop: Shop, wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"^Breaker\(policy_version="):
        shop.breaker(policy_version=wrong)


@pytest.mark.parametrize("name", ["run_id", "operator", "workflow", "inputs"])
@pytest.mark.parametrize("wrong", WRONG)
def test_who_resumes_what_is_named_by_text(name: str, wrong: Any) -> None:
    given = {"run_id": "r", "token_version": 1, "operator": "ada", name: wrong}
    with pytest.raises(TypeError, match=rf"^Resume\({name}=\.\.\.\): expected text"):
        Resume(**given)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("token_version", "1"), ("token_version", True), ("token_version", 1.0), ("read_only", "no")],
)
def test_what_is_resumed_is_of_its_kind(name: str, wrong: Any) -> None:
    given = {"run_id": "r", "token_version": 1, "operator": "ada", name: wrong}
    with pytest.raises(TypeError, match=rf"^Resume\({name}=\.\.\.\): expected"):
        Resume(**given)


def test_a_token_is_no_wish(shop: Shop) -> None:
    wish: Any = "tripwire-resume.1.x"
    with pytest.raises(TypeError, match=r"Resume\.from_token"):
        shop.breaker().resume(wish, authorise=lambda *_: True, reload=lambda _: None)


@pytest.mark.parametrize("by", ["breaker", "run"])
@pytest.mark.parametrize(
    ("name", "wrong"),
    [("operator", 17), ("operator", ID), ("call_id", 1), ("version", 3), ("attempts", 1.5)],
)
def test_a_yes_is_given_in_text_and_whole_numbers(
    shop: Shop, by: str, name: str, wrong: Any
) -> None:
    breaker = shop.breaker()
    run = breaker.run(request_id="m-1")
    call = ToolCall(call_id="c-1", tool="close", arguments={"account": "A"})
    run.decide(call)
    given: dict[str, Any] = {"call_id": "c-1", "operator": "ada", name: wrong}
    approve = run.approve if by == "run" else partial(breaker.approve, run.run_id)
    with pytest.raises(TypeError, match=rf"^approve\({name}="):
        approve(**given)

    # The approval is still there, and can be given.
    run.approve("c-1", operator="ada")
    assert run.decide(call).allowed


def test_what_others_say_of_a_run_is_text(shop: Shop) -> None:
    run = shop.breaker().run(request_id="m-1")
    wrong: Any = 17
    with pytest.raises(TypeError, match=r"^changed\(resource="):
        run.changed(wrong)
    with pytest.raises(TypeError, match=r"^resolve\(result_id="):
        run.resolve("pay", {"order": "A"}, "confirmed", wrong)
    with pytest.raises(TypeError, match=r"^child\(agent="):
        run.child(wrong)


def test_a_text_of_another_class_is_the_text_that_it_holds(shop: Shop) -> None:
    words: dict[str, Any] = {
        name: Word(name) for name in ("tenant", "workflow", "request_id", "inputs")
    }
    with shop.breaker(policy_version=Word("p-1")).run(**words) as run:
        (pay,) = run.guard([shop.pay])
        assert pay("A") == {"id": "R-A"}
    record = shop.interrupted(workflow=Word("refunds@1"))
    shop.resumed(record, who=Word("ada")).close()

    (entry,) = shop.store.of_run(run.run_id)
    assert (entry.tenant, entry.workflow) == ("tenant", "workflow")
    assert shop.store.happenings(record.run_id)[-1].operator == "ada"


# -- why a run ends


@pytest.mark.parametrize("wrong", [ValueError("password=hunter2"), 17, None, {"pin": "4711"}])
def test_whatever_it_is_stopped_for_it_stops_and_can_be_read(shop: Shop, wrong: Any) -> None:
    run = shop.breaker().run(request_id="m-1")
    run.interrupt(wrong)
    assert run.mode is Mode.STOPPED

    record = run.close()
    assert record is not None
    assert record.message == type(wrong).__name__
    assert shop.store.records(Wanted()) == (record,)


def test_why_it_was_stopped_is_kept_as_it_was_said(shop: Shop) -> None:
    assert shop.interrupted().message == "Wait for the operator."


@pytest.mark.parametrize("end", ["fail", "reject"])
def test_a_run_that_fails_by_an_exception_has_failed_by_its_class(shop: Shop, end: str) -> None:
    run = shop.breaker().run(request_id="m-1")
    assert getattr(run, end)(OSError("at ada@desk")).detail == "OSError"


def test_a_version_that_is_a_number_is_kept_as_text(shop: Shop) -> None:
    run = shop.breaker().run(request_id="m-1")
    call = ToolCall(call_id="c", tool="get", arguments={"order": "A"})
    assert run.decide(call).allowed
    version: Any = 3
    run.settle(call, Outcome(status=Status.OK, result={}, version=version))
    run.interrupt("Wait.")
    run.close()

    (record,) = shop.store.records(Wanted())
    assert [each.version for each in record.versions] == ["3"]


# -- who is asked


async def _no(*_: Any) -> bool:
    return False


class _Async:
    async def __call__(self, *_: Any) -> bool:
        return False

    async def method(self, *_: Any) -> bool:
        return False


class _Future:
    def __await__(self) -> Iterator[Any]:
        yield


ASKED = ["authorise", "compatible", "reload"]
ASYNC: dict[str, Any] = {
    "function": _no,
    "method": _Async().method,
    "object": _Async(),
    "hidden": lambda *_: _no(),
    "future": lambda *_: _Future(),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("kind", ASYNC)
def test_nobody_gets_in_by_an_answer_that_is_yet_to_come(shop: Shop, name: str, kind: str) -> None:
    record = _has_read(shop)
    with pytest.raises(TypeError, match=rf"^Breaker\.resume\({name}=\.\.\.\): .*await"):
        shop.resumed(record, **{name: ASYNC[kind]})
    shop.demand_untouched(record)


@pytest.mark.parametrize("name", ["authorise", "compatible"])
@pytest.mark.parametrize("answer", ["no", (False, "not your tenant"), 1, object(), [], "", 0])
def test_only_true_is_a_yes(shop: Shop, name: str, answer: Any) -> None:
    record = shop.interrupted()
    told = rf"^Breaker\.resume\({name}=\.\.\.\): .*<lambda> has answered with .*only True is a yes"
    with pytest.raises(TypeError, match=told):
        shop.resumed(record, **{name: lambda *_: answer})
    shop.demand_untouched(record)


@pytest.mark.parametrize("name", ["authorise", "compatible"])
@pytest.mark.parametrize("answer", [False, None])
def test_a_no_is_a_no(shop: Shop, name: str, answer: Any) -> None:
    record = shop.interrupted()
    with pytest.raises(ResumeRefusedError):
        shop.resumed(record, **{name: lambda *_: answer})
    shop.demand_untouched(record)


@pytest.mark.parametrize("name", [*ASKED, "postconditions"])
def test_what_cannot_be_asked_is_told(shop: Shop, name: str) -> None:
    record = shop.interrupted()
    wrong: Any = {"paid": True} if name == "postconditions" else "ada"
    with pytest.raises(TypeError, match=rf"^Breaker\.resume\({name}.*expected a function, not"):
        shop.resumed(record, **{name: wrong})
    shop.demand_untouched(record)


def test_a_method_that_says_yes_lets_in(shop: Shop) -> None:
    class Rights:
        def may(self, operator: str, record: InterruptionRecord, action: SafeAction) -> bool:
            return (operator, record.tenant, action) == ("ada", "acme", SafeAction.RESUME)

        def __call__(self, _record: InterruptionRecord, _wanted: Resume) -> bool:
            return True

    run = shop.resumed(shop.interrupted(), authorise=Rights().may, compatible=Rights())
    (pay,) = run.guard([shop.pay])
    assert pay("A") == {"id": "R-A"}


@pytest.mark.parametrize(
    ("now", "mode"), [("8", Mode.OPEN), (8, Mode.OPEN), (9, Mode.READ_ONLY), (None, Mode.READ_ONLY)]
)
def test_a_version_is_compared_whatever_its_kind(shop: Shop, now: Any, mode: Mode) -> None:
    assert shop.resumed(_has_read(shop), reload=lambda _: now).mode is mode


def _has_read(shop: Shop) -> InterruptionRecord:
    def get(order: str) -> dict[str, Any]:
        return {"order": order, "version": 8}

    run = shop.breaker().run(request_id="m-1", tenant="acme")
    run.guard([get])[0]("A")
    run.interrupt("Wait for the operator.")
    record = run.close()
    assert record is not None
    return record


def test_a_policy_answers_at_once(shop: Shop) -> None:
    policy: Any = _no
    with pytest.raises(TypeError, match=r"^Breaker\(policy=\.\.\.\): _no is async"):
        shop.breaker(policy=policy)


# -- what is true of the work


@pytest.mark.parametrize("kind", ["function", "method", "object"])
def test_a_postcondition_answers_at_once(shop: Shop, kind: str) -> None:
    wrong: Any = {"paid": ASYNC[kind]}
    told = re.escape("(postconditions['paid']=...): ")
    with pytest.raises(TypeError, match=f"Breaker.run{told}.*is async"):
        shop.breaker().run(request_id="m-1", postconditions=wrong)
    run = shop.breaker().run(request_id="m-1")
    with pytest.raises(TypeError, match=f"child{told}.*is async"):
        run.child("helper", postconditions=wrong)


@pytest.mark.filterwarnings("error")
def test_what_is_yet_to_come_is_not_true(shop: Shop) -> None:
    hidden: Callable[[], Any] = ASYNC["hidden"]
    with shop.breaker().run(request_id="m-1", postconditions={"paid": hidden}) as run:
        pass
    assert run.terminal is not None
    assert run.terminal.state is State.FAILED


def test_a_postcondition_that_finds_something_is_true(shop: Shop) -> None:
    found: Callable[[], Any] = lambda: ["a payment"]  # noqa: E731
    with shop.breaker().run(request_id="m-1", postconditions={"paid": found}) as run:
        pass
    assert run.terminal is not None
    assert run.terminal.state is State.COMPLETED
