"""Records and their versions."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from pytest_tripwire.world import Records, VirtualClock


def test_a_new_record_has_version_one() -> None:
    records = Records()

    record = records.put("order 1", paid=True)

    assert (record.name, record.version, record.fields) == ("order 1", 1, {"paid": True})
    assert records.get("order 1") == record


def test_a_change_keeps_the_other_fields_and_raises_the_version() -> None:
    records = Records()
    before = records.put("order 1", paid=True, note="a")

    after = records.put("order 1", note="b")

    assert (after.version, after.fields) == (2, {"paid": True, "note": "b"})
    assert before.fields == {"paid": True, "note": "a"}


def test_writing_a_value_back_is_a_new_version() -> None:
    records = Records()
    for note in ("a", "b", "a"):
        record = records.put("order 1", note=note)

    assert record.version == 3


def test_what_is_not_there_is_none() -> None:
    assert Records().get("order 1") is None


def test_named_lists_by_prefix_in_order_of_creation() -> None:
    records = Records()
    for name in ("order 2", "ticket 1", "order 1"):
        records.put(name)
    records.put("order 2", changed=True)

    assert [each.name for each in records.named("order ")] == ["order 2", "order 1"]


def test_no_version_is_lost_between_threads() -> None:
    records = Records()
    with ThreadPoolExecutor(8) as pool:
        versions = list(pool.map(lambda n: records.put("order 1", n=n).version, range(400)))

    assert sorted(versions) == list(range(1, 401))


def test_the_clock_moves_only_when_something_waits() -> None:
    clock = VirtualClock()
    assert clock.now() == 0
    clock.sleep(30)
    assert clock.now() == 30
    asyncio.run(clock.asleep(5))
    assert clock.now() == 35
    with pytest.raises(ValueError, match=r"sleep\(-1\): seconds are 0 or more"):
        clock.sleep(-1)
