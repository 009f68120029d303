"""Plays a case to two real processes over one file: the world and the model stay, the agent's first
process ends or is killed, an operator does what the page tells, and a second process goes on.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from pytest_tripwire import Harness, Options, Task, cli
from pytest_tripwire.cases import load_case
from pytest_tripwire.cases.case import Again
from pytest_tripwire.guard.token import Token, encode
from pytest_tripwire.models.http.handler import Handler
from pytest_tripwire.models.http.messages import HttpReply, HttpRequest
from pytest_tripwire.models.http.transport import LOOPBACK, LoopbackServer
from pytest_tripwire.models.request_error import RequestError
from pytest_tripwire.oracle import Cell
from pytest_tripwire.replay.command import Streams
from pytest_tripwire.serve.environment import variables
from pytest_tripwire.serve.facts import Facts
from pytest_tripwire.serve.offered import Offered
from pytest_tripwire.timeline import Mutation

from .life import OPERATOR, TOOLS_URL, Death, Life, Told, Twin
from .nursery import Order

ROOT = Path(__file__).parents[2]


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How the agent's two processes follow each other.

    Args:
        dies: where the first is killed; None if it comes to an end of its own.
        road: `redelivered`; `resumed`; `insisted` where it is resumed whatever the command says; or
            `confirmed` or `rejected`, which the operator says of the write before it is resumed.
        reconciles: whether the refund's read settles it.
        twin: what the second does worse, or both where it is about the first.
        crowd: how many second processes there are at once.
    """

    dies: Death | None = None
    road: str = "redelivered"
    reconciles: bool = False
    twin: Twin | None = None
    crowd: int = 1


class Played(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it.

    Args:
        cell: the judgement by the case's own oracle.
        first: how the first process has ended.
        seconds: how the second has, or each of them.
        record: what the operator has found in the file in between, None if there was nothing.
        line: with which a second process was sent.
    """

    cell: Cell
    first: Told
    seconds: tuple[Told, ...]
    record: dict[str, Any] | None
    line: str

    @property
    def second(self) -> Told:
        (only,) = self.seconds
        return only

    @property
    def mutations(self) -> int:
        return sum(isinstance(each, Mutation) for each in self.cell.events)


class Nursery:
    """Starts processes of the agent, by the one that they are forked from."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.second_process.nursery"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def live(self, orders: Sequence[Order]) -> list[Told]:
        """Live these at once; returns how each has ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(msgspec.json.encode(orders) + b"\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, "the process that others are forked from is gone; see its standard error"
        return msgspec.json.decode(answer, type=list[Told])

    def close(self) -> None:
        self._process.communicate(timeout=30)


class OverHttp:
    """The tools of a call, as an application's service: the least that a process can reach."""

    max_body = 1_000_000

    def __init__(self, offered: Offered) -> None:
        self._offered = offered

    def respond(self, request: HttpRequest) -> HttpReply:
        if request.method == "GET":
            schemas = self._offered.schemas()
            told: Any = [{"type": "function", "function": each} for each in schemas]
        else:
            told = self._offered.call(**msgspec.json.decode(request.body))
        return HttpReply(status=200, body=msgspec.json.encode(told))

    def refuse(self, request: HttpRequest, error: RequestError) -> HttpReply:
        return HttpReply(status=error.status, body=error.message.encode())

    def crashed(self, error: BaseException) -> None:
        raise error


class Operator:
    """Who looks at the file between the two, by the command alone."""

    def __init__(self, store: str) -> None:
        self._store = store

    def found(self) -> dict[str, Any] | None:
        """The open record; the worker of a killed run has left none, so the command makes it."""
        _, out = self._typed("list", "--json")
        records = [msgspec.json.decode(line) for line in out.splitlines()]
        return records[0] if records else None

    def settle(self, run_id: str, certainty: str) -> None:
        """Say what the service says of the write."""
        known = ["--result-id", "R-1"] if certainty == "confirmed" else []
        by = ["--operator", OPERATOR]
        status, out = self._typed("resolve", run_id, "--as", certainty, *known, *by)
        assert status == 0, out

    def line(self, run_id: str) -> str:
        """The line for the application: to go on, or where that is not safe to read."""
        for how in ([], ["--read-only"]):
            status, out = self._typed("resume-token", run_id, *how)
            if status == 0:
                return out.strip()
        raise AssertionError(out)

    def _typed(self, *args: str) -> tuple[int, str]:
        out, err = io.BytesIO(), io.StringIO()
        within = Streams(stdin=io.BytesIO(), stdout=out, stderr=err, clock=lambda: 0.0)
        status = cli.main(["records", *args, "--store", self._store], within=within)
        return status, out.getvalue().decode() + err.getvalue()


class Stand:
    """The agent as the harness sees it: called with a task, it starts processes.

    Args:
        case_id: the case.
        plan: how.
        folder: where the file is.
        nursery: starts the agent's processes.
    """

    def __init__(self, case_id: str, plan: Plan, folder: Path, nursery: Nursery) -> None:
        self._case, self._plan, self._nursery = load_case(case_id), plan, nursery
        meeting = folder / "meeting"
        meeting.mkdir()
        self._meeting = str(meeting)
        self._store = f"sqlite:///{folder / 'runs.db'}"
        self._operator = Operator(self._store)
        self._offered, self._facts = Offered(), Facts()
        self._told: list[Told] = []
        self._record: dict[str, Any] | None = None
        self._line = ""

    def play(self, **options: Any) -> Played:
        """Play it, and judge."""
        harness = Harness(
            self._case, self, options=Options(protection="own", **options), outside=True
        )
        try:
            run = harness.run()
        finally:
            self._facts.close()
        assert run.error is None, run.error
        return Played(
            cell=run.cell,
            first=self._told[0],
            seconds=tuple(self._told[1:]),
            record=self._record,
            line=self._line,
        )

    def __call__(self, task: Task) -> None:
        first = not self._told
        with self._around(task) as environment:
            if first:
                self._told += self._lived([self._first()], environment)
            if not first or self._case.interlude is None:
                seconds = self._seconds()
                # The first was forked: it is another process in any case.
                self._told += self._lived(seconds, environment, here=len(seconds) == 1)

    # -- lives

    def _first(self) -> Life:
        interlude, plan = self._case.interlude, self._plan
        waits = interlude is not None and interlude.why is Again.RESUME
        return self._life(dies=plan.dies, waits=waits)

    def _seconds(self) -> list[Life]:
        plan, again = self._plan, self._case.interlude
        if again is not None and again.why is Again.NEW_REQUEST:
            return [self._life(request_id="message-18")]
        if plan.twin is not Twin.FORGETS:
            self._record = self._operator.found()
        if plan.road == "redelivered":
            return [self._life(crowd=plan.crowd)] * plan.crowd
        assert self._record is not None, self._told
        self._line = self._operated(self._record, plan.road)
        meeting = self._meeting if plan.crowd > 1 else ""
        life = self._life(token=self._line, meeting=meeting, crowd=plan.crowd)
        return [life] * plan.crowd

    def _operated(self, record: dict[str, Any], road: str) -> str:
        run_id = record["run_id"]
        if road == "insisted":
            return encode(Token(run_id=run_id, token_version=record["token_version"]))
        if road != "resumed":
            self._operator.settle(run_id, road)
        return self._operator.line(run_id)

    def _life(self, **fields: Any) -> Life:
        limit = self._case.budget.deadline_s
        given = {"request_id": "message-17", "deadline_s": limit, **fields}
        plan = self._plan
        return Life(
            store=self._store,
            workflow="refunds@1",
            reconciles=plan.reconciles,
            twin=plan.twin,
            **given,
        )

    def _lived(
        self, lives: Sequence[Life], environment: dict[str, str], *, here: bool = False
    ) -> list[Told]:
        told = self._nursery.live(
            [Order(life=each, environment=environment, here=here) for each in lives]
        )
        assert all(each.ended != "failed" for each in told), told
        return told

    @contextmanager
    def _around(self, task: Task) -> Iterator[dict[str, str]]:
        self._offered.replace(task.tools)
        self._facts.tell_of(task)
        server = LoopbackServer(OverHttp(self._offered), Handler)
        server.run_in_thread()
        found = variables(
            task,
            case_id=self._case.id,
            mcp_url=None,
            world_url=self._facts.url,
            inherited=os.environ,
        )
        found[TOOLS_URL] = f"http://{LOOPBACK}:{server.server_port}/"
        try:
            yield {**os.environ, **found}
        finally:
            server.close()
