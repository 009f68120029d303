"""`agent-tripwire records resolve`, `close` and `resume-token`: what an operator decides."""

from __future__ import annotations

import contextlib
import getpass
from typing import Any

import pytest

from pytest_tripwire.breaker import Breaker, Interrupted, Resume
from pytest_tripwire.ledger import MemoryLedger, StoreUnreachableError
from pytest_tripwire.replay.options import UsageError
from pytest_tripwire.timeline import Became, SafeAction, WriteStatus

from .records_story import FREE, REFUND, Operator, entry, keep, lose_a_refund, record


@pytest.fixture
def ledger() -> MemoryLedger:
    return MemoryLedger(now=lambda: 86_400.0)


@pytest.fixture
def operator(ledger: MemoryLedger) -> Operator:
    return Operator(ledger)


def became(ledger: MemoryLedger, run_id: str = "run-1") -> list[tuple[str, str, str]]:
    return [(each.became.value, each.operator, each.detail) for each in ledger.happenings(run_id)]


def refund_again(ledger: MemoryLedger, sent: list[str]) -> Any:
    """What the message that lost its refund gets when it is delivered again."""
    answer: Any = None

    def refund(order: str, note: str) -> dict[str, str]:
        sent.append(order)
        return {"refund_id": "R-1"}

    with (
        contextlib.suppress(Interrupted),
        Breaker(store=ledger, specs={"refund": REFUND}).run(
            tenant="acme", workflow="refunds@1", request_id="m-4"
        ) as run,
    ):
        (guarded,) = run.guard([refund])
        answer = guarded(order="A-1", note="now")
    return answer


# -- resolve


def test_what_was_found_out_is_kept_with_who_says_so(
    ledger: MemoryLedger, operator: Operator
) -> None:
    lose_a_refund(ledger)

    argv = ("resolve", "run-1", "--as", "confirmed", "--result-id", "R-9", "--operator", "ada")
    assert operator(*argv) == 0

    kept = ledger.entry("run-1-key-1")
    assert kept is not None
    assert (kept.status, kept.result_id, kept.reconciled) == (WriteStatus.CONFIRMED, "R-9", True)
    assert became(ledger)[-1] == ("resolved", "ada", "run-1-key-1")
    assert operator.lines == [
        "refund run-1-key-1: happened (confirmed as R-9), says ada",
        "",
        "safe now",
        "  look at it again:",
        "    agent-tripwire records show run-1",
        "  let it go on; hand this line to your application:",
        "    agent-tripwire records resume-token run-1",
        "  end it here; writes that may have happened stay held:",
        "    agent-tripwire records close run-1 --token-version 1",
    ]


def test_a_write_that_did_not_happen_may_be_sent_again(
    ledger: MemoryLedger, operator: Operator
) -> None:
    lose_a_refund(ledger)
    sent: list[str] = []

    assert operator("resolve", "run-1", "run-1-key", "--as", "rejected") == 0
    assert refund_again(ledger, sent) == {"refund_id": "R-1"}
    assert refund_again(ledger, sent)["reason"] == "duplicate_write"
    assert sent == ["A-1"]


def test_the_operator_is_the_user_of_the_machine(
    ledger: MemoryLedger, operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(ledger, record(), entry("k-1"))
    monkeypatch.setattr(getpass, "getuser", lambda: "grace")

    operator("resolve", "run-1", "--as", "rejected")
    assert became(ledger)[-1] == ("resolved", "grace", "k-1")


@pytest.mark.parametrize("name", ["", "  "])
def test_somebody_has_to_say_so(
    ledger: MemoryLedger, operator: Operator, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    keep(ledger, record(), entry("k-1"))

    def nobody() -> str:
        raise KeyError("uid not found")

    monkeypatch.setattr(getpass, "getuser", nobody)
    for argv in (("resolve", "run-1", "--as", "rejected"), ("close", "run-1")):
        for more in ((), ("--operator", name)):
            with pytest.raises(UsageError, match="say who you are: --operator NAME"):
                operator(*argv, *more)
    assert len(became(ledger)) == 1


@pytest.mark.parametrize("status", [WriteStatus.CONFIRMED, WriteStatus.REJECTED])
def test_what_is_certain_stays_so(
    ledger: MemoryLedger, operator: Operator, status: WriteStatus
) -> None:
    keep(ledger, record(), entry("k-1", status=status, result_id="R-1"))

    for answer in ("confirmed", "rejected"):
        assert operator("resolve", "run-1", "k-1", "--as", answer) == 1
        assert "refund k-1 is certain already, and stays so: it" in operator.err
        assert f"({status} as R-1)" in operator.err
    kept = ledger.entry("k-1")
    assert kept is not None
    assert (kept.status, kept.result_id) == (status, "R-1")


def test_whoever_comes_second_is_told_what_the_first_has_said(operator: Operator) -> None:
    """Between the look at the write and the answer somebody else has settled it."""

    class Overtaken(MemoryLedger):
        def resolve_write(self, key: str, status: WriteStatus, **_: Any) -> None:
            self.settle(key, WriteStatus.CONFIRMED, result_id="R-1")

    operator.ledger = Overtaken()
    keep(operator.ledger, record(), entry("k-1"))

    assert operator("resolve", "run-1", "--as", "rejected") == 1
    assert "it happened (confirmed as R-1)" in operator.err


def test_what_was_done_is_told_though_the_store_fails_after_it(operator: Operator) -> None:
    class Failing(MemoryLedger):
        def resolve_write(self, key: str, status: WriteStatus, **more: Any) -> Any:
            self.record_of = self._gone  # type: ignore[method-assign]
            return super().resolve_write(key, status, **more)

        def _gone(self, run_id: str) -> Any:
            raise StoreUnreachableError("the connection was lost")

    operator.ledger = Failing()
    keep(operator.ledger, record(), entry("k-1"))

    assert operator("resolve", "run-1", "--as", "rejected", "--operator", "ada") == 1
    assert operator.lines == ["refund k-1: did not happen (rejected), says ada"]
    assert operator.err == "agent-tripwire: the connection was lost\n"


@pytest.mark.parametrize(("until", "told"), [(1030.0, "for 30 s more"), (None, "answers for it")])
def test_what_may_still_happen_is_not_settled(
    ledger: MemoryLedger, operator: Operator, until: float | None, told: str
) -> None:
    keep(
        ledger,
        record(),
        entry("k-1", status=WriteStatus.IN_FLIGHT, owner="w", lease_until=until),
    )

    for answer in ("confirmed", "rejected"):
        assert operator("resolve", "run-1", "--as", answer) == 1
        assert told in operator.err
    kept = ledger.entry("k-1")
    assert kept is not None
    assert kept.status is WriteStatus.IN_FLIGHT


def test_past_its_lease_it_is_settled(ledger: MemoryLedger, operator: Operator) -> None:
    lost = entry("k-1", status=WriteStatus.IN_FLIGHT, owner="w", lease_until=operator.now)
    keep(ledger, record(), lost)

    assert operator("resolve", "run-1", "--as", "rejected") == 0


def test_several_unsettled_writes_have_to_be_told_apart(
    ledger: MemoryLedger, operator: Operator
) -> None:
    keep(ledger, record(), entry("ka-1"), entry("ka-2"), entry("kb-1"))

    assert operator("resolve", "run-1", "--as", "rejected") == 1
    assert operator.err.splitlines()[0] == ("agent-tripwire: say which write is meant, by its key:")
    assert len(operator.err.splitlines()) == 4
    assert operator("resolve", "run-1", "ka", "--as", "rejected") == 1
    assert "may mean 2 writes" in operator.err
    assert operator("resolve", "run-1", "nope", "--as", "rejected") == 1
    assert "no write of this run begins with 'nope'; it has:" in operator.err
    assert {each.status for each in ledger.of_run("run-1")} == {WriteStatus.UNKNOWN}
    assert operator("resolve", "run-1", "kb", "--as", "rejected") == 0


def test_without_an_unsettled_write_there_is_nothing_to_say(
    ledger: MemoryLedger, operator: Operator
) -> None:
    keep(ledger, record(), entry("k-1", status=WriteStatus.REJECTED))
    keep(ledger, record("bare"))

    assert operator("resolve", "run-1", "--as", "confirmed") == 1
    assert "no write of this run is unsettled:" in operator.err
    assert "did not happen (rejected)" in operator.err
    assert operator("resolve", "bare", "--as", "confirmed") == 1
    assert "as it has none" in operator.err


def test_the_write_of_a_run_that_is_over_can_be_settled(
    ledger: MemoryLedger, operator: Operator
) -> None:
    keep(ledger, record(), entry("k-1"))
    operator("close", "run-1")

    assert operator("resolve", "run-1", "--as", "rejected") == 0
    assert [each[0] for each in operator.offered()] == ["show"]


def test_what_did_not_happen_has_no_id(ledger: MemoryLedger, operator: Operator) -> None:
    keep(ledger, record(), entry("k-1"))

    with pytest.raises(UsageError, match="--result-id is for --as confirmed"):
        operator("resolve", "run-1", "--as", "rejected", "--result-id", "R-1")


# -- close


def test_closing_tells_what_stays_held(ledger: MemoryLedger, operator: Operator) -> None:
    keep(ledger, record(), entry("k-1"), entry("k-2", status=WriteStatus.REJECTED))

    assert operator("close", "run-1", "--operator", "ada") == 0
    kept = ledger.record_of("run-1")
    assert kept is not None
    assert (kept.ended_as, kept.token_version) == ("closed", 2)
    assert became(ledger)[-1] == ("closed", "ada", "")
    assert operator.lines[0] == "run run-1: closed by ada"
    assert "  refund k-1 may have happened (unknown)" in operator.lines
    assert "k-2" not in operator.out
    assert [each[:3] for each in operator.offered()] == [["resolve", "run-1", "k-1"]] * 2


def test_a_held_write_stays_held_in_the_next_run(ledger: MemoryLedger, operator: Operator) -> None:
    lose_a_refund(ledger)
    operator("close", "run-1")

    assert refund_again(ledger, [])["reason"] == "unknown_side_effect"


def test_without_a_lost_write_nothing_is_said_to_be_held(
    ledger: MemoryLedger, operator: Operator
) -> None:
    keep(ledger, record(), entry("k-1", status=WriteStatus.CONFIRMED))

    assert operator("close", "run-1", "--operator", "ada") == 0
    assert operator.out == "run run-1: closed by ada\n"


def test_it_is_closed_once(ledger: MemoryLedger, operator: Operator) -> None:
    keep(ledger, record())

    assert operator("close", "run-1", "--operator", "ada") == 0
    assert operator("close", "run-1", "--operator", "bob") == 1
    assert operator.err == "agent-tripwire: run run-1 is over: closed by ada\n"
    assert len(became(ledger)) == 2


def test_a_record_that_was_taken_up_since_is_not_closed(
    ledger: MemoryLedger, operator: Operator
) -> None:
    keep(ledger, record())
    ledger.claim("run-1", 1, operator="bob")

    assert operator("close", "run-1", "--token-version", "1") == 1
    assert "has token version 2 by now, and not 1: taken up by bob" in operator.err
    assert operator("close", "run-1", "--token-version", "2") == 0


# -- resume-token


def test_the_line_takes_the_run_up(ledger: MemoryLedger, operator: Operator) -> None:
    keep(ledger, record(safe_actions=FREE))

    assert operator("resume-token", "run-1") == 0
    assert operator.err == ""
    assert len(operator.lines) == 1
    wanted = Resume.from_token(operator.out, operator="ada")
    with Breaker(store=ledger).resume(
        wanted, authorise=lambda *_: True, reload=lambda _: None
    ) as run:
        assert run.mode == "open"
    kept = ledger.record_of("run-1")
    assert kept is not None
    assert kept.ended_as == "resumed"


def test_before_a_write_is_settled_it_is_only_for_reading(
    ledger: MemoryLedger, operator: Operator
) -> None:
    lose_a_refund(ledger)

    assert operator("resume-token", "run-1") == 1
    assert operator.out == ""
    assert "it is not safe to let this run write yet" in operator.err
    first, second, third = operator.offered()
    assert first[:3] == second[:3] == ["resolve", "run-1", "run-1-key-1"]
    assert third == ["resume-token", "run-1", "--read-only"]

    assert operator(*third) == 0
    wanted = Resume.from_token(operator.out, operator="ada")
    assert (wanted.run_id, wanted.token_version) == ("run-1", 1)
    assert wanted.action is SafeAction.RESUME_READ_ONLY

    assert operator(*second) == 0
    assert operator("resume-token", "run-1") == 0
    assert Resume.from_token(operator.out, operator="ada").action is SafeAction.RESUME


def test_it_is_of_the_version_that_the_record_has_now(
    ledger: MemoryLedger, operator: Operator
) -> None:
    keep(ledger, record(safe_actions=FREE))
    ledger.claim("run-1", 1, operator="bob")

    assert operator("resume-token", "run-1") == 0
    assert Resume.from_token(operator.out, operator="ada").token_version == 2
    assert "it was taken up by bob" in operator.err


def test_a_run_that_is_over_is_not_handed_over(ledger: MemoryLedger, operator: Operator) -> None:
    keep(ledger, record(safe_actions=FREE))
    ledger.end("run-1", 1, Became.CONTINUED, operator="ada", detail="run-2")

    for more in ((), ("--read-only",)):
        assert operator("resume-token", "run-1", *more) == 1
        assert operator.err == "agent-tripwire: run run-1 is over: continued by ada\n"
