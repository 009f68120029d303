"""`agent-tripwire records show`: one record wholly, and what can be done now."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from pytest_tripwire.breaker import Mode, Reason
from pytest_tripwire.ledger import MemoryLedger
from pytest_tripwire.timeline import (
    Became,
    BudgetLine,
    DenialNote,
    SafeAction,
    SeenVersion,
    StepNote,
    WriteEntry,
    WriteStatus,
)

from .records_story import FREE, LOST, Operator, entry, keep, lose_a_refund, record


@pytest.fixture
def operator() -> Operator:
    return Operator(MemoryLedger(now=lambda: 86_400.0))


WRITES = (
    entry("k-1", status=WriteStatus.CONFIRMED, result_id="R-1", seq=1),
    entry("k-2", status=WriteStatus.REJECTED, tool="mail", seq=2),
    entry("k-3", seq=3),
    entry("k-4", status=WriteStatus.IN_FLIGHT, owner="w", lease_until=1030.0, seq=4),
)
WHOLE = record(
    writes=WRITES,
    reason=Reason.DEADLINE,
    message="The time is over.",
    mode=Mode.STOPPED,
    request_id="m-4",
    parent="run-0",
    agent="payer",
    policy="p@3",
    inputs="in-7",
    continues="run-9",
    last_tool="refund",
    last_resource="order/A-1",
    business_version="7",
    elapsed_s=12.5,
    budgets=(BudgetLine(name="tool_calls", limit=10, spent=9, remaining=1),),
    versions=(SeenVersion(resource="order/A-1", version="7"),),
    denials=(
        DenialNote(
            kind="pay", resource="r", rules=("limit",), tool="pay", intents=("i",), refused=2
        ),
    ),
    steps=(
        StepNote(seq=1, at_s=0.5, what="decided", tool="refund", outcome="ALLOW"),
        StepNote(
            seq=4, at_s=12.5, what="decided", tool="mail", outcome="REFUSE", reason="deadline"
        ),
    ),
)


def told(operator: Operator, key: str) -> list[str]:
    """What the table of writes says of one of them, but for when it was sent."""
    (line,) = (each for each in operator.lines if each.endswith(f"  {key}"))
    certainty, tool, _, known_as, _ = re.split("  +", line.strip())
    return [certainty, tool, known_as]


def test_it_tells_all_that_the_record_holds(operator: Operator) -> None:
    keep(operator.ledger, WHOLE, *WRITES)

    assert operator("show", "run-1") == 0
    assert operator.lines[:32] == [
        "run run-1: open",
        "  interrupted    1970-01-02 00:00:00Z",
        "  reason         deadline (budget)",
        "  why            The time is over.",
        "  left in mode   stopped",
        "  tenant         acme",
        "  workflow       refunds@1",
        "  policy         p@3",
        "  request id     m-4",
        "  inputs         in-7",
        "  continues      run-9",
        "  works for      run-0",
        "  agent          payer",
        "  stopped at     refund",
        "  last read      order/A-1 at version 7",
        "  time used      12.5 s",
        "  evidence       4",
        "  token version  1",
        "",
        "writes",
        "  certainty          tool    sent                  known as  key",
        "  happened           refund  1970-01-01 00:00:01Z  R-1       k-1",
        "  did not happen     mail    1970-01-01 00:00:01Z  -         k-2",
        "  may have happened  refund  1970-01-01 00:00:01Z  -         k-3",
        "  is under way       refund  1970-01-01 00:00:01Z  -         k-4",
        "",
        "budgets",
        "  budget      spent  limit  left",
        "  tool_calls  9      10     1",
        "",
        "records that it has read",
        "  record     version",
    ]
    assert operator.lines[32:50] == [
        "  order/A-1  7",
        "",
        "denied",
        "  tool  by     proposed again",
        "  pay   limit  2",
        "",
        "timeline",
        "  no.  at     what     tool    outcome  reason",
        "  1    0.5s   decided  refund  ALLOW    -",
        "  4    12.5s  decided  mail    REFUSE   deadline",
        "",
        "what became of it",
        "  when                  what         by  detail",
        "  1970-01-02 00:00:00Z  interrupted  -   -",
        "",
        "safe now",
        "  look at it again:",
        "    agent-tripwire records show run-1",
    ]
    assert operator.lines[50:] == [
        "  find out whether refund happened, and say so:",
        "    agent-tripwire records resolve run-1 k-3 --as confirmed --result-id ID",
        "    agent-tripwire records resolve run-1 k-3 --as rejected",
        "  wait for refund: it is under way, and its worker answers for it for 30 s more",
        "  let it go on without writing; hand this line to your application:",
        "    agent-tripwire records resume-token run-1 --read-only",
        "  end it here; writes that may have happened stay held:",
        "    agent-tripwire records close run-1 --token-version 1",
    ]


def test_a_lost_write_of_a_real_run_is_told(operator: Operator) -> None:
    made = lose_a_refund(operator.ledger)

    assert operator("show", "run-1") == 0
    assert f"  why            {made.message}" in operator.lines
    assert told(operator, "run-1-key-1") == ["may have happened", "refund", "-"]


def test_what_is_unsettled_is_looked_up_anew(operator: Operator) -> None:
    """The record is of the moment of the interruption; writes are settled since."""
    lose_a_refund(operator.ledger)
    operator.ledger.settle("run-1-key-1", WriteStatus.CONFIRMED, result_id="R-9")

    operator("show", "run-1")
    assert told(operator, "run-1-key-1") == ["happened", "refund", "R-9"]
    assert [each[0] for each in operator.offered()] == ["show", "resume-token", "close"]


def test_a_write_past_its_lease_may_have_happened(operator: Operator) -> None:
    """In a run that was interrupted before already."""
    late = entry("k-5", status=WriteStatus.IN_FLIGHT, owner="w", lease_until=operator.now - 1)
    keep(operator.ledger, record(), late)

    operator("show", "run-1")
    assert told(operator, "k-5") == ["may have happened", "refund", "-"]
    assert ["resolve", "run-1", "k-5", "--as", "rejected"] in operator.offered()


@pytest.mark.parametrize("unsettled", [True, False])
def test_every_command_that_is_offered_does_what_it_says(*, unsettled: bool) -> None:
    """Each of them alone, on a record of its own."""
    status = WriteStatus.UNKNOWN if unsettled else WriteStatus.REJECTED

    def fresh() -> Operator:
        operator = Operator(MemoryLedger())
        actions = LOST if unsettled else FREE
        writes = (entry("k-1", status=status),)
        keep(operator.ledger, record(writes=writes, safe_actions=actions), *writes)
        assert operator("show", "run-1") == 0
        return operator

    offered = fresh().offered()
    assert [each[0] for each in offered] == (
        ["show", "resolve", "resolve", "resume-token", "close"]
        if unsettled
        else ["show", "resume-token", "close"]
    )
    for argv in offered:
        operator = fresh()
        assert operator(*argv) == 0, argv
        assert operator.err == ""


def test_what_is_over_can_only_be_looked_at(operator: Operator) -> None:
    keep(operator.ledger, record(), entry("k-1"))
    operator.ledger.end("run-1", 1, Became.CLOSED, operator="ada", detail="ticket 7")

    operator("show", "run-1")
    assert operator.lines[0] == "run run-1: closed by ada"
    assert any("closed       ada  ticket 7" in line for line in operator.lines)
    assert [each[0] for each in operator.offered()] == ["show"]


def test_it_warns_of_a_run_that_may_still_go_on(operator: Operator) -> None:
    keep(operator.ledger, record())
    operator.ledger.claim("run-1", 1, operator="bob")

    operator("show", "run-1")
    assert operator.lines[0] == "run run-1: taken up by bob"
    assert operator.lines[1].startswith("  it was taken up by bob at 1970-01-02 00:00:00Z and is ")


# -- a run that is held by the write of another run


@pytest.fixture
def held(operator: Operator) -> Operator:
    """`run-1` has written nothing, and is held by a write of another run."""
    keep(operator.ledger, record(held=("r-k-2",)))
    keep(operator.ledger, record("run-2", writes=(entry("k-2", "run-2"),)), entry("k-2", "run-2"))
    return operator


def test_the_write_that_holds_it_is_named(held: Operator) -> None:
    held("show", "run-1")
    assert ["show", "run-2"] in held.offered()
    assert ["resume-token", "run-1"] not in held.offered()

    held.ledger.resolve_write("k-2", WriteStatus.REJECTED, operator="ada")
    held("show", "run-1")
    assert ["resume-token", "run-1"] in held.offered()


def test_a_write_of_something_else_holds_nothing(operator: Operator) -> None:
    keep(operator.ledger, record(held=("r-k-3",)))
    keep(operator.ledger, record("run-2", writes=(entry("k-2", "run-2"),)), entry("k-2", "run-2"))

    operator("show", "run-1")
    assert ["resume-token", "run-1"] in operator.offered()


@pytest.mark.parametrize("own", [(), (entry("k-1"),)], ids=["free", "held by its own"])
def test_a_run_that_others_do_not_hold_waits_for_none_of_them(
    operator: Operator, own: tuple[WriteEntry, ...]
) -> None:
    keep(operator.ledger, record(writes=own, safe_actions=LOST if own else FREE), *own)
    keep(operator.ledger, record("run-2", writes=(entry("k-2", "run-2"),)), entry("k-2", "run-2"))
    for each in own:
        operator.ledger.resolve_write(each.key, WriteStatus.REJECTED, operator="ada")

    operator("show", "run-1")
    assert ["resume-token", "run-1"] in operator.offered()
    assert "run-2" not in operator.out


# -- which run is meant


def test_the_beginning_of_an_id_will_do(operator: Operator) -> None:
    for name in ("abc-1", "abd-2", "abc"):
        keep(operator.ledger, record(name))

    assert operator("show", "abd") == 0
    assert operator.lines[0] == "run abd-2: open"
    assert operator("show", "abc") == 0
    assert operator.lines[0] == "run abc: open"


def test_an_ambiguous_one_names_the_candidates(operator: Operator) -> None:
    for name in ("abc-1", "abc-2", "x"):
        keep(operator.ledger, record(name))

    assert operator("show", "abc") == 1
    assert operator.out == ""
    assert operator.err.splitlines()[0] == (
        "agent-tripwire: 'abc' may mean 2 runs; say more of its id:"
    )
    assert {line.split()[1] for line in operator.err.splitlines()[1:]} == {"abc-1", "abc-2"}


@pytest.mark.parametrize("name", ["nope", "", "run-1x"])
def test_an_unknown_one_names_what_is_open(operator: Operator, name: str) -> None:
    keep(operator.ledger, record())
    keep(operator.ledger, record("over"))
    operator.ledger.end("over", 1, Became.CLOSED, operator="ada")

    assert operator("show", name) == 1
    assert "no interrupted run begins with" in operator.err
    assert [line.split()[1] for line in operator.err.splitlines()[1:]] == ["run-1"]


def test_many_candidates_are_counted(operator: Operator) -> None:
    for number in range(25):
        keep(operator.ledger, record(f"run-{number}"))

    assert operator("show", "run-") == 1
    assert operator.err.splitlines()[-1] == "agent-tripwire: and 15 more"


# -- JSON


def test_json_is_the_record_and_what_became_of_it(operator: Operator) -> None:
    keep(operator.ledger, WHOLE, *WRITES)
    operator.ledger.resolve_write("k-3", WriteStatus.CONFIRMED, operator="ada", result_id="R-3")

    assert operator("show", "run-1", "--json") == 0
    made: dict[str, Any] = json.loads(operator.out)
    assert [each["status"] for each in made["record"]["writes"]] == [
        "confirmed", "rejected", "confirmed", "in_flight",
    ]  # fmt: skip
    assert [(each["became"], each["operator"]) for each in made["happenings"]] == [
        ("interrupted", ""), ("resolved", "ada"),
    ]  # fmt: skip
    assert SafeAction.RESUME not in made["record"]["safe_actions"]
