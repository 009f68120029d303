"""Nothing of what a tool was given, or gave, is in a store, a log, a record or a checkpoint."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pytest_tripwire.breaker import (
    Breaker,
    BreakerRun,
    Mode,
    Outcome,
    Reason,
    RunBudget,
    Status,
    ToolCall,
    ToolSpec,
)
from pytest_tripwire.breaker.budget import Usage
from pytest_tripwire.breaker.port import Denial
from pytest_tripwire.guard import Resume
from pytest_tripwire.ledger import open_store
from pytest_tripwire.ledger.lost import adopt

from .durable_desk import Clock


def secret(where: str) -> str:
    """One that a search finds, and that says where it came from."""
    return f"sk-{where}-9f8e7d6c5b4a"


class NoSuchAccountError(Exception):
    """Nothing was done, and the text says more than it should."""


class ForbiddenError(Exception):
    """A no, by a rule whose author wrote a sentence with the case in it."""

    rule = f"no refunds to {secret('rule')} because of what was said on the phone, last week too"


SPECS = {
    "pay": ToolSpec(
        name="pay", effect="write", identity=("order",), wording=("reason",),
        definite_failures=(NoSuchAccountError,), denials=(ForbiddenError,), reconcile="find",
    ),
    "send": ToolSpec(name="send", effect="write", denials=(ForbiddenError,)),
    "ask_first": ToolSpec(name="ask_first", effect="write", requires_approval=True),
    "hand": ToolSpec(name="hand", effect="handoff"),
    "find": ToolSpec(name="find", effect="read", identity=("order",)),
    "search": ToolSpec(name="search", effect="read", result_version="etag"),
    "get": ToolSpec(name="get", effect="read", identity=("order",), result_version="version"),
}  # fmt: skip
NESTED = {"card": {"number": [secret("nested"), {"cvc": secret("deep")}]}}


class Desk:
    """Says whatever it is told to say, or fails with it."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.found: dict[str, Any] = {}

    def _does(self) -> dict[str, Any]:
        if self.error is not None:
            raise self.error
        return {"note": secret("result"), "inner": {"token": secret("inner-result")}}

    def pay(self, order: str, euros: int, reason: str = "", extra: Any = None) -> dict[str, Any]:
        del order, euros, reason, extra
        return {**self._does(), "payment_id": "P-1"}

    def send(self, to: str, text: str, details: Any = None) -> dict[str, Any]:
        del to, text, details
        return self._does()

    def ask_first(self, account: str, why: str = "") -> dict[str, Any]:
        del account, why
        return self._does()

    def hand(self, to: str, brief: str) -> str:
        del to
        return f"{brief} {secret('result')}"

    def find(self, order: str) -> dict[str, Any]:
        del order
        return self.found

    def search(self, query: str) -> dict[str, Any]:
        del query
        return {"etag": "7", "rows": [secret("row")]}

    def get(self, order: str) -> dict[str, Any]:
        del order
        return {"version": "3", "owner": secret("owner")}


def policy(call: ToolCall, spec: ToolSpec) -> Denial | None:
    """Denies with the case in its words, as policies do."""
    del spec
    if call.tool == "send" and "forbidden" in str(call.arguments.get("to")):
        return Denial(rule="R-7", message=f"{call.arguments['text']} must not be sent")
    return None


class Bench:
    """Everything that can be looked at afterwards."""

    def __init__(self, folder: Path, caplog: pytest.LogCaptureFixture) -> None:
        self.folder, self.caplog, self.desk, self.clock = folder, caplog, Desk(), Clock()
        self.seen: list[bytes] = []
        self.runs: list[BreakerRun] = []
        self.breaker = self.process("w1")

    def process(self, owner: str, **options: Any) -> Breaker:
        store = open_store(self.folder / "runs.db", owner=owner)
        breaker = Breaker(
            store=store, specs=SPECS, policy=policy, clock=self.clock, lease_s=60, **options
        )
        self.seen.append(repr(breaker).encode() + repr(store).encode())
        return breaker

    def run(self, message: str = "message-1", breaker: Breaker | None = None) -> BreakerRun:
        run = (breaker or self.breaker).run(tenant="acme", workflow="w@1", request_id=message)
        return self.armed(run)

    def armed(self, run: BreakerRun) -> BreakerRun:
        run.guard({name: getattr(self.desk, name) for name in SPECS}, SPECS)
        self.runs.append(run)
        return run

    def call(self, run: BreakerRun, tool: str, error: Exception | None = None, **given: Any) -> Any:
        self.desk.error = error
        try:
            return run.call(tool, given)
        except Exception as raised:  # noqa: BLE001 - as careless loops do
            return raised
        finally:
            self.desk.error = None
            self.look(run)

    def look(self, run: BreakerRun) -> None:
        self.seen += [run.snapshot(), repr(run).encode(), repr(run.stats()).encode()]

    def ended(self, run: BreakerRun) -> Any:
        self.look(run)
        record = run.close()
        if record is not None:
            self.seen += [msgspec.json.encode(record), repr(record).encode()]
        return record

    def leaks(self) -> set[str]:
        """Names of the places whose secrets can be found anywhere."""
        files = [each.read_bytes() for each in self.folder.iterdir()]
        assert any(len(each) > 4096 for each in files)
        logged = [each.getMessage().encode() for each in self.caplog.records]
        logged += [repr(each.__dict__).encode() for each in self.caplog.records]
        everything = b"\n".join([*files, *logged, *self.seen])
        return {
            each.split(b"-9f8e7d6c5b4a")[0].decode()
            for each in everything.split(b"sk-")[1:]
            if b"-9f8e7d6c5b4a" in each[:80]
        }


@pytest.fixture
def bench(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Bench]:
    monkeypatch.setenv("PAYMENT_API_KEY", secret("environment"))
    caplog.set_level(logging.DEBUG)
    for name in ("sqlalchemy", "sqlalchemy.engine", "pytest_tripwire"):
        caplog.set_level(logging.DEBUG, logger=name)
    made = Bench(tmp_path, caplog)
    yield made
    made.breaker.store.close()  # type: ignore[attr-defined]


def pays(bench: Bench, run: BreakerRun, error: Exception | None = None, euros: int = 1) -> Any:
    return bench.call(
        run, "pay", error, order="A-1", euros=euros, reason=secret("wording"),
        extra={secret("name"): NESTED},
    )  # fmt: skip


def sends(bench: Bench, run: BreakerRun, error: Exception | None = None, to: str = "x") -> Any:
    return bench.call(
        run, "send", error, to=f"{to} {secret('to')}", text=secret("undeclared"), details=NESTED
    )


def test_search_finds_what_is_there(bench: Bench) -> None:
    bench.breaker.store.store_record(_record(bench))
    assert bench.leaks() == {"planted"}


def _record(bench: Bench) -> Any:
    run = bench.run()
    run.interrupt(secret("planted"))
    return run.close()


def test_writes_and_what_becomes_of_them(bench: Bench) -> None:
    run = bench.run()
    pays(bench, run)
    pays(bench, run)
    sends(bench, run)
    pays(bench, run, NoSuchAccountError(secret("error")), euros=2)
    pays(bench, run, TimeoutError(secret("lost")), euros=3)
    bench.desk.found = {"payment_id": "P-2", "iban": secret("reconciled")}
    pays(bench, run, euros=3)
    sends(bench, run, TimeoutError(secret("lost-too")), to="y")
    sends(bench, run, to="y")
    bench.call(run, "hand", to=secret("colleague"), brief=secret("brief"))
    record = bench.ended(run)

    assert record is not None
    assert record.reason is Reason.UNKNOWN_SIDE_EFFECT
    assert bench.leaks() == set()


def test_denials_by_tools_and_by_policy(bench: Bench) -> None:
    run = bench.run()
    for euros in (1, 2):
        pays(bench, run, ForbiddenError(secret("denied")), euros=euros)
    sends(bench, run, ForbiddenError(secret("denied")))
    for _ in range(4):
        sends(bench, run, to="forbidden")
    record = bench.ended(run)
    stopped = bench.run("message-2")
    for _ in range(4):
        pays(bench, stopped, ForbiddenError(secret("denied")))
    told = bench.ended(stopped)

    assert record is not None
    assert record.reason is told.reason is Reason.REPEATED_DENIAL
    assert "R-7" in record.message, "ids of rules are references"
    assert bench.leaks() == set()


def test_own_loop_that_tells_more_than_a_class(bench: Bench) -> None:
    run = bench.run()
    for number in range(8):
        call = ToolCall(
            call_id=f"c{number}", tool="pay", arguments={"order": f"A-{number}", "euros": 1}
        )
        if run.decide(call).allowed:
            status = Status.DENIED if number % 2 else Status.DEFINITE
            text = f"customer {secret('own-error')} is blocked, says the desk, for ever and ever"
            run.settle(call, Outcome(status=status, error=text, rule=None))
        bench.look(run)
    bench.ended(run)

    assert bench.leaks() == set()


def test_approvals(bench: Bench) -> None:
    run = bench.run()
    given = {"account": secret("account"), "why": secret("why")}
    asked = bench.call(run, "ask_first", **given)
    bench.process("op").approve(run.run_id, asked["call_id"], operator="ada")
    bench.call(run, "ask_first", **{**given, "why": secret("other")})
    run.changed("A-1", was="3")
    bench.call(run, "ask_first", **{**given, "account": secret("second")})
    run.needs_input(field="account", why=secret("needed"), question=secret("question"))
    bench.ended(run)

    assert bench.leaks() == set()


def test_what_the_model_says_and_asks_for(bench: Bench) -> None:
    run = bench.run(breaker=bench.process("w2", budget=RunBudget(max_turns=50)))
    for _ in range(5):
        if run.before_model().allowed:
            run.after_model(Usage(), f"I shall tell {secret('text')} to everybody")
        bench.call(run, f"use_{secret('tool')}", anything=secret("anything"))
        bench.look(run)
    record = bench.ended(run)

    assert record is not None
    assert record.reason is Reason.OUTPUT_REPETITION
    assert bench.leaks() == set()


def test_reads_whose_identity_nobody_has_declared(bench: Bench) -> None:
    run = bench.run()
    bench.call(run, "get", order="A-1")
    bench.call(run, "search", query=secret("query"))
    bench.call(run, "search", query=f"all of {secret('sentence')} please")
    run.interrupt("Wait for ada.")
    record = bench.ended(run)

    assert ("A-1", "3") in {(each.resource, each.version) for each in record.versions}
    assert len(record.versions) == 3, "what was read is compared all the same"
    assert bench.leaks() == set()


def test_a_crash_an_operator_and_a_resume(bench: Bench) -> None:
    dies = bench.run()
    bench.call(dies, "get", order="A-1")
    bench.call(dies, "search", query=secret("query"))
    lost = ToolCall(
        call_id="c-1", tool="pay", arguments={"order": "A-2", "euros": 1, "extra": NESTED}
    )
    assert dies.decide(lost).allowed
    state = dies.snapshot()
    bench.clock.seconds += 61
    other = bench.process("w2")
    (record,) = adopt(other.store, bench.clock.now())  # type: ignore[arg-type]
    bench.seen += [state, msgspec.json.encode(record)]
    resumed = bench.armed(
        other.resume(
            Resume(run_id=record.run_id, token_version=1, operator="ada", read_only=True),
            authorise=lambda *_: True,
            reload=lambda resource: "3" if resource == "A-1" else None,
        )
    )
    pays(bench, resumed)
    bench.ended(resumed)

    assert resumed.mode is Mode.STOPPED
    assert bench.leaks() == set()
