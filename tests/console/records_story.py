"""What the tests of `agent-tripwire records` share: interrupted runs, and the command over them."""

from __future__ import annotations

import argparse
import contextlib
import io
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from typing import Any

from pytest_tripwire.breaker import Breaker, Interrupted, InterruptionRecord, Mode, Reason
from pytest_tripwire.console.records import options
from pytest_tripwire.console.records.command import execute
from pytest_tripwire.ledger import MemoryLedger
from pytest_tripwire.replay.command import Streams
from pytest_tripwire.timeline import SafeAction, ToolSpec, WriteEntry, WriteStatus

NOW = 1000.0
REFUND = ToolSpec(name="refund", effect="write", identity=("order",), wording=("note",))
LOST = (
    SafeAction.INSPECT, SafeAction.RECONCILE, SafeAction.RESUME_READ_ONLY, SafeAction.CLOSE,
)  # fmt: skip
FREE = (SafeAction.INSPECT, SafeAction.RESUME, SafeAction.CLOSE)


def entry(key: str, run_id: str = "run-1", **over: Any) -> WriteEntry:
    given: dict[str, Any] = {
        "tool": "refund", "kind": "refund", "epoch": "e", "resource": f"r-{key}",
        "intent": f"i-{key}", "dispatched_at": 1.0, "status": WriteStatus.UNKNOWN,
    }  # fmt: skip
    return WriteEntry(key=key, run_id=run_id, **{**given, **over})


def record(run_id: str = "run-1", **over: Any) -> InterruptionRecord:
    given: dict[str, Any] = {
        "tenant": "acme", "workflow": "refunds@1", "mode": Mode.READ_ONLY, "at": 1.0,
        "reason": Reason.UNKNOWN_SIDE_EFFECT, "message": "It was lost.", "evidence": (4,),
        "budgets": (), "last_intent": "i", "writes": (), "safe_actions": LOST,
    }  # fmt: skip
    return InterruptionRecord(run_id=run_id, **{**given, **over})


def keep(ledger: MemoryLedger, made: InterruptionRecord, *writes: WriteEntry) -> None:
    """Store a record and its writes, as the run of it would have."""
    for each in writes:
        ledger.begin(each, lambda _: None)
    ledger.store_record(made)


def lose_a_refund(ledger: Any, run_id: str = "run-1", order: str = "A-1") -> InterruptionRecord:
    """A guarded run that loses the answer to its write, and tries again."""
    ids = iter([run_id, *(f"{run_id}-key-{number}" for number in range(1, 9))])
    breaker = Breaker(store=ledger, specs={"refund": REFUND}, new_id=lambda: next(ids))

    def refund(order: str, note: str) -> None:
        raise TimeoutError(f"no answer; password=hunter2 for {note}")

    try:
        with breaker.run(tenant="acme", workflow="refunds@1", request_id="m-4") as run:
            (guarded,) = run.guard([refund])
            with contextlib.suppress(TimeoutError):
                guarded(order=order, note="card 4111-1111")
            guarded(order=order, note="once more for 4111-1111")
    except Interrupted as stopped:
        return stopped.record
    raise AssertionError("a lost write interrupts its run")


class Operator:
    """`agent-tripwire records`, in this process, over a ledger in memory."""

    def __init__(self, ledger: Any, *, now: float = NOW) -> None:
        self.ledger = ledger
        self.now = now
        self.environment: Mapping[str, str] = {options.VARIABLE: "memory:"}
        self.opened: list[str] = []
        self.out = self.err = ""

    def __call__(self, *argv: str) -> int:
        parser = argparse.ArgumentParser(prog="agent-tripwire records")
        options.add_options(parser)
        stdout, stderr = io.BytesIO(), io.StringIO()
        used = Streams(stdin=io.BytesIO(), stdout=stdout, stderr=stderr, clock=lambda: 0.0)
        try:
            return execute(
                options.wanted(parser.parse_args(argv)),
                used,
                opening=self._open,
                now=lambda: self.now,
                environment=self.environment,
            )
        finally:
            self.out, self.err = stdout.getvalue().decode(), stderr.getvalue()

    def _open(self, url: str) -> Any:
        self.opened.append(url)
        return self.ledger

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    def offered(self) -> list[list[str]]:
        """The command lines in what was printed, as a shell reads them."""
        text = f"{self.out}\n{self.err}".replace("agent-tripwire: ", "")
        lines = [line.strip() for line in text.splitlines()]
        return [read_by_bash(each)[2:] for each in lines if each.startswith("agent-tripwire rec")]


def read_by_bash(line: str) -> list[str]:
    if "$'" not in line:
        return shlex.split(line)
    bash = shutil.which("bash")
    assert bash is not None
    done = subprocess.run(
        [bash, "-c", f"printf '%s\\0' {line}"],
        capture_output=True,
        check=True,
        env={"LC_ALL": "C.UTF-8"},
    )
    return done.stdout.decode().split("\0")[:-1]
