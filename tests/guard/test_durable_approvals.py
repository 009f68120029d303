"""A person's yes outlives the process, wherever it was given, and is used no oftener for that."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_tripwire.breaker import BreakerRun, Decision, Reason
from pytest_tripwire.timeline import Outcome, Status, ToolCall

from .durable_desk import Asker, Office, Place


@pytest.fixture(params=["memory", "sqlite"])
def office(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Office]:
    place = Place(request.param, tmp_path)
    yield Office(place)
    place.close()


@pytest.fixture
def ask(office: Office) -> Asker:
    return Asker(office)


class Worker:
    """One process, its breaker, and the run that it has."""

    def __init__(self, office: Office, owner: str, *, policy: str = "") -> None:
        self.office = office
        self.breaker = office.breaker(owner, policy_version=policy)

    def begins(self) -> BreakerRun:
        return self.office.run(self.breaker)

    def takes(self, state: bytes) -> BreakerRun:
        return self.office.run(self.breaker, state=state)


def put_up(ask: Asker, run: BreakerRun, **arguments: Any) -> str:
    call, verdict = ask(run, **arguments)
    assert verdict.decision is Decision.REQUIRE_APPROVAL
    return call.call_id


def runs(ask: Asker, run: BreakerRun, **arguments: Any) -> bool:
    """Whether a payment is let through; it is not begun then."""
    call, verdict = ask(run, **arguments)
    if verdict.allowed:
        run.withdraw(call)
    return verdict.allowed


def fails(ask: Asker, run: BreakerRun, **arguments: Any) -> bool:
    """Whether a payment is let through; it says that it did nothing then."""
    call, verdict = ask(run, **arguments)
    if verdict.allowed:
        run.settle(call, Outcome(status=Status.DEFINITE, error=f"No{call.call_id}"))
    return verdict.allowed


def why(ask: Asker, run: BreakerRun, **arguments: Any) -> Reason | None:
    verdict = ask(run, **arguments)[1]
    assert verdict.decision is Decision.REQUIRE_APPROVAL
    return verdict.reason


def test_yes_of_another_process_is_seen_by_the_one_that_waits(office: Office, ask: Asker) -> None:
    worker, elsewhere = Worker(office, "w1"), Worker(office, "w2")
    run = worker.begins()
    call_id = put_up(ask, run)
    assert not runs(ask, run)

    elsewhere.breaker.approve(run.run_id, call_id, operator="ada")

    assert runs(ask, run, request_id="a new nonce")


def test_yes_is_seen_by_the_process_that_takes_the_run_up(office: Office, ask: Asker) -> None:
    run = Worker(office, "w1").begins()
    state = run.snapshot()  # before it was put up: the store knows
    Worker(office, "w2").breaker.approve(run.run_id, put_up(ask, run))

    later = Worker(office, "w3").takes(state)

    assert runs(ask, later, request_id="a new nonce")


def test_what_waits_goes_on_waiting_in_the_process_that_takes_the_run_up(
    office: Office, ask: Asker
) -> None:
    run = Worker(office, "w1").begins()
    call_id = put_up(ask, run)
    later = Worker(office, "w2").takes(run.snapshot())

    assert ask(later)[1].reason is Reason.REPEATED_DENIAL
    Worker(office, "w3").breaker.approve(run.run_id, call_id)
    assert runs(ask, later)


def test_what_a_fork_has_put_up_since_is_not_put_up_again(office: Office, ask: Asker) -> None:
    run = Worker(office, "w1").begins()
    fork = Worker(office, "w2").takes(run.snapshot())
    Worker(office, "w3").breaker.approve(run.run_id, put_up(ask, run))

    assert runs(ask, fork, request_id="a new nonce")


@pytest.mark.parametrize("attempts", [1, 2, 3])
def test_attempts_are_counted_over_all_processes(office: Office, ask: Asker, attempts: int) -> None:
    run = Worker(office, "w1").begins()
    Worker(office, "op").breaker.approve(run.run_id, put_up(ask, run), attempts=attempts)
    state = run.snapshot()

    forks = [run, *(Worker(office, f"w{number}").takes(state) for number in (2, 3, 4, 5))]

    assert [fails(ask, each) for each in forks] == [True] * attempts + [False] * (5 - attempts)
    assert why(ask, Worker(office, "w9").takes(state), amount=11) is Reason.DENIED


def test_of_two_processes_at_once_one_runs(office: Office) -> None:
    run = Worker(office, "w1").begins()
    ask = Asker(office)
    Worker(office, "op").breaker.approve(run.run_id, put_up(ask, run))
    state, together = run.snapshot(), threading.Barrier(6)
    ran: list[str] = []

    def work(owner: str) -> None:
        mine = Worker(office, owner).takes(state)
        call = ToolCall(call_id=owner, tool="pay", arguments={"order": "A"})
        together.wait()
        if mine.decide(call).allowed:
            ran.append(owner)
            mine.settle(call, Outcome(status=Status.DEFINITE, error="No"))

    threads = [threading.Thread(target=work, args=(f"p{number}",)) for number in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert len(ran) == 1


@pytest.mark.parametrize("again", [{"amount": 11}, {"order": "B"}, {"currency": "EUR"}])
def test_anything_else_that_is_different_asks_again(
    office: Office, ask: Asker, again: dict[str, Any]
) -> None:
    run = Worker(office, "w1").begins()
    Worker(office, "op").breaker.approve(run.run_id, put_up(ask, run))
    later = Worker(office, "w2").takes(run.snapshot())

    assert why(ask, later, **again) in {Reason.STALE_RESUME, Reason.DENIED}
    assert runs(ask, later), "the yes itself still stands"


@pytest.mark.parametrize(
    ("given", "now", "holds"), [("v1", "v1", 1), ("v1", "v2", 0), ("", "v2", 1)]
)
def test_yes_under_another_policy_asks_again_after_a_crash(
    office: Office, ask: Asker, given: str, now: str, holds: int
) -> None:
    run = Worker(office, "w1", policy=given).begins()
    Worker(office, "op", policy=given).breaker.approve(run.run_id, put_up(ask, run))

    later = Worker(office, "w2", policy=now).takes(run.snapshot())

    assert runs(ask, later) is bool(holds)


def test_yes_under_another_policy_is_none_for_the_run_that_waits(
    office: Office, ask: Asker
) -> None:
    run = Worker(office, "w1", policy="v1").begins()
    call_id = put_up(ask, run)
    Worker(office, "op", policy="v2").breaker.approve(run.run_id, call_id)

    assert why(ask, run) is Reason.STALE_RESUME


def test_expiry_holds_across_processes(office: Office, ask: Asker) -> None:
    run = Worker(office, "w1").begins()
    call_id = put_up(ask, run)
    Worker(office, "op").breaker.approve(run.run_id, call_id, expires_s=60)
    state = run.snapshot()

    office.clock.seconds += 59
    assert runs(ask, Worker(office, "w2").takes(state))
    office.clock.seconds += 1
    assert why(ask, Worker(office, "w3").takes(state)) is Reason.STALE_RESUME


def test_change_that_one_process_was_told_of_holds_for_all(office: Office, ask: Asker) -> None:
    worker, fork = Worker(office, "w1"), Worker(office, "w2")
    run = worker.begins()
    call_id = put_up(ask, run)
    other = fork.takes(run.snapshot())
    Worker(office, "op").breaker.approve(run.run_id, call_id)
    assert runs(ask, run)
    assert runs(ask, other)

    other.changed("A")

    assert not runs(ask, run), "the other process has seen that the record changed"
    assert not runs(ask, other)


def test_yes_to_a_record_that_was_read_at_another_version_since(office: Office, ask: Asker) -> None:
    run = Worker(office, "w1").begins()
    call_id = put_up(ask, run)
    office.desk.version = 8
    run.call("get", {"order": "A"})

    Worker(office, "op").breaker.approve(run.run_id, call_id, version="7")

    assert why(ask, run) is Reason.STALE_RESUME


def test_change_told_to_a_process_gives_no_attempt_back(office: Office, ask: Asker) -> None:
    run = Worker(office, "w1").begins()
    Worker(office, "op").breaker.approve(run.run_id, put_up(ask, run), attempts=1)
    fork = Worker(office, "w2").takes(run.snapshot())
    assert fails(ask, fork)

    run.changed("A")

    assert not fails(ask, Worker(office, "w3").takes(run.snapshot()))


def test_withdrawn_call_gives_its_attempt_back_for_all(office: Office, ask: Asker) -> None:
    run = Worker(office, "w1").begins()
    Worker(office, "op").breaker.approve(run.run_id, put_up(ask, run))
    fork = Worker(office, "w2").takes(run.snapshot())
    call, verdict = ask(run)
    assert verdict.allowed
    assert not runs(ask, fork)

    run.withdraw(call)

    assert runs(ask, Worker(office, "w3").takes(run.snapshot()))


def test_crash_with_the_write_on_its_way_gives_no_attempt_back(office: Office, ask: Asker) -> None:
    run = Worker(office, "w1").begins()
    Worker(office, "op").breaker.approve(run.run_id, put_up(ask, run), attempts=1)
    state = run.snapshot()
    assert ask(run)[1].allowed  # and the process dies

    office.clock.seconds += 1000
    later = Worker(office, "w2").takes(state)

    _, verdict = ask(later, amount=10)
    assert not verdict.allowed
    assert office.desk.paid == []


def test_thing_beside_it_that_is_read_again_as_it_was_asks_no_second_time(
    office: Office, ask: Asker
) -> None:
    run = Worker(office, "w1").begins()
    run.call("get", {"order": "A-1"})
    office.desk.version = 9
    run.call("get", {"order": "B-1"})
    both = {"order": "A-1", "from": "B-1"}
    Worker(office, "op").breaker.approve(run.run_id, put_up(ask, run, **both))

    run.call("get", {"order": "B-1"})
    assert runs(ask, run, **both), "B-1 is at the version at which it was"
    later = Worker(office, "w2").takes(run.snapshot())
    office.desk.version = 10
    later.call("get", {"order": "B-1"})
    assert why(ask, later, **both) is Reason.STALE_RESUME


def test_store_itself_gives_no_attempt_at_what_has_changed(office: Office, ask: Asker) -> None:
    """Between a look at it and its use another process may have been told of the change."""
    worker = Worker(office, "w1")
    run = worker.begins()
    call_id = put_up(ask, run)
    Worker(office, "op").breaker.approve(run.run_id, call_id, attempts=2)
    assert worker.breaker.store.use_approval(run.run_id, call_id)

    Worker(office, "w2").takes(run.snapshot()).changed("A")

    assert not worker.breaker.store.use_approval(run.run_id, call_id)
    assert worker.breaker.store.use_approval(run.run_id, call_id, -1), (
        "what did not run is given back"
    )


def test_call_of_a_sub_agent_is_approved_by_its_id_or_that_of_its_parent(
    office: Office, ask: Asker
) -> None:
    run, boss = Worker(office, "one").begins(), office.breaker("boss")
    first, second = run.child("billing"), run.child("mail")
    of_first, of_second = put_up(ask, first), put_up(ask, second, order="B")

    for wrong in (second.run_id, f"{first.run_id}/1", f"{run.run_id}/9"):
        with pytest.raises(LookupError, match="waits for a yes"):
            boss.approve(wrong, of_first)
    assert not runs(ask, first)
    boss.approve(first.run_id, of_first)
    boss.approve(run.run_id, of_second)

    assert runs(ask, first)
    assert runs(ask, second, order="B")
