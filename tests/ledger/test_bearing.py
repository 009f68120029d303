"""What decides about a write is found without looking at all that was ever written there."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from pytest_tripwire.breaker.bound_key import done_before
from pytest_tripwire.breaker.checks.write_certainty import in_the_way
from pytest_tripwire.breaker.epoch import epoch_of, work_of
from pytest_tripwire.ledger import Store
from pytest_tripwire.ledger.changes import bearing
from pytest_tripwire.timeline import WriteEntry, WriteStatus

WORKS = ("ours", "theirs", "others")
EPOCHS = st.builds(epoch_of, st.sampled_from(WORKS), st.integers(0, 2))
WRITTEN = st.lists(
    st.tuples(EPOCHS, st.integers(0, 1), st.sampled_from("ij"), st.sampled_from(WriteStatus)),
    max_size=12,
)


def free(_known: object) -> None:
    return None


def made(key: str, epoch: str, run_id: str, intent: str = "i", **more: object) -> WriteEntry:
    about = {"tool": "pay", "kind": "pay", "resource": "r", "dispatched_at": 1.0, **more}
    return WriteEntry(key=key, epoch=epoch, run_id=run_id, intent=intent, **about)  # type: ignore[arg-type]


@given(written=WRITTEN, epoch=EPOCHS, run=st.integers(0, 1), intent=st.sampled_from("ij"))
def test_it_decides_as_all_of_them_would(
    written: list[tuple[str, int, str, WriteStatus]], epoch: str, run: int, intent: str
) -> None:
    """Every run is one of one piece of work."""
    entries = [
        made(str(number), each, f"{work_of(each)}-{which}", what, status=status)
        for number, (each, which, what, status) in enumerate(written)
    ]
    some = bearing(entries, work_of(epoch))

    def decided(known: Sequence[WriteEntry]) -> tuple[WriteEntry | None, int]:
        run_id = f"{work_of(epoch)}-{run}"
        entry = in_the_way(known, intent=intent, epoch=epoch, run_id=run_id)
        return entry, done_before(known, intent=intent, epoch=epoch)

    assert decided(some) == decided(entries)


def test_what_others_have_finished_long_ago_is_not_looked_at(store: Store) -> None:
    for number in range(20):
        store.begin(made(f"old-{number}", f"m-{number}", f"run-{number}"), free)
        if number != 7:
            store.settle(f"old-{number}", WriteStatus.CONFIRMED)
    shown: list[list[str]] = []

    def conflict(known: Sequence[WriteEntry]) -> None:
        shown.append([each.key for each in known])

    store.begin(made("ours", "m-new", "run-new"), conflict)
    store.settle("ours", WriteStatus.CONFIRMED)
    store.begin(made("since", "m-other", "run-other"), conflict)
    store.settle("since", WriteStatus.CONFIRMED)
    store.begin(made("again", epoch_of("m-new", 1), "run-new"), conflict)

    assert shown == [["old-7"], ["old-7"], ["old-7", "ours", "since"]]
    assert [each.key for each in store.bearing("r", "m-new")] == ["old-7", "ours", "since", "again"]
    assert len(store.of_resource("r")) == 23
