"""`agent-tripwire records list` and `stats`: what there is."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from pytest_tripwire.breaker import Reason
from pytest_tripwire.console.records.listing import short_ids
from pytest_tripwire.ledger import MemoryLedger
from pytest_tripwire.timeline import Became, SafeAction, WriteStatus

from .records_story import FREE, Operator, entry, keep, lose_a_refund, record


@pytest.fixture
def operator() -> Operator:
    return Operator(MemoryLedger(now=lambda: 86_400.0))


def runs(operator: Operator) -> list[str]:
    return [line.split()[0] for line in operator.lines[1:]]


def test_a_run_is_one_line_that_tells_what_is_at_stake(operator: Operator) -> None:
    lose_a_refund(operator.ledger)

    assert operator("list") == 0
    assert [re.split("  +", line) for line in operator.lines] == [
        ["run", "interrupted", "workflow", "tenant", "reason", "mode", "unsettled", "state"],
        ["run-1", "1970-01-02 00:00:00Z", "refunds@1", "acme", "unknown_side_effect", "read_only",
         "1 of 1", "open"],
    ]  # fmt: skip
    starts = [operator.lines[0].index(name) for name in ("interrupted", "mode", "state")]
    assert [operator.lines[1][start - 2 : start] for start in starts] == ["  "] * 3


def test_those_that_are_open_are_shown_and_the_others_on_demand(operator: Operator) -> None:
    for number, name in enumerate(("old", "done", "new")):
        keep(operator.ledger, record(name, at=float(number)))
    operator.ledger.end("done", 1, Became.CLOSED, operator="ada")

    operator("list")
    assert runs(operator) == ["new", "old"]
    operator("list", "--open")
    assert runs(operator) == ["new", "old"]
    operator("list", "--all")
    assert runs(operator) == ["new", "done", "old"]
    assert "closed by ada" in operator.lines[2]


@pytest.mark.parametrize(
    ("option", "value", "other"),
    [
        ("tenant", "acme", "globex"),
        ("workflow", "refunds@1", "refunds@2"),
        ("reason", "unknown_side_effect", "deadline"),
    ],
)
def test_filters_leave_out_what_is_not_meant(
    operator: Operator, option: str, value: str, other: str
) -> None:
    keep(operator.ledger, record("this"))
    changed: Any = Reason(other) if option == "reason" else other
    keep(operator.ledger, record("that", **{option: changed}))

    operator("list", f"--{option}", value)
    assert runs(operator) == ["this"]
    operator("list", f"--{option}", other)
    assert runs(operator) == ["that"]


def test_what_is_not_shown_is_told(operator: Operator) -> None:
    for number in range(3):
        keep(operator.ledger, record(f"run-{number}", at=float(number)))

    operator("list", "--most", "2")
    assert runs(operator) == ["run-2", "run-1"]
    assert (
        operator.err == "agent-tripwire: there are more than 2; the latest are shown, see --most\n"
    )
    operator("list", "--most", "3")
    assert len(runs(operator)) == 3
    assert operator.err == ""


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        ((), "no open interruption\n"),
        (("--all",), "no interruption\n"),
        (("--tenant", "x"), "no open interruption of this kind\n"),
    ],
)
def test_nothing_is_said_to_be_nothing(
    operator: Operator, argv: tuple[str, ...], told: str
) -> None:
    assert operator("list", *argv) == 0
    assert operator.out == told
    assert operator("list", "--json", *argv) == 0
    assert operator.out == ""


def test_a_run_that_died_is_taken_in_before_anything_is_shown(operator: Operator) -> None:
    """Whichever command it is."""
    lost = {"status": WriteStatus.IN_FLIGHT, "owner": "w", "lease_until": operator.now - 1}
    for number, argv in enumerate((("list",), ("show", "gone-1"), ("stats",))):
        name = f"gone-{number}"
        operator.ledger.begin(
            entry(f"k-{number}", name, **lost), lambda _: None, ahead=record(name, message="")
        )
        assert operator(*argv) == 0
        kept = operator.ledger.record_of(name)
        assert kept is not None
        assert [each.status for each in kept.writes] == [WriteStatus.UNKNOWN]
    assert operator.out.splitlines()[-1] == "3 in all"


def test_json_is_one_record_a_line_as_it_is_known_now(operator: Operator) -> None:
    keep(operator.ledger, record("b", at=2.0, writes=(entry("k", "b"),)), entry("k", "b"))
    keep(operator.ledger, record("a"))
    operator.ledger.resolve_write("k", WriteStatus.REJECTED, operator="ada")

    assert operator("list", "--json") == 0
    b, a = map(json.loads, operator.lines)
    assert (b["run_id"], a["run_id"]) == ("b", "a")
    assert [each["status"] for each in b["writes"]] == ["rejected"]
    assert b["safe_actions"] == list(FREE)


def test_the_state_tells_who_has_done_what(operator: Operator) -> None:
    ledger = operator.ledger
    for name in ("a-resolved", "b-resumed", "c-only"):
        keep(ledger, record(name), entry(f"k-{name}", name))
    ledger.resolve_write("k-a-resolved", WriteStatus.REJECTED, operator="ada")
    ledger.claim("b-resumed", 1, operator="bob")
    ledger.claim("c-only", 1, operator="cy", action=SafeAction.RESUME_READ_ONLY)

    operator("list")
    states = {line.split()[0]: re.split("  +", line)[-1] for line in operator.lines[1:]}
    assert states == {
        "a-resolved": "open, a write settled by ada",
        "b-resumed": "taken up by bob",
        "c-only": "taken up read-only by cy",
    }


def test_an_id_is_cut_no_further_than_it_tells_a_run_from_the_others() -> None:
    one, two, parent = "0" * 32, "0" * 20 + "1" * 12, "f" * 32
    child = f"{parent}/1"

    assert short_ids([one, two, parent, child, "run-7"]) == {
        one: "0" * 21, two: "0" * 20 + "1", parent: parent, child: f"{parent}/", "run-7": "run-7",
    }  # fmt: skip
    assert short_ids([one]) == {one: "0" * 12}


# -- stats


def test_they_are_counted_by_what_became_of_them(operator: Operator) -> None:
    for number in range(3):
        keep(operator.ledger, record(f"run-{number}", last_tool="refund"))
    keep(operator.ledger, record("late", reason=Reason.DEADLINE, workflow="", last_tool=""))
    operator.ledger.end("run-0", 1, Became.CLOSED, operator="ada")

    assert operator("stats") == 0
    assert [line.split() for line in operator.lines] == [
        ["reason", "workflow", "tool", "became", "number"],
        ["unknown_side_effect", "refunds@1", "refund", "open", "2"],
        ["deadline", "-", "-", "open", "1"],
        ["unknown_side_effect", "refunds@1", "refund", "closed", "1"],
        ["4", "in", "all"],
    ]
    assert operator("stats", "--json") == 0
    assert json.loads(operator.lines[0]) == {
        "reason": "unknown_side_effect", "workflow": "refunds@1", "tool": "refund", "became": "",
        "number": 2,
    }  # fmt: skip


def test_no_interruption_is_no_table(operator: Operator) -> None:
    assert operator("stats") == 0
    assert operator.out == "no interruption\n"
