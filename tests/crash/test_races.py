"""Many processes want the same at once, and one gets it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from pytest_tripwire.breaker import Breaker, ResumeRefusedError
from pytest_tripwire.guard import Resume

from .case import LONG, Case
from .evidence import check
from .stores import on_both
from .watch import Point

MANY = 50
WORKERS = 20
#: Where others have shown already that one of many begins.
FEW = 8
BEFORE_THE_EFFECT = Point(function="crash/world.py:World.mutate")


@on_both
def test_of_many_who_resume_one_record_one_wins(new_case: Callable[..., Case]) -> None:
    case = new_case()
    stopped = case.live(plot="is_stopped")
    assert stopped.account is not None
    resumes = (stopped.account.run_id, 1)

    ends = case.crowd(
        [
            case.life(name=f"{case.name}.r{each}", plot="resumes", resumes=resumes)
            for each in range(MANY)
        ]
    )

    accounts = [end.account for end in ends if end.account is not None]
    assert len(accounts) == MANY, [end.error for end in ends]
    won = [each for each in accounts if not each.refused]
    assert [each.run_id for each in won] == [stopped.account.run_id]
    refused = [each.refused for each in accounts if each.refused]
    assert len(refused) == MANY - 1
    # Too late for the claim, or the winner has ended it already.
    assert all("taken up by somebody else" in each or "is over" in each for each in refused)
    assert [line.order for line in case.lines if line.what == "mutated"] == ["A", "B"]


def test_of_many_threads_who_resume_one_record_in_memory_one_wins() -> None:
    breaker = Breaker(store="memory:")
    run = breaker.run(request_id="one")
    run.interrupt("Wait for the operator.")
    record = run.close()
    assert record is not None
    gate = threading.Barrier(MANY)

    def resumed(_: int) -> bool:
        gate.wait(30)
        wanted = Resume(run_id=run.run_id, token_version=record.token_version, operator="ada")
        try:
            breaker.resume(wanted, authorise=lambda *_: True, reload=lambda _: None)
        except ResumeRefusedError:
            return False
        return True

    with ThreadPoolExecutor(MANY) as threads:
        won = list(threads.map(resumed, range(MANY)))
    assert won.count(True) == 1


@on_both
def test_of_many_workers_of_one_message_one_writes(new_case: Callable[..., Case]) -> None:
    case = new_case()
    lives = [
        case.life(name=f"{case.name}.w{each}", orders=("A",), starts_at=LONG)
        for each in range(WORKERS)
    ]

    ends = case.crowd(lives)

    told = [end.account.told["A"] for end in ends if end.account is not None]
    made = [line.id for line in case.lines if line.what == "mutated"]
    assert len(told) == WORKERS, [end.error for end in ends]
    assert len(made) == 1
    assert sorted(told) == sorted([*made, *["duplicate_write"] * (WORKERS - 1)])
    assert [end.state for end in ends] == ["over"] * WORKERS


@on_both
def test_of_many_workers_who_find_a_dead_ones_write_one_writes(
    new_case: Callable[..., Case],
) -> None:
    """All of them may look; what they see is believed once, and leads to one write."""
    case = new_case()
    case.live(point=BEFORE_THE_EFFECT, orders=("A",))

    ends = case.crowd(
        [
            case.life(name=f"{case.name}.w{each}", orders=("A",), starts_at=2 * LONG)
            for each in range(FEW)
        ]
    )

    assert [end.state for end in ends] == ["over"] * FEW, [end.error for end in ends]
    assert [line.what for line in case.lines if line.what != "read"] == [
        "asked", "asked", "mutated",
    ]  # fmt: skip
    case.live(orders=("A",))
    check(case)


def test_a_write_past_its_lease_is_unknown_to_others_and_held(
    new_case: Callable[..., Case],
) -> None:
    """Where no read can settle it, nobody writes it again, and two records tell of it."""
    case = new_case()
    case.live(point=BEFORE_THE_EFFECT, orders=("A",), machine="elsewhere", starts_at=0.0)
    early = case.live(orders=("A",), starts_at=299.0, reconciles=False)
    late = case.live(orders=("A",), starts_at=300.0, reconciles=False)

    assert early.account is not None
    assert late.account is not None
    assert early.account.told == {"A": "duplicate_write"}
    assert late.account.told == {"A": "unknown_side_effect"}
    assert late.account.interrupted == "unknown_side_effect"
    assert {each.run_id for each in case.records()} == {
        f"{case.lived[0].life.name}#1", late.account.run_id,
    }  # fmt: skip
    check(case, held=True)
