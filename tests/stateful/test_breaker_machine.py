"""The breaker over a store that outlives its processes, against a small reference model: writes
that are lost, late or certain, processes that die, checkpoints that fork, people who say yes.
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from pytest_tripwire.guard import Resume
from pytest_tripwire.ledger.lost import adopt
from pytest_tripwire.timeline import Became, WriteStatus

from .bench import FATES, SLOTS, WORKFLOW, Bench
from .reference import LATE_S, LEASE_S, Piece

TOOLS = st.sampled_from(["refund", "pay_back", "credit"])
ORDERS = st.sampled_from(["A", "B"])
TENANTS = st.sampled_from(["acme", "acme", "acme", "bolt"])
WORKS = st.sampled_from(["message-1", "message-2"])
POLICIES = st.sampled_from(["v1", "v1", "v2"])
WHICH = st.integers(0, 30)
AMOUNTS = st.integers(1, 2)
SECONDS = st.sampled_from([1.0, LATE_S, LEASE_S + 1])
FATE = st.sampled_from(FATES)


class BreakerMachine(Bench, RuleBasedStateMachine):
    # -- processes

    some = precondition(lambda self: self.live)

    @initialize()
    def a_first_message_is_delivered(self) -> None:
        self.a_message_is_delivered("acme", "message-1", "v1")

    @precondition(lambda self: len(self.live) < 4)
    @rule(tenant=TENANTS, work=WORKS, policy=POLICIES)
    def a_message_is_delivered(self, tenant: str, work: str, policy: str) -> None:
        breaker, owner = self.breaker(policy)
        run = breaker.run(tenant=tenant, workflow=WORKFLOW, request_id=work, inputs="i1")
        self.lives(run, Piece(run.run_id, tenant, work, owner, policy), breaker)

    @some
    @rule(which=WHICH)
    def a_process_dies(self, which: int) -> None:
        self.live.remove(self.one(which))

    @some
    @rule(which=WHICH)
    def a_checkpoint_is_made(self, which: int) -> None:
        process = self.one(which)
        copy = replace(
            process.piece, held=set(), watched=set(), learned=set(),
            versions=dict(process.piece.versions), looked=set(process.piece.stale),
            stale=set(process.piece.stale), knows=set(),
        )  # fmt: skip
        self.states.append((process.run.snapshot(), copy))

    @precondition(lambda self: self.states and len(self.live) < 4)
    @rule(which=WHICH, policy=POLICIES)
    def a_checkpoint_is_taken_up(self, which: int, policy: str) -> None:
        state, piece = self.states[which % len(self.states)]
        breaker, owner = self.breaker(policy)
        record = self.store.record_of(piece.run)
        may = record is None or record.ended_as in {"reconciled", "resumed"}
        run = self.taken_up(breaker, state, piece)
        assert (run is not None) == may
        if run is None:
            return
        token = 1 if record is None else record.token_version
        mine = [each for each in self.model.writes if each.run == piece.run]
        spent = SLOTS - self.slots(run)
        assert spent >= min(SLOTS, sum(each.status != "rejected" for each in mine))
        copy = replace(
            piece, owner=owner, policy=policy, token=token, held=set(), watched=set(),
            learned=set(), versions=dict(piece.versions), looked=set(piece.looked),
            stale=set(piece.stale), knows={n.call_id for n in self.model.yeses.get(piece.run, [])},
        )  # fmt: skip
        sure = all(each.status in {"confirmed", "rejected"} for each in mine)
        if copy.mode == "read_only" and not copy.any_read and record is not None and sure:
            copy.mode = "open"  # what held it is over, or there would be no way back
        self.lives(run, copy, breaker)

    @some
    @rule(which=WHICH, interrupted=st.booleans())
    def a_run_ends(self, which: int, *, interrupted: bool) -> None:
        process = self.one(which)
        piece = process.piece
        if interrupted:
            process.run.interrupt("Wait for ada.")
            piece.mode = "stopped"
        mine = [each for each in self.model.writes if each.run == piece.run]
        for each in mine:
            if self.model.status(each, piece.owner) == "in flight":
                each.status = "unknown"
        unsure = [each for each in mine if self.model.status(each, piece.owner) == "unknown"]
        ended = process.run.close()
        if piece.mode == "open" and not unsure:
            assert ended is None
        else:
            assert self.store.record_of(piece.run) is not None
        self.live.remove(process)

    # -- writes

    @some
    @rule(
        proposals=st.lists(st.tuples(WHICH, TOOLS, ORDERS, AMOUNTS, FATE), min_size=1, max_size=4)
    )
    def writes_are_proposed(self, proposals: list[tuple[int, str, str, int, str]]) -> None:
        for which, tool, order, amount, fate in proposals:
            self.last = (tool, order, amount)
            self.proposes(self.one(which), tool, order, amount, fate)

    @precondition(lambda self: self.live and self.last)
    @rule(which=WHICH, fate=FATE, other_tool=st.booleans())
    def the_last_one_is_proposed_again(self, which: int, fate: str, *, other_tool: bool) -> None:
        tool, order, amount = self.last
        if other_tool and tool != "credit":
            tool = "refund" if tool == "pay_back" else "pay_back"
        self.proposes(self.one(which), tool, order, amount, fate)

    @precondition(lambda self: self.live and self.last)
    @rule(which=WHICH, fate=FATE, expires=st.sampled_from([None, 60.0]))
    def it_is_approved_and_proposed_again(
        self, which: int, fate: str, expires: float | None
    ) -> None:
        process, (_, order, amount) = self.one(which), self.last
        self.proposes(process, "credit", order, amount, fate)
        if self.model.yeses.get(process.piece.run):
            self.says_yes(
                process.piece.run, self.model.yeses[process.piece.run][-1], 1, "v1", expires
            )
            self.proposes(process, "credit", order, amount, fate)

    @precondition(lambda self: any(each.pending for each in self.live))
    @rule(which=WHICH, told=st.booleans())
    def a_call_comes_back(self, which: int, *, told: bool) -> None:
        busy = [each for each in self.live if each.pending]
        process = busy[which % len(busy)]
        call, write, _, done = process.pending.pop(which % len(process.pending))
        fate = ("ok" if done else "rejected") if told else "lost"
        if fate != "lost" or write.status == "in flight":
            self.comes_back(process, call, write, fate)

    @precondition(lambda self: self.live and self.last)
    @rule(which=WHICH, fate=FATE, again=FATE, seconds=SECONDS, policy=POLICIES)
    def it_dies_over_a_write_and_the_message_comes_again(
        self, which: int, fate: str, again: str, seconds: float, policy: str
    ) -> None:
        process, (tool, order, amount) = self.one(which), self.last
        self.proposes(process, tool, order, amount, fate)
        self.live.remove(process)
        self.time_passes(seconds)
        self.a_message_is_delivered(process.piece.tenant, process.piece.work, policy)
        self.proposes(self.live[-1], tool, order, amount, again)

    @precondition(lambda self: self.live and self.last)
    @rule(which=WHICH, fate=FATE, other=AMOUNTS)
    def the_user_asks_for_it_once_more(self, which: int, fate: str, other: int) -> None:
        process, (tool, order, amount) = self.one(which), self.last
        self.proposes(process, tool, order, amount, "ok")
        self.the_user_speaks(which)
        self.proposes(process, tool, order, amount, fate)
        self.proposes(process, tool, order, other, fate)

    # -- who else knows

    @some
    @rule(which=WHICH, order=ORDERS, kind=st.sampled_from(["refund", "credit", "version"]))
    def the_model_looks(self, which: int, order: str, kind: str) -> None:
        process = self.one(which)
        if kind == "version":
            self.reads_the_version(process, order)
        else:
            self.looks(process, order, kind)

    @precondition(lambda self: self.unsettled())
    @rule(which=WHICH)
    def an_operator_settles(self, which: int) -> None:
        unsettled = self.unsettled()
        write = unsettled[which % len(unsettled)]
        done = self.happened[write]
        status = WriteStatus.CONFIRMED if done else WriteStatus.REJECTED
        assert self.store.resolve_write(write.key, status, operator="ada", result_id=done)
        write.status, write.id, write.read, write.back = status.value, done, True, True

    @some
    @rule(which=WHICH, tool=TOOLS, order=ORDERS, amount=AMOUNTS)
    def somebody_settles_in_the_run(self, which: int, tool: str, order: str, amount: int) -> None:
        process = self.one(which)
        piece = process.piece
        thing = (piece.tenant, "credit" if tool == "credit" else "refund", order)
        name = "order_id" if tool == "refund" else "order"
        wanted = [
            each
            for each in self.model.of(thing)
            if each.amount == amount and self.model.status(each, piece.owner) == "unknown"
        ]
        if len(wanted) > 1:
            return
        done = self.happened[wanted[0]] if wanted else None
        settled = process.run.resolve(
            tool, {name: order, "amount": amount}, "confirmed" if done else "rejected", done
        )
        assert settled == len(wanted)
        for each in wanted:
            each.status, each.id = ("confirmed" if done else "rejected"), done
            each.read = each.back = True
        self.model.release(piece, thing)

    # -- people

    @some
    @rule(which=WHICH)
    def the_user_speaks(self, which: int) -> None:
        self.one(which).run.user_message()
        self.one(which).piece.said += 1

    @rule(which=WHICH, order=ORDERS, told=st.booleans())
    def a_record_changes(self, which: int, order: str, *, told: bool) -> None:
        self.world.versions[order] += 1
        if told and self.live:
            self.change_is_told(self.one(which), order)

    @precondition(lambda self: any(self.model.yeses.values()))
    @rule(
        which=WHICH, attempts=st.integers(1, 2), policy=POLICIES,
        expires=st.sampled_from([None, 60.0]),
    )  # fmt: skip
    def a_person_says_yes(
        self, which: int, attempts: int, policy: str, expires: float | None
    ) -> None:
        every = [(run, each) for run, notes in self.model.yeses.items() for each in notes]
        run, note = every[which % len(every)]
        self.says_yes(run, note, attempts, policy, expires)

    @rule(seconds=SECONDS)
    def time_passes(self, seconds: float) -> None:
        self.world.seconds += seconds
        self.model.now += seconds

    # -- interruptions

    @rule()
    def somebody_looks_for_lost_runs(self) -> None:
        adopt(self.store, self.world.seconds)
        for write in self.model.writes:
            if self.model.status(write, "") == "unknown":
                lives = any(each.piece.owner == write.owner for each in self.live)
                if not lives and write.sent + LEASE_S <= self.world.seconds:
                    assert self.store.record_of(write.run) is not None

    @precondition(lambda self: self.runs)
    @rule(
        which=WHICH, wrong=st.sampled_from(["", "", "", "token", "operator", "workflow", "inputs"]),
        policy=POLICIES, read_only=st.booleans(), twice=st.booleans(), an_open_one=st.booleans(),
    )  # fmt: skip
    def an_operator_resumes(
        self, which: int, wrong: str, policy: str,
        *, read_only: bool, twice: bool, an_open_one: bool,
    ) -> None:  # fmt: skip
        known = (an_open_one and self.interrupted()) or sorted(self.runs)
        run_id = known[which % len(known)]
        record = self.store.record_of(run_id)
        wanted = Resume(
            run_id=run_id,
            token_version=(record.token_version if record else 1) + (wrong == "token"),
            operator="bob" if wrong == "operator" else "ada",
            workflow="refunds@5" if wrong == "workflow" else WORKFLOW,
            read_only=read_only,
            inputs="i2" if wrong == "inputs" else "",
        )
        unsure = [
            each
            for each in self.model.writes
            if (each.run == run_id or self.holds(each, record))
            and each.status in {"in flight", "unknown"}
        ]
        taken = [self.resumed(wanted, policy) for _ in range(1 + twice)]
        won = [each for each in taken if each is not None]
        if record is not None:
            fits = wrong in {"", "inputs"} and (read_only or not unsure)
            fits = fits and record.ended_as is None and record.policy in {"", policy}
            assert len(won) == fits, (won, record, wanted)
        assert len(won) <= 1
        for each in won:
            self.check_resumed(each, wanted)

    @precondition(lambda self: self.runs)
    @rule(which=WHICH, off=st.sampled_from([0, 0, 1]))
    def an_operator_closes(self, which: int, off: int) -> None:
        run_id = sorted(self.runs)[which % len(self.runs)]
        record = self.store.record_of(run_id)
        token = (record.token_version if record else 1) + off
        ended = self.store.end(run_id, token, Became.CLOSED, operator="ada")
        open_one = record is not None and record.ended_as is None and off == 0
        assert (ended is not None) == open_one

    # -- always

    @invariant()
    def the_store_knows_what_the_model_knows(self) -> None:
        for write in self.model.writes:
            entry = self.store.entry(write.key)
            assert entry is not None
            if entry.status is WriteStatus.UNKNOWN and self.model.status(write, "") == "unknown":
                write.status = "unknown"  # whoever looks may say so
            assert entry.status.value.replace("_", " ") == write.status, (entry, write)
            if write.key in self.certain:
                assert entry.status in {self.certain[write.key]} | _SETTLED
            if entry.is_certain:
                self.certain[write.key] = entry.status

    @invariant()
    def modes_are_right(self) -> None:
        for each in self.live:
            assert each.run.mode.value == each.piece.mode, each.piece
            assert 0 <= self.slots(each.run) <= SLOTS

    @invariant()
    def interruptions_are_told_once(self) -> None:
        told = [each for run in self.runs for each in self.store.happenings(run)]
        interrupted = sum(each.became is Became.INTERRUPTED for each in told)
        assert sum(each.number for each in self.store.counts()) == interrupted
        for run in self.runs:
            record = self.store.record_of(run)
            token = record.token_version if record else 0
            assert token >= self.tokens.get(run, 0)
            self.tokens[run] = token
            ends = [each.became for each in self.store.happenings(run) if each.became in _ENDS]
            assert len(ends) <= sum(
                each.became is Became.INTERRUPTED for each in self.store.happenings(run)
            )


_SETTLED = {WriteStatus.CONFIRMED, WriteStatus.REJECTED}
_ENDS = {Became.CLOSED, Became.CONTINUED, Became.RECONCILED}


class SqliteMachine(BreakerMachine):
    kind = "sqlite"


TestInMemory = BreakerMachine.TestCase
TestInMemory.settings = settings(
    max_examples=60,
    stateful_step_count=40,
    deadline=None,
    derandomize=True,
    report_multiple_bugs=False,
)
TestInSqlite = SqliteMachine.TestCase
TestInSqlite.settings = settings(
    max_examples=10,
    stateful_step_count=30,
    deadline=None,
    derandomize=True,
    report_multiple_bugs=False,
)
