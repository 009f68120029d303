"""The clock of a run in production: what one process writes down, another compares."""

from __future__ import annotations

import pytest

from pytest_tripwire.breaker.clock import SystemClock


class Machine:
    """What a machine says of the time: on its wall, and since it was started."""

    def __init__(self) -> None:
        self.wall, self.up = 1_000_000.0, 50.0

    def pass_by(self, seconds: float, *, seen: float | None = None) -> None:
        """`seconds` pass on the wall; the machine has `seen` so many of them."""
        self.wall += seconds
        self.up += seconds if seen is None else seen


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
def clock(machine: Machine) -> SystemClock:
    return SystemClock(wall=lambda: machine.wall, ticks=lambda: machine.up)


def test_it_says_what_is_on_the_wall(machine: Machine, clock: SystemClock) -> None:
    assert clock.now() == 1_000_000
    machine.pass_by(12.5)
    assert clock.now() == 1_000_012.5


def test_a_machine_that_slept_does_not_lag_behind_the_others(
    machine: Machine, clock: SystemClock
) -> None:
    """Its leases would be over for the others while its writes are on their way."""
    machine.pass_by(3600, seen=1)
    assert clock.now() == 1_003_600
    machine.pass_by(2)
    assert clock.now() == 1_003_602


def test_it_never_goes_back_and_never_stands_still(machine: Machine, clock: SystemClock) -> None:
    machine.pass_by(-3600, seen=5)  # somebody has set the wall's clock right
    assert clock.now() == 1_000_005
    machine.pass_by(5)
    assert clock.now() == 1_000_010


def test_small_corrections_of_the_wall_charge_nobody(machine: Machine, clock: SystemClock) -> None:
    for corrected in (0.9, -0.9, 0.5, -0.5):
        machine.pass_by(1 + corrected, seen=1)
    assert clock.now() == 1_000_004


def test_a_new_process_and_an_old_one_say_the_same(machine: Machine, clock: SystemClock) -> None:
    machine.pass_by(86_400, seen=80_000)
    new = SystemClock(wall=lambda: machine.wall, ticks=lambda: machine.up)

    assert clock.now() == new.now()
