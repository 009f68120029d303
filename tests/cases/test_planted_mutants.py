"""Each defence taken out lets its case escape; each rule made naive stops its look-alike.

A look-alike that no naive rule stops, or a case that holds without its defence, shows nothing.
"""

# ruff: noqa: SLF001 - a mutant reaches into what it breaks
from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from importlib import import_module
from itertools import cycle
from typing import Any

import msgspec
import pytest

from pytest_tripwire import Run
from pytest_tripwire.breaker import budget, checks, learning, progress
from pytest_tripwire.breaker import controller as controller_module
from pytest_tripwire.breaker import core as core_module
from pytest_tripwire.breaker.checks import Finding, Proposal
from pytest_tripwire.breaker.controller import Controller
from pytest_tripwire.breaker.core import Core
from pytest_tripwire.breaker.fingerprint import Intent, intent_of
from pytest_tripwire.breaker.progress import History, Step, Trip
from pytest_tripwire.breaker.turns import Turns
from pytest_tripwire.cases import CASE_IDS, load_case
from pytest_tripwire.guard import resume
from pytest_tripwire.guard import run as guard_run
from pytest_tripwire.oracle import State
from pytest_tripwire.timeline import (
    Decision,
    Effect,
    Mode,
    Outcome,
    Reason,
    Status,
    WriteEntry,
    WriteStatus,
)

Patch = pytest.MonkeyPatch
Mutant = Callable[[Patch], None]
# The functions of these names hide their modules in the package.
write_certainty = import_module("pytest_tripwire.breaker.checks.write_certainty")
denial_check = import_module("pytest_tripwire.breaker.checks.earlier_denial")

LOOKALIKES = [each.id for name in CASE_IDS for each in load_case(name).lookalikes]


# -- how a mutant is planted


def check(name: str, other: Callable[[Core, Proposal], Finding | None]) -> Mutant:
    """Another check in the place of one."""

    def plant(patch: Patch) -> None:
        assert name in [each.__name__ for each in checks.ORDER]
        order = tuple(other if each.__name__ == name else each for each in checks.ORDER)
        patch.setattr(checks, "ORDER", order)

    return plant


def rule(name: str, other: Callable[[History, Step, int], Trip | None]) -> Mutant:
    """Another progress rule in the place of one."""

    def plant(patch: Patch) -> None:
        assert name in [each.__name__ for each in progress.RULES]
        rules = tuple(other if each.__name__ == name else each for each in progress.RULES)
        patch.setattr(progress, "RULES", rules)
        patch.setattr(progress, "is_quiet", lambda _: False)  # a naive rule always has its say

    return plant


def blocking(in_the_way: Callable[..., WriteEntry | None]) -> Mutant:
    """Another idea of which write stands in the way, for the look ahead and for the ledger."""

    def plant(patch: Patch) -> None:
        patch.setattr(write_certainty, "in_the_way", in_the_way)
        # Given all that was written, whatever a ledger leaves out as of no weight.
        patch.setattr(write_certainty, "bearing", lambda run, of: run.ledger.of_resource(of))

    return plant


def replaced(owner: object, name: str, value: Any) -> Mutant:
    return lambda patch: patch.setattr(owner, name, value)


def nothing(*_: Any, **__: Any) -> None:
    """A defence that never says anything."""


def stop(reason: Reason) -> Finding:
    return Finding(decision=Decision.INTERRUPT, reason=reason, message="", mode=Mode.STOPPED)


# -- the eight defences, taken out


def price_is_never_booked(patch: Patch) -> None:
    pay = Turns.pay
    free = {"cost_usd": Decimal(0)}
    patch.setattr(
        Turns, "pay", lambda self, usage: pay(self, msgspec.structs.replace(usage, **free))
    )


def usual_turns_are_a_cap(self: Turns) -> Finding | None:
    usual = self._core.budget.usual_turns
    return stop(Reason.TURN_BUDGET) if usual and self._core.state.turns >= usual else None


DEFENCES: dict[str, tuple[str, Mutant]] = {
    "empty-search": ("empty results are not counted", rule("empty_results", nothing)),
    "ping-pong-handoff": ("hand-offs are not counted", rule("handoff", nothing)),
    "lost-write": ("no write stands in the way of another", blocking(nothing)),
    "rephrased-denial": ("a no is forgotten", check("earlier_denial", nothing)),
    # Its defence is patience.
    "long-investigation": (
        "the usual number of turns is a cap",
        replaced(Turns, "_unusual", usual_turns_are_a_cap),
    ),
    "cost-budget": ("what a request cost is never booked", price_is_never_booked),
    "deadline": ("nobody looks at the clock", replaced(Core, "time_left", None)),
    "stale-resume": ("versions are not compared", replaced(resume, "_limit", nothing)),
}


# -- the rules that look-alikes guard, made naive


def every_failed_write_is_unknown(error: BaseException, spec: Any) -> Outcome:
    status = Status.UNKNOWN if spec.effect is Effect.WRITE else Status.TRANSIENT
    return Outcome(status=status, error=type(error).__name__)


def never_reconciled(patch: Patch) -> None:
    held = write_certainty._unknown
    never = {"reconcile": None}
    patch.setattr(
        write_certainty, "_unknown", lambda *args: msgspec.structs.replace(held(*args), **never)
    )


def one_write_for_each_tool(call: Any, spec: Any, tenant: str) -> Intent:
    """What is acted on is not looked at."""
    named = dict.fromkeys(spec.identity or ()) if spec.effect is Effect.WRITE else {}
    same = msgspec.structs.replace(call, arguments={**call.arguments, **named})
    return intent_of(same, spec, tenant)


def once_and_never_again(
    known: Sequence[WriteEntry], *, intent: str, epoch: str, **_: Any
) -> WriteEntry | None:
    """What lies between two writes is not looked at."""
    same = (e for e in known if e.intent == intent and e.epoch == epoch)
    return next((e for e in same if e.status is WriteStatus.CONFIRMED), None)


def once_for_all_time(known: Sequence[WriteEntry], *, intent: str, **_: Any) -> WriteEntry | None:
    """The piece of work is not looked at."""
    same = (e for e in known if e.intent == intent)
    return next((e for e in same if e.status is WriteStatus.CONFIRMED), None)


def denied_for_every_resource(run: Core, proposal: Proposal) -> Finding | None:
    kinds = {kind for kind, _resource in run.state.denials}
    return stop(Reason.REPEATED_DENIAL) if proposal.spec.kind in kinds else None


def one_no_ends_the_run(run: Core, _proposal: Proposal) -> Finding | None:
    return stop(Reason.REPEATED_DENIAL) if run.state.denials else None


def trip(reason: Reason, count: int, limit: int) -> Trip:
    return Trip(reason=reason, count=count, limit=limit, evidence=(), what="naively counted")


def reads_of_one_record(history: History, step: Step, limit: int) -> Trip | None:
    """Versions are not looked at."""
    if step.effect is not Effect.READ or not step.version:
        return None
    same = sum(each.intent == step.intent for each in history.recent)
    return trip(Reason.STAGNANT_READ, same, limit)


def empties_by_tool(history: History, step: Step, limit: int) -> Trip | None:
    """What was looked for is not looked at."""
    empties = sum(each.empty and each.tool == step.tool for each in history.recent)
    return trip(Reason.EMPTY_RESULTS, empties, limit) if step.empty else None


def calls_of_one_resource(history: History, step: Step, limit: int) -> Trip | None:
    """Neither cursors nor outcomes are looked at."""
    same = sum(each.resource == step.resource for each in history.recent)
    return trip(Reason.REPEATED_INTENT_SAME_OUTCOME, same, limit)


def polls_are_reads(patch: Patch) -> None:
    step_of = learning.step_of

    def read(*args: Any, **more: Any) -> Step:
        step = step_of(*args, **more)
        return msgspec.structs.replace(step, spec=msgspec.structs.replace(step.spec, poll=False))

    patch.setattr(learning, "step_of", read)


def handoffs_to_one_target(history: History, step: Step, limit: int) -> Trip | None:
    """What a hand-off carries is not looked at."""
    if step.effect is not Effect.HANDOFF:
        return None
    same = sum(each.resource == step.resource for each in history.recent)
    return trip(Reason.HANDOFF_WITHOUT_PROGRESS, same, limit)


def handoffs_carry_talk_only(call: Any, spec: Any, tenant: str) -> Intent:
    """Every argument of a hand-off is taken for wording."""
    if spec.effect is Effect.HANDOFF:
        talk = (*spec.wording, *spec.required_fields)
        spec = msgspec.structs.replace(spec, wording=talk, required_fields=())
    return intent_of(call, spec, tenant)


def estimates_are_never_corrected(patch: Patch) -> None:
    """A flat price is reserved and kept, whatever the provider says."""
    flat = {"cost_usd": Decimal("1.50")}
    pay = Turns.pay
    patch.setattr(
        Turns, "pay", lambda self, usage: pay(self, msgspec.structs.replace(usage, **flat))
    )


def ceiling_stops_at_once(patch: Patch) -> None:
    pay = Turns.pay

    def stops(self: Turns, usage: budget.Usage) -> None:
        pay(self, usage)
        if self._core.state.over_ceiling:
            self._modes.leave_open(stop(Reason.TOKEN_BUDGET))

    patch.setattr(Turns, "pay", stops)


def deadline_binds_at_its_alert(patch: Patch) -> None:
    left = Core.time_left.fget  # type: ignore[attr-defined]
    assert left is not None
    early = property(lambda self: None if left(self) is None else max(0.0, left(self) - 12.0))
    patch.setattr(Core, "time_left", early)


def no_call_may_take_half_of_the_time(patch: Patch) -> None:
    settle = Controller.settle

    def settled(self: Controller, call: Any, *args: Any, **more: Any) -> Any:
        core = self._core
        limit, admitted = core.budget.deadline_s, core.state.admissions.of(call)
        if limit is not None and core.clock.now() - admitted.at >= limit / 2:
            self._modes.leave_open(stop(Reason.DEADLINE))
        return settle(self, call, *args, **more)

    patch.setattr(Controller, "settle", settled)


def every_resumed_run_only_reads(record: Any, *_: Any) -> Finding:
    return resume._finding(Reason.STALE_RESUME, f"run {record.run_id} was interrupted")


NAIVE: dict[str, tuple[str, Mutant]] = {
    "lost-write/reconciled": ("an unknown write is never read back", never_reconciled),
    "lost-write/definite-failure": (
        "every failed write is unknown",
        replaced(guard_run, "failed", every_failed_write_is_unknown),
    ),
    "lost-write/batch": (
        "a tool writes one thing only",
        replaced(controller_module, "intent_of", one_write_for_each_tool),
    ),
    "lost-write/restored": (
        "a write is a duplicate whatever lies between",
        blocking(once_and_never_again),
    ),
    "lost-write/asked-again": (
        "a write is a duplicate in every piece of work",
        blocking(once_for_all_time),
    ),
    "rephrased-denial/another-order": (
        "a no holds for every resource",
        check("earlier_denial", denied_for_every_resource),
    ),
    "rephrased-denial/smaller-amount": (
        "a no leaves no question open",
        replaced(denial_check, "is_new_question", lambda *_: False),
    ),
    "rephrased-denial/asks-the-user": (
        "a no ends the run",
        check("earlier_denial", one_no_ends_the_run),
    ),
    "long-investigation/reread-after-edit": (
        "reads of a record are counted, not its versions",
        rule("stagnant_read", reads_of_one_record),
    ),
    "empty-search/third-try": (
        "two empty results are enough",
        replaced(core_module, "NO_PROGRESS_LIMIT", 2),
    ),
    "empty-search/different-keys": (
        "empty results are counted by tool",
        rule("empty_results", empties_by_tool),
    ),
    "empty-search/paging": (
        "calls are counted, not their results",
        rule("repeated_intent", calls_of_one_resource),
    ),
    "empty-search/polling": ("a poll is a read like any", polls_are_reads),
    "ping-pong-handoff/fills-a-field": (
        "hand-offs are counted, whatever they carry",
        rule("handoff", handoffs_to_one_target),
    ),
    "ping-pong-handoff/drafts": (
        "all that a hand-off carries is talk",
        replaced(controller_module, "intent_of", handoffs_carry_talk_only),
    ),
    "cost-budget/under-the-limit": (
        "an estimate is never corrected",
        estimates_are_never_corrected,
    ),
    "cost-budget/prompt-ceiling": ("the ceiling stops at once", ceiling_stops_at_once),
    "deadline/in-time": ("the deadline binds at four fifths", deadline_binds_at_its_alert),
    "deadline/side-by-side": (
        "no call may take half of the time",
        no_call_may_take_half_of_the_time,
    ),
    "stale-resume/unchanged": (
        "every resumed run is stale",
        replaced(resume, "_limit", every_resumed_run_only_reads),
    ),
}

#: The persona to try a naive rule on, where the first one cannot complete the work anyway.
PERSONA = {"cost-budget/prompt-ceiling": "compliant"}


def on_a_road(mutants: dict[str, tuple[str, Mutant]]) -> list[Any]:
    """Each with a road of its own: on which one it is seen says nothing about a mutant."""
    return [
        pytest.param(name, road, id=f"{name}: {what}-{road}")
        for (name, (what, _)), road in zip(mutants.items(), cycle(("sync", "async")), strict=False)
    ]


def test_every_case_and_every_look_alike_has_its_mutant() -> None:
    assert set(DEFENCES) == set(CASE_IDS)
    assert set(NAIVE) == set(LOOKALIKES)


@pytest.mark.parametrize(("case_id", "road"), on_a_road(DEFENCES))
def test_case_escapes_without_its_defence(
    play: Callable[..., Run], monkeypatch: Patch, case_id: str, road: str
) -> None:
    DEFENCES[case_id][1](monkeypatch)

    run = play(case_id, road)

    assert run.cell.state is State.ESCAPED, run.timeline()


@pytest.mark.parametrize(("name", "road"), on_a_road(NAIVE))
def test_naive_rule_stops_good_work(
    play: Callable[..., Run], monkeypatch: Patch, name: str, road: str
) -> None:
    NAIVE[name][1](monkeypatch)

    run = play(name, road, persona=PERSONA.get(name))

    assert run.interrupted or run.cell.state is State.ESCAPED, run.timeline()
