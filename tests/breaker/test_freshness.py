"""What somebody else has changed since the run looked at it is not written on before it is read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_tripwire.breaker.freshness import Freshness, mentioned

from .driver import Decision, Mode, Reason, ToolSpec, Witness, bare, read, write

GET = read("get", identity=("id",), result_version="rev")
SET = write("set", identity=("id",))
SPECS = pytest.mark.parametrize(
    "specs", [(GET, SET), (bare(GET), bare(SET))], ids=["declared", "undeclared"]
)


def seen(driver: Witness, record: str, rev: Any = 7) -> None:
    """The run has read a record."""
    assert driver.gives({"rev": rev, "text": f"{record} at {rev}"}, "get", id=record)


def is_stale(driver: Witness, **arguments: Any) -> bool:
    """Whether a write is refused as it rests on what has changed."""
    allowed = driver.gives("ok", "set", **arguments)
    if not allowed:
        assert driver.last.reason is Reason.STALE_RESUME
        assert driver.run.mode is Mode.OPEN, "this call only"
    return not allowed


# -- what has changed


@SPECS
def test_write_on_what_has_changed_since_is_not_sent(specs: tuple[ToolSpec, ...]) -> None:
    driver = Witness(*specs)
    seen(driver, "O-1")
    driver.outside.changed("O-1")

    assert is_stale(driver, id="O-1", value=3)
    assert driver.last.decision is Decision.REFUSE
    assert "O-1 was changed by somebody else" in driver.last.message


@SPECS
def test_it_stays_so_until_it_is_read(specs: tuple[ToolSpec, ...]) -> None:
    driver = Witness(*specs)
    seen(driver, "O-1")
    driver.outside.changed("O-1")

    assert [is_stale(driver, id="O-1", value=value) for value in range(3)] == [True] * 3
    seen(driver, "O-1", rev=8)
    assert not is_stale(driver, id="O-1", value=3)


@SPECS
def test_each_change_has_to_be_seen(specs: tuple[ToolSpec, ...]) -> None:
    driver = Witness(*specs)
    for rev in range(5):
        seen(driver, "O-1", rev=rev)
        driver.outside.changed("O-1")

        assert is_stale(driver, id="O-1", value=rev)


def test_version_that_is_superseded_is_written_on_no_more() -> None:
    driver = Witness(GET, SET)
    seen(driver, "O-1", rev="rev-0007")
    driver.outside.changed("somewhere", was="rev-0007")

    assert is_stale(driver, id="O-9", value=3, if_match="rev-0007")


def test_name_inside_a_longer_text_counts() -> None:
    driver = Witness(read("get"), write("set"))
    driver.gives("text", "get", of="/data/report.md")
    driver.outside.changed("/data/report.md")

    assert is_stale(driver, command="sed -i s/a/b/ /data/report.md")


def test_what_needs_a_yes_is_put_up_again() -> None:
    driver = Witness(GET, write("set", identity=("id",), requires_approval=True))
    seen(driver, "O-1")
    driver.outside.changed("O-1")

    assert driver.propose("set", id="O-1", value=3)[1].decision is Decision.REQUIRE_APPROVAL
    assert driver.last.reason is Reason.STALE_RESUME


# -- good work that looks like it


@SPECS
def test_change_of_what_was_not_looked_at_concerns_nobody(specs: tuple[ToolSpec, ...]) -> None:
    driver = Witness(*specs)
    seen(driver, "O-1")
    driver.outside.changed("O-2")

    assert not is_stale(driver, id="O-2", value=3)


@SPECS
def test_write_on_something_else_goes_through(specs: tuple[ToolSpec, ...]) -> None:
    driver = Witness(*specs)
    seen(driver, "O-1")
    seen(driver, "O-2")
    driver.outside.changed("O-1")

    assert not is_stale(driver, id="O-2", value=3)
    assert is_stale(driver, id="O-1", value=3)


@SPECS
def test_own_writes_make_nothing_stale(specs: tuple[ToolSpec, ...]) -> None:
    driver = Witness(*specs)
    seen(driver, "O-1")

    assert not any(is_stale(driver, id="O-1", value=value) for value in range(9))


@SPECS
def test_reads_are_never_stale(specs: tuple[ToolSpec, ...]) -> None:
    driver = Witness(*specs)
    for rev in range(9):
        driver.outside.changed("O-1")
        seen(driver, "O-1", rev=rev)

    assert not is_stale(driver, id="O-1", value=3)


@SPECS
def test_change_is_news_so_reading_again_is_no_loop(specs: tuple[ToolSpec, ...]) -> None:
    driver = Witness(*specs)
    for _ in range(12):
        for _ in range(2):
            seen(driver, "O-1")
        driver.outside.changed("O-1")

    assert driver.is_open


def test_number_that_equals_a_version_is_no_reference() -> None:
    driver = Witness(GET, SET)
    seen(driver, "O-1", rev="rev-0007")
    driver.outside.changed("somewhere", was="rev-0007")

    assert not is_stale(driver, id="O-9", value=7)


def test_amount_that_equals_a_superseded_version_is_no_reference() -> None:
    driver = Witness(GET, SET)
    seen(driver, "O-1")
    driver.outside.changed("somewhere", was="7")

    assert not is_stale(driver, id="O-9", value=7)
    assert not is_stale(driver, id="O-8", value="7")


# -- in general


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["look", "change", "write"]), st.sampled_from(["O-1", "O-2", "O-3"])
        ),
        max_size=40,
    )
)
def test_exactly_what_changed_after_the_last_look_is_stale(steps: list[tuple[str, str]]) -> None:
    fresh = Freshness()
    looked: set[str] = set()
    changed: set[str] = set()

    for what, record in steps:
        if what == "look":
            fresh.look({"id": record}, "")
            looked.add(record)
            changed.discard(record)
        elif what == "change":
            fresh.changed(record)
            changed |= {record} & looked
        stale = fresh.stale({"id": record, "value": "x"})
        assert stale == (record if record in changed else "")


def test_memory_is_bounded() -> None:
    fresh = Freshness()
    for number in range(1_000):
        fresh.look({"id": f"O-{number}"}, "")
        fresh.changed(f"O-{number}")

    assert fresh.stale({"id": "O-0"}) == ""
    assert fresh.stale({"id": "O-999"}) == "O-999"


@given(
    st.dictionaries(
        st.text(max_size=5), st.text() | st.integers() | st.none() | st.lists(st.text())
    )
)
def test_no_argument_is_too_strange(arguments: dict[str, Any]) -> None:
    assert all(isinstance(each, str) and len(each) <= 4_096 for each in mentioned(arguments))
