"""What real processes do to one store at the same time, and what those that are killed leave."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from pytest_tripwire.ledger import open_store
from pytest_tripwire.timeline import InterruptionRecord, WriteEntry, WriteStatus

Crowd = Callable[..., Any]
KILLED = -9


def some(address: str, many: int) -> int:
    """So many processes with SQLite, half of them where each costs a process of the server."""
    return many if address.startswith("sqlite") else many // 2


def test_of_many_processes_that_take_a_run_up_one_wins(
    address: str, crowd: Crowd, record: Callable[..., InterruptionRecord]
) -> None:
    """Of fifty, by the way that an application takes: `tests/crash/test_races.py`."""
    many = some(address, 16)
    with closing(open_store(address)) as store:
        store.store_record(record())

        assert crowd("crowd", address, many, "claim") == {"0": 1, "1": many - 1}
        assert [each.became for each in store.happenings("run")] == ["interrupted", "resumed"]
        assert store.record_of("run") == record(token_version=2)


def test_of_many_processes_that_begin_one_write_one_does(address: str, crowd: Crowd) -> None:
    many = some(address, 16)
    assert crowd("crowd", address, many, "begin") == {"0": 1, "1": many - 1}

    with closing(open_store(address)) as store:
        assert len(store.of_resource("r")) == 1


def test_settlements_of_many_processes_are_all_taken(
    address: str, crowd: Crowd, entry: Callable[..., WriteEntry]
) -> None:
    with closing(open_store(address)) as store:
        store.begin(entry("1"), lambda _: None)

        many = some(address, 12)
        assert crowd("crowd", address, many, "settle") == {"0": many}
        (kept,) = store.of_run("run")
        assert kept.status is WriteStatus.CONFIRMED
        assert kept.result_id is not None


def test_a_store_is_made_once_however_many_open_it(address: str, crowd: Crowd) -> None:
    many = some(address, 16)
    assert crowd("crowd", address, many, "opened") == {"0": many}


@pytest.mark.parametrize("where", ["checking", "committing"])
def test_a_process_that_is_killed_while_it_begins_a_write_leaves_nothing(
    address: str, crowd: Crowd, where: str, entry: Callable[..., WriteEntry]
) -> None:
    assert crowd("killed", address, where) == KILLED

    with closing(open_store(address)) as store:
        assert store.of_resource("r") == ()
        assert store.begin(entry("2"), lambda known: known[0] if known else None) is None
        assert [each.key for each in store.of_resource("r")] == ["2"]


def test_what_a_fork_writes_is_kept_also_after_the_first_process_has_let_go(
    address: str, crowd: Crowd
) -> None:
    assert crowd("forked", address) == [0, ["mine", "forked"]]


def test_a_fork_amid_a_write_of_another_thread_does_no_harm(address: str, crowd: Crowd) -> None:
    refused = 3 if address.startswith("sqlite") else 0

    assert crowd("forked_amid", address) == refused


def test_a_fork_has_a_connection_of_its_own(server: Any, crowd: Crowd) -> None:
    assert crowd("backends", server.new_schema()) == 0
