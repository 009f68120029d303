"""The circuit in use: the four classic trips, siblings, the probe and what stands beside it."""

from __future__ import annotations

import itertools
import math
from typing import Any

import msgspec
import pytest

from pytest_tripwire.breaker.circuit import (
    CircuitPolicy,
    CircuitRefusal,
    Circuits,
    CircuitsMemory,
    CircuitState,
    CircuitTicket,
)
from pytest_tripwire.breaker.rounds import Rounds
from pytest_tripwire.timeline import Reason, Status

CLOSED, OPEN, HALF_OPEN = CircuitState.CLOSED, CircuitState.OPEN, CircuitState.HALF_OPEN
FAILED, OK = Status.TRANSIENT, Status.OK


class Loop:
    """An agent's loop over circuits that are wired as a controller wires them."""

    def __init__(self, policy: CircuitPolicy, memory: CircuitsMemory | None = None) -> None:
        self.circuits = Circuits(policy, memory)
        self.rounds = Rounds()
        self.numbers = itertools.count(1)
        self.turn = 0
        self.now = 0.0

    def propose(self, tool: str = "a", call: str = "") -> CircuitTicket | CircuitRefusal:
        call = call or f"{tool}-{next(self.numbers)}"
        turn = self.rounds.of_call(self.turn)
        refusal = self.circuits.peek(tool, call, turn=turn, now=self.now)
        if refusal is not None:
            self.circuits.reject(refusal, now=self.now)
            return refusal
        return self.circuits.admit(tool, call, turn=turn, now=self.now)

    def begin(self, tool: str = "a", call: str = "") -> CircuitTicket:
        ticket = self.propose(tool, call)
        assert isinstance(ticket, CircuitTicket), ticket
        return ticket

    def refuse(self, tool: str = "a", call: str = "") -> CircuitRefusal:
        refusal = self.propose(tool, call)
        assert isinstance(refusal, CircuitRefusal), refusal
        return refusal

    def settle(self, ticket: CircuitTicket, status: Status, seq: int = 0) -> tuple[Any, ...]:
        self.rounds.came_back()
        return self.circuits.settle(ticket, status, now=self.now, seq=seq)

    def call(self, status: Status, tool: str = "a", call: str = "", seq: int = 0) -> Any:
        return self.settle(self.begin(tool, call), status, seq)

    def batch(self, *statuses: Status) -> None:
        """One message with a call for each status; all begin before any comes back."""
        tickets = [self.begin() for _ in statuses]
        for ticket, status in zip(tickets, statuses, strict=True):
            self.settle(ticket, status)

    def arm(self, tool: str = "a") -> None:
        """Reject calls until the probe is armed."""
        while self.state(tool) is OPEN:
            self.refuse(tool)

    def state(self, tool: str = "a") -> CircuitState:
        return self.circuits.state(tool, now=self.now)


@pytest.fixture
def weekend() -> Loop:
    return Loop(CircuitPolicy.preset("weekend"))


@pytest.fixture
def down() -> Loop:
    """A loop whose tool `a` has just failed three times in a row."""
    loop = Loop(CircuitPolicy(errors=3, cooldown=4))
    for _ in range(3):
        loop.call(FAILED)
    return loop


# -- the four classics


def test_an_identical_call_opens(weekend: Loop) -> None:
    weekend.call(OK, call="same")
    weekend.call(OK, call="same")

    assert weekend.refuse(call="same").reason is Reason.IDENTICAL_CALL
    assert weekend.state("") is OPEN
    assert weekend.circuits.last_trip is Reason.IDENTICAL_CALL


def test_an_error_streak_opens(weekend: Loop) -> None:
    told = [weekend.call(FAILED, seq=seq) for seq in (11, 12, 13)]

    assert weekend.state() is OPEN
    assert weekend.refuse().reason is Reason.CIRCUIT_OPEN
    assert weekend.circuits.last_trip is Reason.CIRCUIT_OPEN
    assert told[:2] == [(), ()]
    ((trip,),) = told[2:]
    assert (trip.circuit, trip.reason, trip.errors) == ("a", Reason.CIRCUIT_OPEN, 3)
    assert trip.evidence == (11, 12, 13)


def test_the_turn_cap_opens(weekend: Loop) -> None:
    for _ in range(8):
        weekend.turn += 1
        weekend.call(OK)
        weekend.call(OK, tool="b")  # a turn may hold several calls
    weekend.turn += 1

    assert weekend.refuse().reason is Reason.TURN_BUDGET
    assert weekend.state("") is OPEN


def test_a_probe_closes(weekend: Loop) -> None:
    for _ in range(3):
        weekend.call(FAILED)
    weekend.arm()

    weekend.call(OK)

    assert weekend.state() is CLOSED
    assert weekend.circuits.backoff("a") == 1


# -- what a refusal says


def test_the_proposal_that_trips_is_told_why_and_the_others_that_the_circuit_is_open(
    weekend: Loop,
) -> None:
    weekend.call(OK, call="same")
    weekend.call(OK, call="same")
    tripped, other = weekend.refuse(call="same"), weekend.refuse("b")

    assert (tripped.reason, tripped.cause, tripped.opens) == (*[Reason.IDENTICAL_CALL] * 2, True)
    assert "3 times in a row" in tripped.message
    assert (other.reason, other.cause) == (Reason.CIRCUIT_OPEN, Reason.IDENTICAL_CALL)
    assert (other.circuit, other.tool, other.opens) == ("", "b", False)
    assert "identical_call" in other.message


def test_a_refusal_for_errors_names_the_tool_and_the_events(weekend: Loop) -> None:
    for seq in (4, 5, 6):
        weekend.call(FAILED, tool="find", seq=seq)

    refusal = weekend.refuse("find")

    assert (refusal.circuit, refusal.evidence) == ("find", (4, 5, 6))
    assert "find has failed 3 times in a row" in refusal.message
    assert refusal.retry_after is None


def test_evidence_is_of_the_errors_since_the_last_answer() -> None:
    loop = Loop(CircuitPolicy(errors=2))
    loop.call(FAILED, seq=1)
    loop.call(OK, seq=2)
    loop.call(FAILED, seq=3)
    loop.call(FAILED, seq=4)

    assert loop.refuse().evidence == (3, 4)


def test_evidence_is_of_errors_that_were_counted_and_known() -> None:
    loop = Loop(CircuitPolicy(errors=2))
    loop.turn = 1
    loop.call(FAILED, seq=1)
    loop.call(FAILED, seq=2)
    loop.turn = 2
    loop.call(FAILED)

    assert loop.refuse().evidence == (1,)


def test_with_a_clock_a_refusal_says_how_long_to_wait() -> None:
    loop = Loop(CircuitPolicy(errors=1, cooldown_s=0.3))
    loop.now = 0.7
    loop.call(FAILED)
    loop.now = 0.9
    wait = loop.refuse().retry_after
    assert wait is not None
    assert wait == pytest.approx(0.1)

    loop.now += wait

    assert loop.begin().probes
    assert loop.refuse().retry_after is None  # nobody knows when the probe comes back


@pytest.mark.parametrize(
    ("errors", "seconds"), [(0, 1), (1, 2), (3, 8), (5, 32), (6, 60), (80, 60)]
)
def test_backoff_doubles_with_every_error_in_a_row_up_to_a_minute(
    errors: int, seconds: float
) -> None:
    loop = Loop(CircuitPolicy(errors=1000))
    for _ in range(errors):
        loop.call(FAILED)
    loop.call(FAILED, tool="b")
    loop.call(OK, tool="b")

    assert loop.circuits.backoff("a") == loop.circuits.backoff() == seconds
    assert loop.circuits.backoff("b") == loop.circuits.backoff("never called") == 1


def test_a_failed_probe_makes_the_backoff_longer(down: Loop) -> None:
    assert down.circuits.backoff("a") == 8
    down.arm()
    (trip,) = down.call(FAILED)

    assert down.circuits.backoff("a") == 16
    assert (trip.circuit, trip.errors) == ("a", 4)


# -- siblings


@pytest.mark.parametrize("step", [1, 0], ids=["turns-told", "turns-not-told"])
def test_siblings_that_fail_together_count_once(step: int) -> None:
    loop = Loop(CircuitPolicy())
    for _ in range(4):
        loop.turn += step
        loop.batch(*[FAILED] * 6)
    assert loop.state() is CLOSED

    loop.turn += step
    loop.batch(*[FAILED] * 6)

    assert loop.state() is OPEN


def test_five_parallel_reads_that_fail_and_then_succeed_open_nothing() -> None:
    loop = Loop(CircuitPolicy())
    loop.turn = 1
    loop.batch(*[FAILED] * 5)
    loop.turn = 2
    loop.batch(*[OK] * 5)

    assert loop.state() is CLOSED
    assert loop.circuits.backoff() == 1


def test_siblings_that_a_framework_runs_one_by_one_count_once_where_turns_are_told() -> None:
    loop = Loop(CircuitPolicy(errors=2))
    loop.turn = 1
    for _ in range(5):
        loop.call(FAILED)

    assert loop.state() is CLOSED


@pytest.mark.parametrize("order", list(itertools.permutations([FAILED, FAILED, OK])))
def test_a_turn_in_which_one_succeeds_is_no_error_turn(order: tuple[Status, ...]) -> None:
    loop = Loop(CircuitPolicy(errors=3))
    loop.turn = 1
    loop.call(FAILED)
    loop.turn = 2
    loop.call(FAILED)
    for turn in range(3, 20):
        loop.turn = turn
        loop.batch(*order)

    assert loop.state() is CLOSED


@pytest.mark.parametrize("order", [(FAILED, OK), (OK, FAILED)])
def test_nor_is_it_at_the_very_beginning(order: tuple[Status, ...]) -> None:
    loop = Loop(CircuitPolicy(errors=1))
    loop.turn = 1
    loop.batch(*order)

    assert loop.state() is CLOSED


def test_the_last_of_siblings_that_all_fail_opens_and_no_earlier_one() -> None:
    loop = Loop(CircuitPolicy(errors=1))
    tickets = [loop.begin() for _ in range(3)]

    told = [loop.settle(ticket, FAILED) for ticket in tickets]

    assert [[trip.circuit for trip in trips] for trips in told] == [[], [], ["a"]]


def test_calls_of_other_tools_are_not_waited_for() -> None:
    loop = Loop(CircuitPolicy(errors=1))
    loop.turn = 1
    loop.begin("b")

    loop.call(FAILED)

    assert loop.state() is OPEN


@pytest.mark.parametrize("given_up", [True, False])
def test_a_sibling_without_an_outcome_puts_it_off_by_one_turn(given_up: bool) -> None:  # noqa: FBT001 - a parameter
    loop = Loop(CircuitPolicy(errors=3))
    for turn in range(1, 5):
        loop.turn = turn
        assert loop.state() is CLOSED
        sibling = loop.begin()
        loop.call(FAILED)
        if given_up:
            loop.circuits.abandon(sibling)

    assert loop.state() is OPEN


def test_a_sibling_that_is_given_up_first_puts_nothing_off() -> None:
    loop = Loop(CircuitPolicy(errors=1))
    siblings = loop.begin(), loop.begin()

    loop.circuits.abandon(siblings[0])
    loop.settle(siblings[1], FAILED)

    assert loop.state() is OPEN


def test_a_sibling_that_answers_after_all_closes_what_its_turn_has_opened() -> None:
    loop = Loop(CircuitPolicy(errors=1))
    loop.turn = 1
    hangs = loop.begin()
    loop.call(FAILED)
    loop.turn = 2
    siblings = loop.begin(), loop.begin()
    loop.settle(siblings[0], FAILED)
    assert loop.state() is OPEN

    loop.settle(siblings[1], OK)
    assert loop.state() is CLOSED
    loop.settle(hangs, FAILED)
    assert loop.state() is CLOSED


def test_a_circuit_that_is_as_new_is_not_carried_though_a_call_is_under_way() -> None:
    loop = Loop(CircuitPolicy())
    loop.begin()

    assert loop.circuits.snapshot(0).circuits == {}


def test_a_success_of_an_older_turn_does_not_close_what_has_opened_since() -> None:
    loop = Loop(CircuitPolicy(errors=2))
    loop.turn = 1
    slow = loop.begin()
    for turn in (2, 3):
        loop.turn = turn
        loop.call(FAILED)

    loop.settle(slow, OK)

    assert loop.state() is OPEN


# -- the probe


def test_calls_beside_the_probe_are_refused_however_many(down: Loop) -> None:
    down.arm()
    probe = down.begin()

    assert {down.refuse().reason for _ in range(50)} == {Reason.CIRCUIT_OPEN}
    assert down.state() is HALF_OPEN
    down.settle(probe, OK)
    assert down.begin().probes == ()


def test_other_tools_run_beside_the_probe(down: Loop) -> None:
    down.arm()
    probe = down.begin()
    down.call(OK, tool="b")
    down.call(FAILED, tool="b")

    assert down.state() is HALF_OPEN
    down.settle(probe, OK)
    assert down.state() is CLOSED


def test_a_probe_that_is_taken_back_makes_way_for_another(down: Loop) -> None:
    down.arm()
    down.circuits.abandon(down.begin())

    assert down.state() is HALF_OPEN
    down.call(OK)
    assert down.state() is CLOSED


def test_what_is_looked_at_only_takes_no_probe(down: Loop) -> None:
    down.arm()
    for _ in range(3):
        assert down.circuits.peek("a", "x", turn=90, now=0) is None

    assert down.begin().probes


def test_a_probe_that_never_comes_back_is_given_up_after_its_lease() -> None:
    loop = Loop(CircuitPolicy(errors=1, cooldown=1, probe_lease_s=60))
    loop.call(FAILED)
    loop.arm()
    lost = loop.begin()
    loop.now = 59.9
    loop.refuse()
    loop.now = 60.0
    second = loop.begin()

    loop.settle(lost, OK)
    assert loop.state() is HALF_OPEN
    loop.refuse()
    loop.circuits.abandon(lost)
    loop.refuse()
    loop.settle(second, OK)
    assert loop.state() is CLOSED


def test_a_call_from_before_the_circuit_opened_decides_nothing() -> None:
    loop = Loop(CircuitPolicy(errors=1, cooldown=1))
    loop.turn = 1
    early = [loop.begin(), loop.begin()]
    loop.turn = 2
    loop.call(FAILED)
    loop.arm()
    probe = loop.begin()

    loop.settle(early[0], FAILED)
    loop.settle(early[1], OK)
    assert loop.state() is HALF_OPEN
    loop.settle(probe, FAILED)
    assert loop.state() is OPEN


def test_settling_a_probe_twice_changes_nothing(down: Loop) -> None:
    down.arm()
    probe = down.begin()
    down.settle(probe, FAILED)
    down.refuse()

    down.settle(probe, OK)

    assert [down.state(), *[down.refuse() and down.state() for _ in range(3)]] == [
        OPEN,
        OPEN,
        OPEN,
        HALF_OPEN,
    ]


def test_settling_a_probe_twice_does_not_open_what_it_has_closed(down: Loop) -> None:
    down.arm()
    probe = down.begin()
    down.settle(probe, OK)

    assert down.settle(probe, FAILED) == ()
    assert down.state() is CLOSED


def test_one_call_can_be_the_probe_of_its_tool_and_of_the_run(weekend: Loop) -> None:
    for _ in range(3):
        weekend.call(FAILED, call=f"new {next(weekend.numbers)}")
    weekend.arm()
    weekend.call(OK, tool="b", call="same")
    weekend.call(OK, tool="b", call="same")
    weekend.refuse("b", "same")
    weekend.arm("")

    probe = weekend.begin()
    assert [name for name, _ in probe.probes] == ["", "a"]
    assert {weekend.refuse("b").circuit, weekend.refuse("a").circuit} == {""}
    trips = weekend.settle(probe, FAILED)

    assert [(trip.circuit, trip.reason) for trip in trips] == [
        ("", Reason.IDENTICAL_CALL),
        ("a", Reason.CIRCUIT_OPEN),
    ]
    assert (weekend.state(""), weekend.state("a")) == (OPEN, OPEN)


def test_a_tool_that_is_down_does_not_use_up_the_probe_of_the_run(weekend: Loop) -> None:
    for _ in range(3):
        weekend.call(FAILED)
    for _ in range(2):
        weekend.call(OK, tool="b", call="same")
    weekend.refuse("b", "same")
    weekend.arm("")

    assert weekend.refuse("a").circuit == "a"
    assert weekend.begin("b", "same").probes


# -- identical proposals


def test_what_something_else_refused_is_a_proposal_all_the_same(weekend: Loop) -> None:
    weekend.call(OK, call="same")
    weekend.circuits.note("same")
    assert weekend.refuse(call="same").reason is Reason.IDENTICAL_CALL


def test_what_something_else_refused_is_a_call_between(weekend: Loop) -> None:
    weekend.call(OK, call="same")
    weekend.call(OK, call="same")
    weekend.circuits.note("other")
    weekend.call(OK, call="same")
    weekend.call(OK, call="same")

    assert weekend.state("") is CLOSED


def test_what_the_circuit_of_a_tool_refused_is_a_proposal_too(weekend: Loop) -> None:
    for _ in range(3):
        weekend.call(FAILED)
    told = [weekend.refuse(call="same").reason for _ in range(3)]

    assert told == [Reason.CIRCUIT_OPEN, Reason.CIRCUIT_OPEN, Reason.IDENTICAL_CALL]


def test_identical_siblings_of_one_message_count_each(weekend: Loop) -> None:
    weekend.begin(call="same")
    weekend.begin(call="same")

    assert weekend.refuse(call="same").reason is Reason.IDENTICAL_CALL


def test_polling_with_other_calls_between_trips_nothing(weekend: Loop) -> None:
    weekend.turn = 1
    for _ in range(20):
        weekend.call(OK, call="poll")
        weekend.call(OK, tool="b")

    assert weekend.state("") is CLOSED


# -- carried to another process


def carried(loop: Loop, policy: CircuitPolicy, now: float = 0.0) -> Loop:
    """The loop as another process goes on with it, by way of JSON, on a clock of its own."""
    data = msgspec.json.encode(loop.circuits.snapshot(loop.now))
    other = Loop(policy)
    other.circuits = Circuits(policy, msgspec.json.decode(data, type=CircuitsMemory), now)
    other.now = now
    other.turn = loop.turn
    other.numbers = loop.numbers
    return other


def test_circuits_go_on_where_they_were() -> None:
    policy = CircuitPolicy(errors=3, cooldown=4)
    loop = Loop(policy)
    loop.call(FAILED)
    loop.call(FAILED)
    loop = carried(loop, policy)
    loop.call(FAILED)
    assert loop.state() is OPEN
    loop.refuse()
    loop = carried(loop, policy)
    for _ in range(3):
        assert loop.state() is OPEN
        loop.refuse()
    loop = carried(loop, policy)
    assert loop.state() is HALF_OPEN
    assert loop.circuits.last_trip is Reason.CIRCUIT_OPEN
    loop.call(OK)
    assert loop.state() is CLOSED
    assert loop.circuits.snapshot(0).circuits == {}


def test_time_that_has_passed_stays_passed_on_another_clock() -> None:
    policy = CircuitPolicy(errors=1, cooldown_s=30)
    loop = Loop(policy)
    loop.now = 1000.0
    loop.call(FAILED)
    loop.now = 1020.0

    loop = carried(loop, policy, now=5.0)

    assert loop.refuse().retry_after == 10
    loop.now = 15.0
    assert loop.state() is HALF_OPEN


def test_a_probe_under_way_stays_behind_and_wedges_nothing(down: Loop) -> None:
    down.arm()
    down.begin()

    other = carried(down, CircuitPolicy(errors=3, cooldown=4))

    assert other.begin().probes


def test_identical_proposals_are_counted_on() -> None:
    policy = CircuitPolicy.preset("weekend")
    loop = Loop(policy)
    loop.call(OK, call="same")
    loop.call(OK, call="same")

    assert carried(loop, policy).refuse(call="same").reason is Reason.IDENTICAL_CALL


@pytest.mark.parametrize("policy", [CircuitPolicy(turns=0), CircuitPolicy(identical=2)])
def test_the_circuit_of_the_run_goes_on_too(policy: CircuitPolicy) -> None:
    loop = Loop(policy)
    loop.propose(call="same")
    loop.propose(call="same")
    assert loop.state("") is OPEN

    assert carried(loop, policy).state("") is OPEN


def test_a_policy_without_such_a_circuit_does_not_take_it_over(weekend: Loop) -> None:
    for _ in range(3):
        weekend.call(FAILED)
    for _ in range(3):
        weekend.propose("b", "same")

    assert carried(weekend, CircuitPolicy()).state("") is CLOSED
    assert carried(weekend, CircuitPolicy.preset("off")).state("a") is CLOSED


# -- policies


def test_the_weekend_preset_says_what_it_says() -> None:
    assert CircuitPolicy.preset("weekend") == CircuitPolicy(
        turns=8, identical=3, errors=3, cooldown=4
    )
    assert CircuitPolicy.preset("weekend", turns=None).turns is None
    assert CircuitPolicy.preset("default") == CircuitPolicy() == CircuitPolicy(errors=5, cooldown=4)


def test_an_unknown_preset_is_told_the_known_ones() -> None:
    with pytest.raises(
        ValueError, match=r"'weekened'.*Did you mean 'weekend'\? Presets: default, "
    ):
        CircuitPolicy.preset("weekened")


@pytest.mark.parametrize(
    ("field", "bad"),
    [
        ("errors", 0),
        ("errors", True),
        ("errors", 2.0),
        ("identical", 1),
        ("turns", -1),
        ("cooldown", 0),
        ("cooldown", None),
        ("cooldown_s", 0),
        ("cooldown_s", math.nan),
        ("cooldown_s", True),
        ("probe_lease_s", None),
        ("probe_lease_s", math.inf),
    ],
)
def test_a_policy_that_no_circuit_could_keep_is_refused_by_name(field: str, bad: Any) -> None:
    with pytest.raises(
        ValueError, match=rf"CircuitPolicy\({field}={bad!r}\): .* or more|more than"
    ):
        CircuitPolicy(**{field: bad})
