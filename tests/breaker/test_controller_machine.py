"""The controller against a tiny model of it: budgets, write certainty, modes."""

from __future__ import annotations

import itertools
from typing import Any
from unittest import mock

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from pytest_tripwire.breaker import (
    Breaker,
    Effect,
    Mode,
    Outcome,
    RunBudget,
    Status,
    ToolCall,
    ToolSpec,
    checks,
    progress,
)
from pytest_tripwire.timeline import Decision

LIMITS = {"max_turns": 3, "max_tool_calls": 9, "max_side_effects": 4}
SPECS = {
    "refund": ToolSpec(
        name="refund",
        effect=Effect.WRITE,
        operation="refund",
        identity=("order_id",),
        wording=("reason",),
    ),
    "pay_back": ToolSpec(
        name="pay_back", effect=Effect.WRITE, operation="refund", identity=("order",)
    ),
    "look": ToolSpec(name="look", effect=Effect.READ),
}
WORDS = st.text(max_size=3)
ORDERS = st.sampled_from(["A-1", "A-2"])
NOT_HERE = {"earlier_denial", "in_flight", "circuit", "progress"}
NO_DENIALS = tuple(each for each in checks.ORDER if each.__name__ not in NOT_HERE)
HELD, DUPLICATE = "unknown_side_effect", "duplicate_write"


class ModelOfARun:
    """What is true of one run, said as plainly as possible."""

    def __init__(self) -> None:
        self.mode = "open"
        self.left = dict(LIMITS)
        self.writes: list[dict[str, Any]] = []
        self.reason = ""

    def stop(self, reason: str) -> str:
        self.mode = "stopped"
        self.reason = self.reason or reason
        return reason

    def turn(self) -> str:
        if self.mode == "stopped":
            return self.reason
        if not self.left["max_turns"]:
            return self.stop("turn_budget")
        self.left["max_turns"] -= 1
        return ""

    def read(self) -> str:
        if self.mode != "open":
            return self.reason
        return self.take("max_tool_calls", "tool_call_budget")

    def write(self, order: str, amount: int) -> tuple[str, dict[str, Any] | None]:
        if self.mode != "open":
            self.mode = "stopped"
            return self.hidden(order) or self.reason, None
        refusal = self.certainty(order, amount) or self.slots()
        if refusal:
            return refusal, None
        entry = {"order": order, "amount": amount, "status": "under way"}
        self.writes.append(entry)
        return "", entry

    def hidden(self, order: str) -> str:
        """A spent budget never hides that a write was lost."""
        lost = any(e["order"] == order and e["status"] == "unknown" for e in self.writes)
        return HELD if lost and self.reason.endswith("budget") else ""

    def certainty(self, order: str, amount: int) -> str:
        known = [each for each in self.writes if each["order"] == order]
        if any(each["status"] == "unknown" for each in known):
            self.mode, self.reason = "read_only", HELD
            return HELD
        if any(each["status"] == "under way" and each["amount"] == amount for each in known):
            return DUPLICATE
        done = [each["amount"] for each in known if each["status"] == "done"]
        return DUPLICATE if done[-1:] == [amount] else ""

    def slots(self) -> str:
        if not self.left["max_side_effects"]:
            return self.stop("side_effect_budget")
        refusal = self.take("max_tool_calls", "tool_call_budget")
        if not refusal:
            self.left["max_side_effects"] -= 1
        return refusal

    def take(self, what: str, reason: str) -> str:
        if not self.left[what]:
            return self.stop(reason)
        self.left[what] -= 1
        return ""

    def settle(self, entry: dict[str, Any] | None, status: Status) -> None:
        if entry is None:
            return
        nothing = status in {Status.DENIED, Status.DEFINITE}
        entry["status"] = "done" if status is Status.OK else "not done" if nothing else "unknown"
        if nothing:
            self.left["max_side_effects"] += 1


class RunMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        # Progress and denials have tests of their own; here only budgets and certainty decide.
        self.lenient = [
            mock.patch.object(progress, "RULES", ()),
            mock.patch.object(checks, "ORDER", NO_DENIALS),
        ]
        for patch in self.lenient:
            patch.start()
        self.run = Breaker(budget=RunBudget(**LIMITS), specs=SPECS).run(tenant="acme")
        self.model = ModelOfARun()
        self.pending: list[tuple[ToolCall, dict[str, Any] | None]] = []
        self.numbers = itertools.count(1)

    def propose(self, tool: str, arguments: dict[str, Any], call_id: str) -> ToolCall | str:
        call = ToolCall(call_id=call_id, tool=tool, arguments=arguments)
        verdict = self.run.decide(call)
        assert verdict.allowed == (verdict.decision is Decision.ALLOW)
        return call if verdict.allowed else str(verdict.reason)

    def compare(self, told: ToolCall | str, expected: str, entry: dict[str, Any] | None) -> None:
        if isinstance(told, ToolCall):
            assert expected == ""
            self.pending.append((told, entry))
        else:
            assert told == expected

    # Models give one id to several calls: few ids, so that it happens here.
    @rule(order=ORDERS, amount=st.integers(1, 2), words=WORDS, call_id=st.sampled_from("abc"))
    def refund(self, order: str, amount: int, words: str, call_id: str) -> None:
        nonce = f"n-{next(self.numbers)}"
        arguments = {"order_id": order, "amount": amount, "reason": words, "request_id": nonce}
        expected, entry = self.model.write(order, amount)
        self.compare(self.propose("refund", arguments, call_id), expected, entry)

    @rule(order=ORDERS, amount=st.integers(1, 2))
    def pay_back(self, order: str, amount: int) -> None:
        expected, entry = self.model.write(order, amount)
        call_id = f"call-{next(self.numbers)}"
        told = self.propose("pay_back", {"order": order, "amount": amount}, call_id)
        self.compare(told, expected, entry)

    @rule(words=WORDS, call_id=st.sampled_from("abc"))
    def look(self, words: str, call_id: str) -> None:
        expected = self.model.read()
        self.compare(self.propose("look", {"q": words}, call_id), expected, None)

    @precondition(lambda self: self.pending)
    @rule(which=st.integers(0, 20), status=st.sampled_from(list(Status)))
    def settle(self, which: int, status: Status) -> None:
        call, entry = self.pending.pop(which % len(self.pending))
        self.run.settle(call, Outcome(status=status))
        self.model.settle(entry, status)

    @rule()
    def turn(self) -> None:
        verdict = self.run.before_model()
        assert str(verdict.reason or "") == self.model.turn()

    @invariant()
    def budgets_are_right(self) -> None:
        left = {line.name: line.remaining for line in self.run.budgets()}
        assert left == self.model.left
        assert all(0 <= left[name] <= LIMITS[name] for name in LIMITS)

    @invariant()
    def mode_is_right(self) -> None:
        assert self.run.mode.value == self.model.mode
        assert str(self.run.last_reason or "") == self.model.reason

    def teardown(self) -> None:
        for patch in self.lenient:
            patch.stop()
        record = self.run.close()
        unsure = any(each["status"] in {"unknown", "under way"} for each in self.model.writes)
        if self.model.mode == "open" and not unsure:
            assert record is None
        else:
            assert record is not None
            assert record.mode is not Mode.OPEN


TestRunMachine = RunMachine.TestCase
TestRunMachine.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
