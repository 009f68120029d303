"""What really happens, the processes that a machine drives, and what the model says to them."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

from pytest_tripwire.breaker import (
    Breaker,
    BreakerRun,
    Outcome,
    ResumeRefusedError,
    RunBudget,
    StateError,
    Status,
    ToolCall,
    ToolSpec,
    checks,
    progress,
)
from pytest_tripwire.guard import Resume
from pytest_tripwire.ledger import MemoryLedger, open_store
from pytest_tripwire.timeline import WriteStatus

from .reference import (
    ASKED,
    DUPLICATE,
    LATE_S,
    LEASE_S,
    STALE,
    UNKNOWN,
    WAITS,
    Piece,
    Reference,
    Write,
    Yes,
)

SLOTS = 8
#: Progress, denials and circuits have tests of their own.
ELSEWHERE = {"earlier_denial", "circuit", "progress"}
ORDER = tuple(each for each in checks.ORDER if each.__name__ not in ELSEWHERE)
WORKFLOW = "refunds@4"


def _write(name: str, operation: str, order: str, **more: Any) -> ToolSpec:
    return ToolSpec(
        name=name, effect="write", operation=operation, identity=(order,), result_id="id",
        reconcile=f"find_{operation}", late_effect_s=LATE_S, **more,
    )  # fmt: skip


SPECS = {
    "refund": _write("refund", "refund", "order_id"),
    "pay_back": _write("pay_back", "refund", "order"),
    "credit": _write("credit", "credit", "order", requires_approval=True),
    "find_refund": ToolSpec(name="find_refund", effect="read"),
    "find_credit": ToolSpec(name="find_credit", effect="read"),
    "get": ToolSpec(name="get", effect="read", identity=("order",), result_version="version"),
}
#: What becomes of a write: done and told; refused; done, or not, and nothing told; done and shown
#: late; and the same while nobody has come back yet.
FATES = ["ok", "rejected", "lost", "vanished", "late", "done, no word", "nothing, no word"]
HAPPENS = {"ok", "lost", "late", "done, no word"}


class World:
    """What really happened, and what a read shows of it."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.done: list[tuple[tuple[str, str, str], str, float]] = []
        self.versions = {"A": 1, "B": 1}

    def now(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds

    def does(self, thing: tuple[str, str, str], *, late: bool) -> str:
        self.done.append((thing, f"R-{len(self.done) + 1}", self.seconds + (LATE_S - 1) * late))
        return self.done[-1][1]

    def shown(self, thing: tuple[str, str, str], at: float) -> str | None:
        ids = [each[1] for each in self.done if each[0] == thing and each[2] <= at]
        return ids[-1] if ids else None


class Shared:
    """One memory as one of several processes would see a file."""

    durable = True

    def __init__(self, memory: MemoryLedger, owner: str) -> None:
        self._memory, self.owner = memory, owner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._memory, name)


class Process:
    """A run as a process has it, and what should be true of it."""

    def __init__(self, run: BreakerRun, piece: Piece, breaker: Breaker) -> None:
        self.run, self.piece, self.breaker = run, piece, breaker
        self.pending: list[tuple[ToolCall, Write, str, str]] = []


class Bench:
    """Everything that a machine has at hand. Not itself a machine."""

    kind = "memory"

    def __init__(self) -> None:
        super().__init__()
        self.patches = [
            mock.patch.object(progress, "RULES", ()),
            mock.patch.object(checks, "ORDER", ORDER),
        ]
        for each in self.patches:
            each.start()
        self.folder = tempfile.TemporaryDirectory()
        self.memory = MemoryLedger()
        self.opened: list[Any] = []
        self.store = self.open_store("operator")
        self.world, self.model = World(), Reference()
        self.live: list[Process] = []
        self.states: list[tuple[bytes, Piece]] = []
        self.runs: dict[str, str] = {}
        self.ids, self.owners, self.calls = (
            itertools.count(1),
            itertools.count(1),
            itertools.count(1),
        )
        self.tokens: dict[str, int] = {}
        self.certain: dict[str, WriteStatus] = {}
        self.happened: dict[Write, str | None] = {}
        self.last: tuple[str, str, int] | None = None

    def open_store(self, owner: str) -> Any:
        if self.kind == "memory":
            return Shared(self.memory, owner)
        self.opened.append(open_store(Path(self.folder.name) / "runs.db", owner=owner))
        return self.opened[-1]

    def teardown(self) -> None:
        for each in self.patches:
            each.stop()
        for each in self.opened:
            each.close()
        self.folder.cleanup()

    def breaker(self, policy: str) -> tuple[Breaker, str]:
        owner = f"worker-{next(self.owners)}"
        breaker = Breaker(
            store=self.open_store(owner),
            specs=SPECS,
            budget=RunBudget(max_side_effects=SLOTS),
            clock=self.world,
            new_id=lambda: f"id-{next(self.ids)}",
            lease_s=LEASE_S,
            policy_version=policy,
        )
        return breaker, owner

    def lives(self, run: BreakerRun, piece: Piece, breaker: Breaker) -> Process:
        def find(kind: str) -> Any:
            def of(order: str) -> dict[str, Any]:
                shown = self.world.shown((piece.tenant, kind, order), self.world.seconds)
                return {} if shown is None else {"id": shown}

            return of

        refunded, credited = find("refund"), find("credit")
        run.guard(
            {
                "refund": lambda order_id, amount: None,
                "pay_back": lambda order, amount: None,
                "credit": lambda order, amount: None,
                "find_refund": lambda order_id="", order="": refunded(order_id or order),
                "find_credit": credited,
                "get": lambda order: {"version": self.world.versions[order]},
            },
            SPECS,
        )
        if piece.mode == "read_only":
            mine = [each for each in self.model.writes if each.run == piece.run]
            piece.held = {
                each.thing for each in mine if self.model.status(each, piece.owner) == "unknown"
            }
        self.live.append(Process(run, piece, breaker))
        self.runs[piece.run] = piece.tenant
        return self.live[-1]

    def one(self, which: int) -> Process:
        return self.live[which % len(self.live)]

    def slots(self, run: BreakerRun) -> int:
        (line,) = run.budgets()
        assert line.remaining >= 0
        return int(line.remaining)

    def expected(self, process: Process, call_id: str, tool: str, thing: Any, amount: int) -> str:
        """What the model says about a proposal: empty if it runs. A read moves its clock."""
        piece = process.piece
        if piece.mode == "read_only":
            piece.mode = "stopped"
        if piece.mode == "stopped":
            return "stopped"
        uncertain = self.uncertain(piece, thing, amount)
        if uncertain:
            return uncertain
        if thing[2] in piece.stale:
            if tool == "credit":
                self.put_up(piece, call_id, thing, amount)
            return STALE
        return self.last_questions(process, call_id, tool, thing, amount)

    def uncertain(self, piece: Piece, thing: Any, amount: int) -> str:
        model = self.model
        stands = model.in_the_way(piece, thing, amount)
        if stands is not None and stands[0] == UNKNOWN and not stands[1].read:
            write = stands[1]
            model.now += max(0.0, LATE_S - (model.now - write.last_sent(model.now)))
            model.believe(piece, write, self.world.shown(thing, model.now))
            stands = model.in_the_way(piece, thing, amount)
        if stands is not None and stands[0] == UNKNOWN:
            piece.mode = "read_only"
            piece.held.add(thing)
        return "" if stands is None else stands[0]

    def last_questions(
        self, process: Process, call_id: str, tool: str, thing: Any, amount: int
    ) -> str:
        """Is there a yes, is there a slot, is the run still this process's?"""
        piece, says, note = process.piece, "", None
        if tool == "credit":
            says, note = self.model.standing(piece, thing, amount)
        if says == WAITS:
            return WAITS
        if not self.slots(process.run) and not (says == ASKED and note is not None):
            piece.mode = "stopped"
            return "side_effect_budget"
        if says == ASKED:
            self.put_up(piece, call_id, thing, amount)
            return ASKED
        record = self.store.record_of(piece.run)
        if record is not None and record.token_version > piece.token:
            piece.mode = "stopped"
            return "taken up elsewhere"
        if note is not None:
            note.left -= 1
        return ""

    def put_up(self, piece: Piece, call_id: str, thing: Any, amount: int) -> None:
        version = piece.versions.get(thing[2], "")
        self.model.yeses.setdefault(piece.run, []).append(Yes(call_id, thing, amount, version))
        piece.knows.add(call_id)

    def proposes(self, process: Process, tool: str, order: str, amount: int, fate: str) -> None:
        piece, number = process.piece, next(self.calls)
        name = "order_id" if tool == "refund" else "order"
        thing = (piece.tenant, "credit" if tool == "credit" else "refund", order)
        call = ToolCall(
            call_id=f"c-{number}",
            tool=tool,
            arguments={name: order, "amount": amount, "request_id": f"n-{number}"},
        )
        expected = self.expected(process, call.call_id, tool, thing, amount)
        verdict = process.run.decide(call)
        assert verdict.allowed == (expected == ""), (verdict, expected)
        assert self.world.seconds == self.model.now
        if expected in {UNKNOWN, DUPLICATE}:
            assert verdict.reason == expected, (verdict, expected)
        if expected:
            return
        self.dispatch(process, call, thing, amount, fate)

    def dispatch(
        self, process: Process, call: ToolCall, thing: Any, amount: int, fate: str
    ) -> None:
        piece, now = process.piece, self.world.seconds
        before = self.model.of(thing)
        assert not any(self.model.status(each, piece.owner) == "unknown" for each in before)
        (key,) = {each.key for each in self.store.of_run(piece.run)} - {
            each.key for each in self.model.writes
        }
        write = Write(thing, amount, piece.run, piece.epoch, piece.owner, now, key)
        self.model.writes.append(write)
        done = self.world.does(thing, late=fate == "late") if fate in HAPPENS else None
        self.happened[write] = done
        if fate.endswith("no word"):
            process.pending.append((call, write, fate, done or ""))
        else:
            self.comes_back(process, call, write, fate)

    def comes_back(self, process: Process, call: ToolCall, write: Write, fate: str) -> None:
        done, piece = self.happened[write], process.piece
        if fate == "ok":
            process.run.settle(call, Outcome(status=Status.OK, result={"id": done}))
            write.status, write.id = "confirmed", done
        elif fate == "rejected":
            process.run.settle(call, Outcome(status=Status.DEFINITE, error="No"))
            write.status = "rejected"
        else:
            process.run.settle(call, Outcome(status=Status.UNKNOWN, error="Timeout"))
            if write.status == "in flight":
                write.status = "unknown"
            piece.watched.add(write.thing)
        write.back = True

    def looks(self, process: Process, order: str, kind: str) -> None:
        piece, model = process.piece, self.model
        thing = (piece.tenant, kind, order)
        names = ("order_id", "order") if kind == "refund" else ("order",)
        shown = self.world.shown(thing, self.world.seconds)
        allowed = piece.mode == "open" or (
            piece.mode == "read_only" and (piece.any_read or not piece.held or thing in piece.held)
        )
        result = process.run.call(f"find_{kind}", dict.fromkeys(names, order))
        assert ("refused" not in result) == allowed, (result, piece)
        if not allowed:
            return
        piece.looked.add(order)
        piece.stale.discard(order)
        if thing in piece.watched | piece.held:
            for write in model.of(thing):
                if model.status(write, piece.owner) == "unknown":
                    model.believe(piece, write, shown)
            model.release(piece, thing)

    def reads_the_version(self, process: Process, order: str) -> None:
        piece = process.piece
        if "refused" in process.run.call("get", {"order": order}):
            assert piece.mode != "open"
            return
        piece.versions[order] = str(self.world.versions[order])
        piece.looked.add(order)
        piece.stale.discard(order)
        self.model.compare(piece)

    def unsettled(self) -> list[Write]:
        return [each for each in self.model.writes if self.model.status(each, "") == "unknown"]

    def change_is_told(self, process: Process, order: str) -> None:
        process.run.changed(order)
        if order in process.piece.looked:
            process.piece.stale.add(order)
        process.piece.knows |= {n.call_id for n in self.model.yeses.get(process.piece.run, [])}
        self.model.outdated(process.piece, order)

    def says_yes(
        self, run: str, note: Yes, attempts: int, policy: str, expires: float | None
    ) -> None:
        self.breaker(policy)[0].approve(run, note.call_id, attempts=attempts, expires_s=expires)
        note.granted, note.left, note.policy = True, attempts, policy
        note.expires = float("inf") if expires is None else self.model.now + expires

    def taken_up(self, breaker: Breaker, state: bytes, piece: Piece) -> BreakerRun | None:
        try:
            return breaker.run(state=state, tenant=piece.tenant)
        except StateError:
            return None

    def interrupted(self) -> list[str]:
        records = [(run, self.store.record_of(run)) for run in sorted(self.runs)]
        return [run for run, each in records if each is not None and each.ended_as is None]

    def holds(self, write: Write, record: Any) -> bool:
        """Whether an interrupted run is held by the thing that a write is about."""
        return record is not None and self.store.entry(write.key).resource in record.held

    def resumed(self, wanted: Resume, policy: str) -> Process | None:
        breaker, owner = self.breaker(policy)
        try:
            run = breaker.resume(
                wanted,
                authorise=lambda operator, _record, _action: operator == "ada",
                reload=lambda resource: str(self.world.versions[resource]),
            )
        except ResumeRefusedError:
            return None
        before = self.store.record_of(wanted.run_id)
        assert before is not None
        work = before.request_id
        piece = Piece(run.run_id, before.tenant, work, owner, policy)
        if run.run_id == wanted.run_id:
            piece.token = wanted.token_version + 1
            piece.versions = {each.resource: each.version for each in before.versions}
            moved = any(v != str(self.world.versions[o]) for o, v in piece.versions.items())
            notes = self.model.yeses.get(piece.run, [])
            piece.knows = {each.call_id for each in notes}
        else:
            moved = False
            assert before.ended_as == "continued"
        if moved or wanted.read_only:
            piece.mode, piece.any_read = "read_only", True
        return self.lives(run, piece, breaker)

    def check_resumed(self, process: Process, wanted: Resume) -> None:
        piece = process.piece
        assert process.run.mode.value == piece.mode
        if piece.run == wanted.run_id:
            mine = [each for each in self.model.writes if each.run == piece.run]
            spent = SLOTS - self.slots(process.run)
            assert spent >= min(SLOTS, sum(each.status != "rejected" for each in mine)), (
                "rolled back"
            )
