"""Every store keeps what the protocol promises of records and of what became of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_tripwire.breaker import Mode, Reason
from pytest_tripwire.ledger import Store, Wanted
from pytest_tripwire.timeline import (
    Became,
    BudgetLine,
    Count,
    DenialNote,
    Happening,
    InterruptionRecord,
    SafeAction,
    SeenVersion,
    StepNote,
    WriteEntry,
    WriteStatus,
)

Made = Callable[..., InterruptionRecord]


def became(store: Store, run_id: str = "run") -> list[str]:
    return [each.became.value for each in store.happenings(run_id)]


def test_a_record_is_given_back_as_it_was_given(store: Store, entry: Callable[..., Any]) -> None:
    whole = InterruptionRecord(
        run_id="run \ud800\x00" + "x" * 3000,
        tenant="acme",
        workflow="refunds@4",
        mode=Mode.READ_ONLY,
        reason=Reason.UNKNOWN_SIDE_EFFECT,
        message="\x00 ü \udfff",
        evidence=(1, 7),
        budgets=(BudgetLine(name="max_turns", limit=0.1, spent=1e300, remaining=0.0),),
        last_intent="i",
        writes=(entry("k", result_id="R", lease_until=9.5),),
        safe_actions=tuple(SafeAction),
        versions=(SeenVersion(resource="r", version="3"),),
        denials=(
            DenialNote(kind="pay", resource="r", rules=("a",), tool="t", intents=(), refused=1),
        ),
        ended_as="closed",
        token_version=4,
        at=12.25,
        steps=(StepNote(seq=1, at_s=0.5, what="decided", reason="deadline"),),
    )

    store.store_record(whole)

    assert store.record_of(whole.run_id) == whole
    assert store.records(Wanted()) == (whole,)
    assert store.record_of("another") is None


def test_a_run_has_one_record_which_no_older_version_replaces(store: Store, record: Made) -> None:
    store.store_record(record(message="first"))
    store.store_record(record("other"))
    store.store_record(record(message="second", token_version=2))
    store.store_record(record(message="late", token_version=1))

    kept = store.record_of("run")
    assert kept == record(message="second", token_version=2)
    assert store.records(Wanted()) == (kept, record("other"))
    assert became(store) == ["interrupted"]


def test_records_are_found_by_what_is_wanted_the_latest_first(store: Store, record: Made) -> None:
    store.store_record(record("a", at=1.0, tenant="acme", workflow="w"))
    store.store_record(record("b", at=3.0, tenant="acme", reason=Reason.DENIED))
    store.store_record(record("c", at=2.0, workflow="w", ended_as="closed"))
    store.store_record(record("d", at=3.0))

    def found(**wanted: Any) -> list[str]:
        return [each.run_id for each in store.records(Wanted(**wanted))]

    assert found() == ["b", "d", "c", "a"]
    assert found(most=2) == ["b", "d"]
    assert found(open_only=True) == ["b", "d", "a"]
    assert found(tenant="acme") == ["b", "a"]
    assert found(workflow="w") == ["c", "a"]
    assert found(reason=Reason.DENIED) == ["b"]
    assert found(tenant="acme", workflow="w", reason=Reason.DEADLINE, open_only=True) == ["a"]
    assert found(tenant="nobody") == []


def test_a_run_is_taken_up_by_its_version_and_once(store: Store, record: Made) -> None:
    store.store_record(record(last_tool="pay", workflow="w"))

    assert store.claim("none", 1) is None
    assert store.claim("run", 2) is None
    assert store.claim("run", 1, operator="ann") == record(last_tool="pay", workflow="w")
    assert store.claim("run", 1) is None
    assert store.claim("run", 2, action=SafeAction.RESUME_READ_ONLY) is not None

    assert store.record_of("run") == record(last_tool="pay", workflow="w", token_version=3)
    assert store.happenings("run")[1] == Happening(
        run_id="run",
        became=Became.RESUMED,
        at=1001.0,
        reason=Reason.DEADLINE,
        workflow="w",
        tool="pay",
        operator="ann",
        token_version=2,
        seq=2,
    )
    assert became(store) == ["interrupted", "resumed", "resumed_read_only"]


def test_of_many_who_take_a_run_up_one_wins(
    store: Store, record: Made, at_once: Callable[..., list[Any]]
) -> None:
    store.store_record(record())

    got = at_once(24, lambda _number: store.claim("run", 1))

    assert sorted(each is None for each in got) == [False] + [True] * 23
    assert became(store) == ["interrupted", "resumed"]


def test_an_interruption_that_is_over_is_not_taken_up(store: Store, record: Made) -> None:
    store.store_record(record())

    assert store.end("run", 2, Became.CLOSED, operator="ann") is None
    assert store.end("none", 1, Became.CLOSED, operator="ann") is None
    ended = store.end("run", 1, Became.CONTINUED, operator="ann", detail="to another")

    assert ended == store.record_of("run") == record(ended_as="continued", token_version=2)
    assert store.end("run", 2, Became.CLOSED, operator="bob") is None
    assert store.claim("run", 2) is None
    last = store.happenings("run")[-1]
    assert (last.became, last.operator, last.detail) == (Became.CONTINUED, "ann", "to another")
    assert last.token_version == 2


def test_somebody_says_what_became_of_a_write_once(
    store: Store, record: Made, entry: Callable[..., WriteEntry]
) -> None:
    for key, run_id in (("1", "run"), ("2", "uninterrupted")):
        store.begin(entry(key, key, run_id=run_id), lambda _: None)
    store.store_record(record())

    after = store.resolve_write("1", WriteStatus.CONFIRMED, operator="ann", result_id="R")

    known = {"result_id": "R", "reconciled": True, "came_back": True, "seq": 1}
    assert after == store.entry("1") == entry("1", "1", status=WriteStatus.CONFIRMED, **known)
    assert store.resolve_write("1", WriteStatus.REJECTED, operator="bob") is None
    assert store.resolve_write("none", WriteStatus.REJECTED, operator="bob") is None
    assert store.resolve_write("2", WriteStatus.REJECTED, operator="bob") is not None
    assert became(store) == ["interrupted", "resolved"]
    assert store.happenings("run")[-1].detail == "1"
    assert store.happenings("uninterrupted") == ()


def test_a_record_that_is_reconciled_says_so_once(store: Store, record: Made) -> None:
    store.store_record(record())
    store.store_record(record(ended_as="reconciled"))
    store.store_record(record(ended_as="reconciled"))
    store.store_record(record(token_version=2))

    assert became(store) == ["interrupted", "reconciled", "interrupted"]


def test_interruptions_are_counted_by_what_became_of_them(store: Store, record: Made) -> None:
    for run_id in ("a", "b", "c"):
        store.store_record(record(run_id, workflow="w", last_tool="pay"))
    store.claim("a", 1)
    store.end("b", 1, Became.CLOSED, operator="ann")

    assert store.counts() == tuple(
        Count(reason=Reason.DEADLINE, workflow="w", tool="pay", became=each, number=1)
        for each in ("", "closed", "resumed")
    )


@pytest.mark.parametrize("action", [SafeAction.RESUME, SafeAction.RESUME_READ_ONLY])
def test_an_interruption_after_a_resume_is_another_one(
    store: Store, record: Made, action: SafeAction
) -> None:
    store.store_record(record())
    store.claim("run", 1, action=action)
    store.store_record(record(token_version=2))

    assert became(store)[::2] == ["interrupted", "interrupted"]
    assert sorted(each.became for each in store.counts()) == ["", became(store)[1]]
