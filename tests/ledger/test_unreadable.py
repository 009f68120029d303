"""What cannot be read is not kept; what is there all the same hides nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import msgspec
import pytest

from pytest_tripwire.ledger import (
    Store,
    UnfitError,
    UnreadableError,
    Wanted,
    adopt,
    open_store,
)
from pytest_tripwire.timeline import (
    ApprovalNote,
    Became,
    BudgetLine,
    InterruptionRecord,
    SeenVersion,
    WriteEntry,
    WriteStatus,
)

Make = Callable[..., Any]
WRONG = [17, None, {"a": 1}, object(), 10**400]


@pytest.fixture
def sql_store(address: str) -> Iterator[Store]:
    with closing(open_store(address)) as opened:
        yield opened


def damage(store: Any, table: str, run_id: str) -> None:
    """Somebody, or an earlier release, has put into the rows of a run what cannot be read."""
    words = f"UPDATE tripwire_{table} SET body = '{{\"run_id\": null}}' WHERE run_id = '{run_id}'"  # noqa: S608 - as below
    store._sessions.write(lambda session: session.text(words))  # noqa: SLF001 - as another program


# -- what is kept


@pytest.mark.parametrize("wrong", WRONG, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("name", ["tenant", "workflow", "owner"])
def test_a_write_that_could_not_be_read_back_is_not_begun(
    sql_store: Store, entry: Make, record: Make, name: str, wrong: Any
) -> None:
    with pytest.raises(UnfitError, match="this WriteEntry could not be read back"):
        sql_store.begin(entry("k", **{name: wrong}), lambda _: None)
    with pytest.raises(UnfitError, match="this InterruptionRecord could not be read back"):
        sql_store.begin(entry("k"), lambda _: None, ahead=record(inputs=wrong))

    # Neither of them was kept, and the same write can be begun.
    assert sql_store.of_run("run") == ()
    assert sql_store.begin(entry("k"), lambda _: None, ahead=record()) is None


@pytest.mark.parametrize(
    "over",
    [
        {"message": ValueError("x")},
        {"workflow": None},
        {"budgets": (BudgetLine(name="max_turns", limit=math.inf, spent=0, remaining=0),)},
        {"budgets": (BudgetLine(name="max_turns", limit=math.nan, spent=0, remaining=0),)},
        {"versions": (SeenVersion(resource="A", version=3),)},  # type: ignore[arg-type]
        {"at": math.nan},
    ],
    ids=lambda over: next(iter(over)),
)
def test_a_record_that_could_not_be_read_back_replaces_none(
    sql_store: Store, record: Make, over: dict[str, Any]
) -> None:
    sql_store.store_record(record())
    with pytest.raises(UnfitError):
        sql_store.store_record(record(**over))
    assert sql_store.records(Wanted()) == (record(),)
    assert len(sql_store.happenings("run")) == 1


def test_who_has_done_it_and_who_has_said_yes_can_be_read_back(
    sql_store: Store, record: Make
) -> None:
    wrong: Any = 17
    sql_store.store_record(record())
    with pytest.raises(UnfitError):
        sql_store.claim("run", 1, operator=wrong)
    with pytest.raises(UnfitError):
        sql_store.keep_approval(
            ApprovalNote(run_id="run", call_id="c", intent="i", kind="k", operator=wrong)
        )

    assert sql_store.record_of("run") == record()
    assert sql_store.approvals_of("run") == ()
    assert sql_store.claim("run", 1, operator="ada") == record()


@pytest.mark.parametrize("odd", ["\ud800\x00", "x" * 200_000, "\x01", "é", ""])
def test_no_text_is_too_odd_to_be_kept(sql_store: Store, record: Make, odd: str) -> None:
    made = record(message=odd, workflow=odd, inputs=odd)
    sql_store.store_record(made)
    assert sql_store.records(Wanted()) == (made,)


# -- what is there all the same


def test_a_record_that_cannot_be_read_hides_no_other(sql_store: Store, record: Make) -> None:
    for run_id in ("a", "b", "c"):
        sql_store.store_record(record(run_id))
    damage(sql_store, "records", "b")

    for _ in range(2):
        assert {each.run_id for each in sql_store.records(Wanted())} == {"a", "c"}
    (told,) = sql_store.unread.told()
    assert told.startswith("the record of run b: ")
    assert "InterruptionRecord" in told
    # Whoever asks for that very one is not told that there is none.
    with pytest.raises(UnreadableError):
        sql_store.record_of("b")


def test_a_line_that_cannot_be_read_hides_no_other(sql_store: Store, record: Make) -> None:
    for run_id in ("a", "b"):
        sql_store.store_record(record(run_id))
    damage(sql_store, "happenings", "b")

    assert sum(each.number for each in sql_store.counts()) == 1
    assert [each.became for each in sql_store.happenings("a")] == ["interrupted"]
    assert "of what became of run b: " in sql_store.unread.told()[0]
    # It keeps nobody from ending that run, or from being told that it was ended.
    assert sql_store.end("b", 1, Became.CLOSED, operator="ada") is not None
    assert [each.operator for each in sql_store.happenings("b")] == ["ada"]


@pytest.mark.parametrize("table", ["ahead", "writes"])
def test_a_run_that_died_and_cannot_be_read_keeps_no_other_out(
    sql_store: Store, entry: Make, record: Make, table: str
) -> None:
    for run_id in ("a", "b"):
        made = entry(f"k-{run_id}", f"r-{run_id}", run_id=run_id, lease_until=1.0)
        sql_store.begin(made, lambda _: None, ahead=record(run_id))
    damage(sql_store, table, "b")

    assert [each.run_id for each in adopt(sql_store, 100.0)] == ["a"]
    (told,) = sql_store.unread.told()
    assert "run b" in told


def test_a_write_that_cannot_be_read_is_never_left_out_of_a_decision(
    sql_store: Store, entry: Make
) -> None:
    sql_store.begin(entry("k"), lambda _: None)
    damage(sql_store, "writes", "run")

    for ask in (lambda: sql_store.of_resource("r"), lambda: sql_store.bearing("r", "e")):
        with pytest.raises(UnreadableError):
            ask()
    with pytest.raises(UnreadableError):
        sql_store.begin(entry("k-2"), lambda _: None)
    assert sql_store.unread.told() == ()


def test_nothing_is_left_out_of_a_store_that_is_whole(
    store: Store, entry: Make, record: Make
) -> None:
    made: WriteEntry = entry("k")
    kept: InterruptionRecord = msgspec.structs.replace(record(), writes=(made,))
    store.begin(made, lambda _: None, ahead=kept)
    store.settle("k", WriteStatus.UNKNOWN)
    store.store_record(kept)

    assert len(store.records(Wanted())) == len(store.counts()) == len(store.happenings("run")) == 1
    assert store.unread.told() == ()
