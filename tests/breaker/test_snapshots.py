"""A run carried to another process: what it spent and saw goes along, nothing is rolled back."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from unittest import mock

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.breaker import (
    Breaker,
    CircuitPolicy,
    Denial,
    Effect,
    Mode,
    Outcome,
    Reason,
    Resume,
    RunBudget,
    StateError,
    Status,
    ToolCall,
    ToolSpec,
    Usage,
    progress,
)
from pytest_tripwire.breaker.memory import MOST_BYTES
from pytest_tripwire.ledger import MemoryLedger
from pytest_tripwire.timeline import WriteStatus

SPECS = {
    "pay": ToolSpec(name="pay", effect=Effect.WRITE, identity=("order",), denials=("DeniedError",)),
    "look": ToolSpec(name="look", effect=Effect.READ, result_version="version"),
    "pass_on": ToolSpec(name="pass_on", effect=Effect.HANDOFF, required_fields=("found",)),
}
OK = Outcome(status=Status.OK)


class Clock:
    """Seconds that pass only when a test says so."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def now(self) -> float:
        return self.seconds


class Service:
    """Processes that share a store: each `run` is one."""

    def __init__(self, **options: Any) -> None:
        self.store = MemoryLedger()
        self.clock = Clock()
        self.options = {"specs": SPECS, **options}
        self.numbers = iter(range(10_000))

    def breaker(self, **other: Any) -> Breaker:
        return Breaker(
            store=self.store, clock=self.clock, new_id=self.new_id, **{**self.options, **other}
        )

    def new_id(self) -> str:
        return f"id-{next(self.numbers)}"

    def begin(self, **about: Any) -> Any:
        return self.breaker().run(tenant="acme", **about)

    def carry(self, run: Any, **about: Any) -> Any:
        """The run as another process takes it up."""
        return self.breaker().run(tenant="acme", state=run.snapshot(), **about)

    def call(self, tool: str, **arguments: Any) -> ToolCall:
        return ToolCall(call_id=f"c{next(self.numbers)}", tool=tool, arguments=arguments)

    def bring(self, run: Any, outcome: Outcome, tool: str, /, **arguments: Any) -> str:
        """Propose, and settle if it is let through; returns why not."""
        call = self.call(tool, **arguments)
        verdict = run.decide(call)
        if verdict.allowed:
            run.settle(call, outcome)
        return str(verdict.reason or "")

    def gives(self, run: Any, result: Any, tool: str, /, **arguments: Any) -> str:
        return self.bring(run, Outcome(status=Status.OK, result=result), tool, **arguments)


@pytest.fixture
def make() -> Callable[..., Service]:
    return Service


@pytest.fixture
def service(make: Callable[..., Service]) -> Service:
    return make()


# -- counters


def test_it_is_the_same_run_with_what_it_has_spent(make: Callable[..., Service]) -> None:
    limits = RunBudget(max_turns=3, max_tool_calls=4, max_side_effects=2, max_model_cost_usd="1.5")  # type: ignore[arg-type]
    service = make(budget=limits)
    run = service.begin(workflow="refunds@4", request_id="m-1")
    run.before_model()
    run.after_model(Usage(prompt_tokens=10, completion_tokens=5, cost_usd=Decimal("0.1")))
    service.bring(run, OK, "pay", order="A")

    other = service.carry(run)

    assert other.run_id == run.run_id
    assert other.budgets() == run.budgets()
    assert other.stats().cost_usd == Decimal("0.1")
    assert other.stats().tokens == 15
    assert other.stats().turns == 1


def test_limits_bind_over_all_processes(make: Callable[..., Service]) -> None:
    service = make(budget=RunBudget(max_turns=5))
    run = service.begin()

    allowed = 0
    for _ in range(9):
        allowed += run.before_model().allowed
        if run.mode is Mode.OPEN:
            run = service.carry(run)

    assert allowed == 5


def test_what_is_promised_counts_as_spent(make: Callable[..., Service]) -> None:
    service = make(budget=RunBudget(max_tool_calls=1))
    run = service.begin()
    run.decide(service.call("look", order="A"))

    assert service.bring(service.carry(run), OK, "look", order="B") == "tool_call_budget"


def test_time_that_was_used_stays_used(make: Callable[..., Service]) -> None:
    service = make(budget=RunBudget(deadline_s=60))
    run = service.begin()
    service.clock.seconds += 45
    state = run.snapshot()
    service.clock.seconds = 5.0  # another machine's clock

    other = service.breaker().run(tenant="acme", state=state)

    assert other.time_left == 15


def test_tries_of_tasks_are_carried(make: Callable[..., Service]) -> None:
    service = make(budget=RunBudget(max_attempts_per_task=2))
    run = service.begin()

    for allowed in (True, True, False):
        with run.task("book") as attempt:
            assert attempt.allowed is allowed
        run = service.carry(run)


def test_the_rate_is_that_of_the_last_minute(make: Callable[..., Service]) -> None:
    service = make(budget=RunBudget(max_calls_per_minute=2))
    run = service.begin()
    service.bring(run, OK, "look", order="A")
    service.clock.seconds += 30
    service.bring(run, OK, "look", order="B")

    run = service.carry(run)

    assert service.bring(run, OK, "look", order="C") == "rate_limit"
    service.clock.seconds += 30
    assert service.bring(run, OK, "look", order="C") == ""
    assert service.bring(run, OK, "look", order="D") == "rate_limit"


def test_dispatches_of_one_intent_are_carried(make: Callable[..., Service]) -> None:
    service = make(budget=RunBudget(max_same_intent=2))
    run = service.begin()
    told = []
    for _ in range(3):
        told.append(service.bring(run, OK, "look", order="A"))
        run = service.carry(run) if run.mode is Mode.OPEN else run

    assert told == ["", "", "same_intent_budget"]


def test_a_tool_that_is_down_stays_down(make: Callable[..., Service]) -> None:
    service = make(circuit=CircuitPolicy(errors=2, cooldown=2))
    run = service.begin()
    down = Outcome(status=Status.TRANSIENT, error="down")
    told = []
    for number in range(5):
        told.append(service.bring(run, down, "look", order=f"{number}"))
        run = service.carry(run)

    assert told == ["", "", "circuit_open", "circuit_open", ""]
    assert run.backoff("look") == 8


def test_turns_that_nobody_tells_of_count_on(make: Callable[..., Service]) -> None:
    service = make(circuit=CircuitPolicy(turns=3))
    run = service.begin()
    told = []
    for number in range(4):
        told.append(service.gives(run, {"n": number}, "look", order=f"{number}"))
        run = service.carry(run)

    assert told == ["", "", "", "turn_budget"]


def test_a_budget_that_was_told_of_is_not_told_of_again(make: Callable[..., Service]) -> None:
    told: list[Any] = []
    service = make(budget=RunBudget(max_tool_calls=2, alert_share=0.5), on_event=told.append)
    run = service.begin()
    service.bring(run, OK, "look", order="A")
    other = service.carry(run)
    service.bring(other, OK, "look", order="B")

    assert [type(each).__name__ for each in told].count("BudgetAlert") == 1


# -- progress


def test_a_loop_is_the_same_loop_in_the_next_process(service: Service) -> None:
    run = service.begin()
    told = []
    for _ in range(4):
        told.append(service.gives(run, {"total": 7}, "look", order="A"))
        run = service.carry(run) if run.mode is Mode.OPEN else run

    assert told == ["", "", "", "repeated_intent_same_outcome"]


def test_what_rests_on_events_of_another_process_names_those_of_its_own(service: Service) -> None:
    run = service.begin()
    for _ in range(2):
        service.gives(run, {"total": 7}, "look", order="A")
    run = service.carry(run)
    service.gives(run, {"total": 7}, "look", order="A")

    verdict = run.decide(service.call("look", order="A"))

    assert verdict.reason is Reason.REPEATED_INTENT_SAME_OUTCOME
    assert verdict.evidence == (2,)
    assert run.close().evidence == (2,)


@pytest.mark.parametrize("carried", [False, True])
def test_old_repeats_fade_as_they_do_without(service: Service, carried: bool) -> None:  # noqa: FBT001 - both worlds
    run = service.begin()
    for _ in range(2):
        service.gives(run, {"total": 7}, "look", order="A")
    for number in range(20):
        service.gives(run, {"total": number}, "look", order=f"B-{number}")
        if carried:
            run = service.carry(run)

    assert service.gives(run, {"total": 7}, "look", order="A") == ""
    assert run.mode is Mode.OPEN


def test_what_was_seen_is_no_news_in_the_next_process(service: Service) -> None:
    """Going round in twelve known things is a loop too; only its first round is new."""
    run = service.begin(postconditions={"done": lambda: False})
    for number in range(2):
        service.gives(run, {"total": number}, "look", order=f"{number}")
    seen = json.loads(run.snapshot())["progress"]["seen"]

    assert len(seen) == 2
    assert len(json.loads(service.carry(run).snapshot())["progress"]["seen"]) == 2


def test_errors_in_a_row_are_carried(make: Callable[..., Service]) -> None:
    service = make(budget=RunBudget(max_consecutive_errors=3))
    run = service.begin()
    for number in range(3):
        assert run.mode is Mode.OPEN
        error = Outcome(status=Status.DEFINITE, error=f"E{number}")
        assert service.bring(run, error, "look", order=f"{number}") == ""
        run = service.carry(run) if number < 2 else run

    assert run.last_reason is Reason.ERROR_STREAK


def test_what_was_said_is_carried(service: Service) -> None:
    run = service.begin()
    for _ in range(3):
        assert run.mode is Mode.OPEN
        run.before_model()
        run.after_model(Usage(), "Let me try once more.")
        run = service.carry(run) if run.mode is Mode.OPEN else run

    assert run.last_reason is Reason.OUTPUT_REPETITION


def test_a_hand_off_that_was_made_is_known(service: Service) -> None:
    run = service.begin()
    service.bring(run, OK, "pass_on", to="refunds", found="nothing")

    run = service.carry(run)
    told = [service.bring(run, OK, "pass_on", to="refunds", found="nothing") for _ in range(3)]

    assert told == ["", "", "handoff_without_progress"]


def test_the_call_counts_on_in_turns_that_were_not_used(service: Service) -> None:
    """An error in the next process is not a sibling of the last one."""
    run = service.begin()
    run.before_model()
    service.bring(run, Outcome(status=Status.DEFINITE, error="E1"), "look", order="A")
    other = service.carry(run)
    service.bring(other, Outcome(status=Status.DEFINITE, error="E2"), "look", order="B")

    assert json.loads(other.snapshot())["progress"]["errors"] == 2


# -- what was denied, changed, stopped


def test_a_denial_holds_in_the_next_process(service: Service) -> None:
    run = service.begin()
    denied = Outcome(status=Status.DENIED, error="DeniedError", rule="limit")
    service.bring(run, denied, "pay", order="A")

    assert service.bring(service.carry(run), OK, "pay", order="A") == "repeated_denial"


def test_what_the_policy_denied_is_counted_on(make: Callable[..., Service]) -> None:
    service = make(policy=lambda _call, _spec: Denial(rule="no-pay"))
    run = service.begin()
    told = []
    for _ in range(3):
        told.append(service.bring(run, OK, "pay", order="A"))
        run = service.carry(run) if run.mode is Mode.OPEN else run

    assert told == ["denied", "denied", "repeated_denial"]


def test_what_others_have_changed_has_to_be_read_again(service: Service) -> None:
    run = service.begin()
    service.gives(run, {"version": "3"}, "look", order="A")
    run.changed("A", was="3")

    other = service.carry(run)
    assert service.bring(other, OK, "pay", order="A") == "stale_resume"
    service.gives(other, {"version": "4"}, "look", order="A")
    third = service.carry(other)

    assert service.bring(third, OK, "pay", order="A") == ""


def test_a_run_that_may_only_read_is_no_other_in_the_next_process(service: Service) -> None:
    run = service.begin()
    service.bring(run, Outcome(status=Status.UNKNOWN), "pay", order="A")
    assert service.bring(run, OK, "pay", order="A") == "unknown_side_effect"
    state = run.snapshot()
    service.store.store_record(
        msgspec.structs.replace(service.store.record_of(run.run_id), ended_as="reconciled")  # type: ignore[type-var]
    )

    other = service.breaker().run(tenant="acme", state=state)

    assert other.mode is Mode.READ_ONLY
    assert service.bring(other, OK, "pay", order="B") == "unknown_side_effect"
    assert other.mode is Mode.STOPPED


def test_a_message_of_the_user_stays_said(service: Service) -> None:
    run = service.begin(request_id="m-1")
    service.bring(run, OK, "pay", order="A")
    run.user_message()
    other = service.carry(run)

    assert service.bring(other, OK, "pay", order="A") == ""
    assert service.bring(service.carry(other), OK, "pay", order="A") == "duplicate_write"


# -- a forked checkpoint rolls nothing back


def test_a_write_after_the_snapshot_is_known_to_a_fork(make: Callable[..., Service]) -> None:
    service = make(budget=RunBudget(max_side_effects=2))
    run = service.begin()
    state = run.snapshot()
    service.bring(run, OK, "pay", order="A")
    service.bring(run, Outcome(status=Status.UNKNOWN), "pay", order="B")

    fork = service.breaker().run(tenant="acme", state=state)

    assert service.bring(fork, OK, "pay", order="A") == "duplicate_write"
    assert [line.remaining for line in fork.budgets()] == [0]
    assert service.bring(fork, OK, "pay", order="C") == "side_effect_budget"


def test_an_unknown_write_of_a_child_is_known_to_the_next_process(service: Service) -> None:
    run = service.begin()
    child = run.child()
    service.bring(child, Outcome(status=Status.UNKNOWN), "pay", order="A")

    other = service.carry(run)

    assert service.bring(other, OK, "pay", order="A") == "unknown_side_effect"
    assert [each.run_id for each in other.close().writes] == [child.run_id]
    assert other.run_id == run.run_id


def test_a_state_is_no_way_round_an_interruption(service: Service) -> None:
    run = service.begin()
    state = run.snapshot()
    run.interrupt("enough")
    run.close()

    with pytest.raises(StateError, match=r"was interrupted \(cancelled\), and that is not over"):
        service.breaker().run(tenant="acme", state=state)
    with pytest.raises(StateError, match="was interrupted"):
        service.carry(run)


def test_a_run_that_was_resumed_goes_on_from_its_own_state(service: Service) -> None:
    run = service.begin()
    run.interrupt("enough")
    record = run.close()
    wanted = Resume(run_id=record.run_id, token_version=1, operator="ada")
    resumed = service.breaker().resume(wanted, authorise=lambda *_: True, reload=lambda _: None)
    state = resumed.snapshot()
    assert resumed.close() is None

    with pytest.raises(StateError, match="had come to its end"):
        service.carry(resumed)
    again = service.breaker().run(tenant="acme", state=state)
    again.interrupt("enough again")
    record = again.close()
    assert (record.token_version, record.message) == (2, "enough again")


def test_nothing_of_it_changes_when_a_state_is_refused(service: Service) -> None:
    run = service.begin()
    service.bring(run, Outcome(status=Status.UNKNOWN), "pay", order="A")
    state = bytearray(run.snapshot())

    with pytest.raises(StateError):
        service.breaker().run(tenant="other", state=state)

    assert bytes(state) == run.snapshot()
    assert service.breaker().run(tenant="acme", state=bytes(state)).run_id == run.run_id


# -- what is wrong with a state


@pytest.mark.parametrize(
    ("about", "told"),
    [
        ({}, r"tenant='acme', and tenant='' was asked for"),
        ({"tenant": "umbrella"}, r"tenant='acme', and tenant='umbrella'"),
        ({"tenant": "acme", "workflow": "other"}, r"workflow='refunds@4', and workflow='other'"),
        ({"tenant": "acme", "request_id": "m-2"}, r"request_id='m-1', and request_id='m-2'"),
    ],
)
def test_a_state_of_another_run_is_refused(
    service: Service, about: dict[str, str], told: str
) -> None:
    state = service.begin(workflow="refunds@4", request_id="m-1").snapshot()

    with pytest.raises(StateError, match=told):
        service.breaker().run(state=state, **about)


def changed(state: bytes, **fields: Any) -> bytes:
    return json.dumps({**json.loads(state), **fields}).encode()


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda _: "text", r"a state is bytes, as snapshot\(\) gives them, not str"),
        (lambda _: b"", "this is no state of a run"),
        (lambda _: b"\xff\xfe", "this is no state of a run"),
        (lambda _: b"[1, 2]", "this is no state of a run"),
        (lambda _: b'{"a": 1}', "its format is ''"),
        (lambda _: b"[" * 50_000, "this is no state of a run"),
        (lambda state: state[:-2], "this is no state of a run"),
        (lambda state: state + b" " * MOST_BYTES, "a state has 65536 at most"),
        (lambda state: changed(state, format="other"), "its format is 'other' and not"),
        (lambda state: changed(state, version=2), "has version 2, and this release .* up to 1"),
        (lambda state: changed(state, version=0), "there is no version 0"),
        (lambda state: changed(state, turns=-1), r"damaged: .*\$\.turns"),
        (lambda state: changed(state, turns="3"), r"damaged: .*\$\.turns"),
        (lambda state: changed(state, mode="asleep"), r"damaged: .*asleep"),
        (lambda state: changed(state, run_id=None), r"damaged: .*\$\.run_id"),
        (lambda state: changed(state, spent={"max_turns": "NaN"}), "damaged: max_turns is NaN"),
        (lambda state: changed(state, spent={"max_turns": "-4"}), "damaged: max_turns is -4"),
        (lambda state: changed(state, elapsed_s=-1), r"damaged: .*\$\.elapsed_s"),
    ],
)
def test_a_state_that_is_none_says_what_is_wrong(
    service: Service, spoil: Callable[[bytes], Any], told: str
) -> None:
    state = spoil(service.begin().snapshot())

    with pytest.raises(StateError, match=told):
        service.breaker().run(tenant="acme", state=state)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_bytes_raise_anything_but_a_state_error(data: st.DataObject) -> None:
    service = Service()
    run = service.begin()
    service.bring(run, OK, "pay", order="A")
    state = run.snapshot()
    start = data.draw(st.integers(0, len(state)))
    end = data.draw(st.integers(start, len(state)))
    spoilt = state[:start] + data.draw(st.binary(max_size=8)) + state[end:]

    try:
        other = service.breaker().run(tenant="acme", state=spoilt)
    except StateError:
        return
    assert other.run_id


# -- size and secrets


def test_a_state_holds_no_payloads(service: Service) -> None:
    run = service.begin()
    secret = "sk-" + "x" * 30
    for number in range(4):
        service.gives(run, {"note": secret, "n": number}, "look", order="A", note=secret)
    service.bring(run, Outcome(status=Status.DENIED, rule="r"), "pay", order="B", why=secret)
    run.before_model()
    run.after_model(Usage(), secret)

    assert secret not in run.snapshot().decode()


def test_a_long_run_is_carried_in_64_kib(service: Service) -> None:
    run = service.begin()
    for number in range(2500):
        service.gives(run, {"total": number}, "look", order=f"{number}")
    for number in range(600):
        service.bring(
            run, Outcome(status=Status.DENIED, rule=f"r{number}"), "pay", order=f"{number}"
        )
        with run.task(f"task {number}"):
            pass
    state = run.snapshot()
    known = json.loads(state)

    assert len(state) <= MOST_BYTES
    assert known["spent"]["max_tool_calls"] == "3100"
    # What counts is there to the last; what was seen is not, the oldest first.
    assert known["attempts"] == {f"task {number}": 1 for number in range(600)}
    assert service.carry(run).stats().side_effects == run.stats().side_effects


def test_what_was_seen_last_is_kept(service: Service) -> None:
    run = service.begin()
    for number in range(2500):
        service.gives(run, {"total": number}, "look", order=f"{number}")
    state = json.loads(run.snapshot())

    again = json.loads(service.carry(run).snapshot())
    kept = state["progress"]["seen"]
    assert 100 < len(kept) < 2500
    assert again["progress"]["seen"] == kept
    known = run._controller._core.state.history.seen  # noqa: SLF001 - what is kept is not told
    assert tuple(kept) == known[-len(kept) :]


def test_ids_that_are_too_long_are_told(service: Service) -> None:
    run = service.breaker().run(tenant="t" * MOST_BYTES)

    with pytest.raises(StateError, match="a state has 65536 at most"):
        run.snapshot()


def test_half_a_character_in_the_name_of_a_rule_can_be_carried(service: Service) -> None:
    run = service.begin()
    service.bring(run, Outcome(status=Status.DENIED, rule="\ud83d"), "pay", order="A")

    assert service.bring(service.carry(run), OK, "pay", order="A") == "repeated_denial"


def test_a_snapshot_changes_nothing_and_can_be_made_at_any_time(service: Service) -> None:
    run = service.begin()
    call = service.call("pay", order="A")
    assert run.decide(call).allowed

    assert run.snapshot() == run.snapshot()
    run.settle(call, OK)
    assert run.close() is None
    assert [each.status for each in service.store.of_run(run.run_id)] == [WriteStatus.CONFIRMED]


# -- property: carried at any moment, it decides as if it had not been


def family(reason: str) -> str:
    return str(Reason(reason).family) if reason else ""


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["look", "look", "pay"]),
        st.sampled_from(["A", "B", "C"]),
        st.sampled_from([Status.OK, Status.OK, Status.TRANSIENT, Status.DEFINITE]),
        st.booleans(),
    ),
    max_size=25,
)


CARRIED = tuple(each for each in progress.RULES if each.__name__ not in {"cycle", "handoff"})


class Pair:
    """Two runs that do the same, one of which is carried from process to process."""

    def __init__(self) -> None:
        budget = RunBudget(max_turns=20, max_tool_calls=15, max_side_effects=4, max_same_intent=8)
        self.stays, self.moves = Service(budget=budget), Service(budget=budget)
        self.one, self.other = self.stays.begin(), self.moves.begin()

    def take(self, step: tuple[str, str, Status, bool]) -> tuple[str, str]:
        """Take one step in both; returns why not. Each has a turn of its own: what is carried in
        the middle of one is no sibling any more.
        """
        tool, order, status, carried = step
        for run in (self.one, self.other):
            run.before_model()
        outcome = Outcome(status=status, result={"of": order}, error=f"{status}")
        told = self.stays.bring(self.one, outcome, tool, order=order)
        other = self.moves.bring(self.other, outcome, tool, order=order)
        if carried and self.other.mode is Mode.OPEN:
            self.other = self.moves.carry(self.other)
        return told, other


@settings(max_examples=40, deadline=None)
@given(STEPS)
def test_a_run_decides_the_same_whether_it_is_carried_or_not(
    steps: list[tuple[str, str, Status, bool]],
) -> None:
    with mock.patch.object(progress, "RULES", CARRIED):
        pair = Pair()
        for step in steps:
            told, other = pair.take(step)
            # How a loop is called may rest on steps that are not carried.
            assert family(other) == family(told)
            assert pair.other.mode is pair.one.mode
            assert [each.remaining for each in pair.other.budgets()] == [
                each.remaining for each in pair.one.budgets()
            ]


@settings(max_examples=40, deadline=None)
@given(STEPS)
def test_nothing_is_stopped_only_because_it_was_carried(
    steps: list[tuple[str, str, Status, bool]],
) -> None:
    pair = Pair()
    for step in steps:
        pair.take(step)
        assert pair.other.mode is Mode.OPEN or pair.one.mode is not Mode.OPEN


def test_run_that_has_written_goes_on_only_where_its_writes_are_known() -> None:
    spec = ToolSpec(name="pay", effect="write", identity=("order",))  # type: ignore[arg-type]
    breaker = Breaker(specs={"pay": spec})
    run = breaker.run(tenant="acme", request_id="m-1")
    made = ToolCall(call_id="c", tool="pay", arguments={"order": "O-1"})
    assert run.decide(made).allowed
    run.settle(made, Outcome(status=Status.OK, result={"id": 1}))
    state = run.snapshot()

    with pytest.raises(StateError, match="this store knows nothing"):
        Breaker(specs={"pay": spec}).run(tenant="acme", state=state)

    with breaker.run(tenant="acme", state=state) as later:
        assert later.decide(made).reason is Reason.DUPLICATE_WRITE


def test_children_of_a_run_taken_up_again_are_named_apart_from_those_before(
    service: Service,
) -> None:
    run = service.begin()
    before = run.child()

    after = service.carry(run).child()

    assert after.run_id != before.run_id
