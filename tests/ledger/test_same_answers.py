"""The store in a file answers as the one in memory does, whatever is done in whatever order."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_tripwire.breaker import Mode, Reason
from pytest_tripwire.breaker.port import Right
from pytest_tripwire.ledger import MemoryLedger, Store, Wanted, open_store
from pytest_tripwire.timeline import (
    ApprovalNote,
    Became,
    DenialNote,
    InterruptionRecord,
    SafeAction,
    WriteEntry,
    WriteStatus,
)

FEW = st.sampled_from("abc")
TEXT = FEW | st.text(max_size=5)
STATUS = st.sampled_from(WriteStatus)
TOKEN = st.integers(1, 4)
SECONDS = st.sampled_from([0.5, 1.0, 2.5])
ENDS = st.sampled_from([Became.CLOSED, Became.CONTINUED, Became.RECONCILED])

ENTRIES = st.builds(
    WriteEntry,
    key=st.just(""),
    run_id=FEW,
    epoch=FEW | TEXT,
    tool=TEXT,
    kind=FEW,
    resource=FEW,
    intent=FEW,
    dispatched_at=SECONDS,
    status=STATUS,
    result_id=st.none() | TEXT,
    came_back=st.booleans(),
    lease_until=st.none() | SECONDS,
)
RECORDS = st.builds(
    InterruptionRecord,
    run_id=FEW,
    tenant=FEW,
    workflow=TEXT,
    mode=st.sampled_from(Mode),
    reason=st.sampled_from([Reason.DEADLINE, Reason.DENIED]),
    message=TEXT,
    evidence=st.just(()),
    budgets=st.just(()),
    last_intent=TEXT,
    writes=st.just(()),
    safe_actions=st.just(tuple(SafeAction)),
    token_version=TOKEN,
    ended_as=st.none() | st.sampled_from(["reconciled", "closed"]),
    at=SECONDS,
    last_tool=FEW,
)
DENIALS = st.builds(
    DenialNote,
    kind=FEW,
    resource=FEW,
    rules=st.just(("r",)),
    tool=TEXT,
    intents=st.just(()),
    refused=st.integers(0, 3),
)
APPROVALS = st.builds(
    ApprovalNote,
    run_id=FEW,
    call_id=TEXT,
    intent=FEW,
    kind=FEW,
    granted=st.booleans(),
    left=st.integers(0, 3),
)
WANTED = st.builds(
    Wanted,
    open_only=st.booleans(),
    tenant=st.none() | FEW,
    workflow=st.none() | FEW,
    reason=st.none() | st.just(Reason.DENIED),
    most=st.integers(0, 4),
)


def unless_open(known: Any) -> WriteEntry | None:
    return next((each for each in known if not each.is_certain), None)


def call(name: str, *arguments: Any, **named: Any) -> Any:
    """Operations of one name, of which every argument may be any of a strategy's."""
    return st.builds(
        lambda given_ones, named_ones: (name, given_ones, named_ones),
        st.tuples(*arguments),
        st.fixed_dictionaries(named),
    )


RIGHTS = st.lists(st.builds(Right, run_id=FEW, token_version=TOKEN), max_size=2)
#: The key of the write that was begun as the n-th.
KEY = st.integers(1, 3).map(str)
OPERATIONS = st.one_of(
    call("begin", ENTRIES, st.just(unless_open), ahead=st.none() | RECORDS),
    call("begin", ENTRIES, st.just(unless_open), ahead=RECORDS, under=RIGHTS),
    call(
        "settle",
        KEY,
        STATUS,
        result_id=st.none() | TEXT,
        reconciled=st.booleans(),
        came_back=st.booleans(),
    ),
    call("resolve_write", KEY, STATUS, operator=TEXT, result_id=st.none() | TEXT),
    call("store_record", RECORDS),
    call("claim", FEW, TOKEN, operator=TEXT, action=st.sampled_from(SafeAction)),
    call("end", FEW, TOKEN, ENDS, operator=TEXT, detail=TEXT),
    call("note_denials", FEW, st.lists(DENIALS, max_size=3)),
    call("keep_approval", APPROVALS),
    call("use_approval", FEW, TEXT, times=st.integers(-2, 3)),
    call("records", WANTED),
    call("lost", SECONDS),
    call("of_resource", FEW),
    call("bearing", FEW, FEW),
    call("entry", KEY),
)


def answer(store: Store, name: str, given_ones: Any, named: Any, number: str) -> Any:
    if name == "begin":
        given_ones = (msgspec.structs.replace(given_ones[0], key=number), given_ones[1])
    try:
        return getattr(store, name)(*given_ones, **named)
    except Exception as error:  # noqa: BLE001 -- what is raised is an answer too
        return type(error), error.args


def everything(store: Store) -> Any:
    return [
        [
            store.of_run(run_id),
            store.record_of(run_id),
            store.happenings(run_id),
            store.denials_of(run_id),
            store.approvals_of(run_id),
        ]
        for run_id in "abc"
    ] + [store.counts(), store.records(Wanted()), store.lost(2.0)]


@contextmanager
def in_a_file(now: Callable[[], float]) -> Iterator[Store]:
    memory = Path("/dev/shm")  # noqa: S108 -- as in conftest.py
    where = memory if memory.is_dir() else None
    with tempfile.TemporaryDirectory(dir=where) as folder:
        store = open_store(Path(folder) / "runs.db", now=now)
        try:
            yield store
        finally:
            store.close()


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.lists(OPERATIONS, min_size=8, max_size=30))
def test_the_same_operations_get_the_same_answers(operations: list[Any]) -> None:
    # Each has a clock of its own, of which each reading is another second: what is told at all is
    # told as often.
    clocks = [itertools.count(1), itertools.count(1)]
    memory = MemoryLedger(lambda: float(next(clocks[0])))
    with in_a_file(lambda: float(next(clocks[1]))) as file:
        begun = 1
        for name, given_ones, named in operations:
            told = [answer(each, name, given_ones, named, str(begun)) for each in (memory, file)]
            assert told[0] == told[1], name
            begun += name == "begin" and told[0] is None
        assert everything(memory) == everything(file)
