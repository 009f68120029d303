"""Good work is never stopped, however much it looks like going round in circles."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from . import good_batches, good_coding, good_helping, good_keeping
from .driver import Driver, Mode, ToolSpec, bare
from .good_runs import DECLARED, GOOD, Script

MODULES = (good_batches, good_coding, good_helping, good_keeping)
#: Seconds that pass before each call: none, as in a trace without times, and as models take.
PAUSES = pytest.mark.parametrize("pause_s", [0.0, 5.0], ids=["at once", "with pauses"])


def play(script: Script, specs: Sequence[ToolSpec], pause_s: float) -> None:
    """Play a run; fails at the first call that is not let through."""
    driver = Driver(*specs, pause_s=pause_s)
    script(driver)

    stopped = [(n, each) for n, each in enumerate(driver.verdicts, 1) if not each.allowed]
    assert driver.verdicts
    assert stopped[:1] == []
    assert driver.run.mode is Mode.OPEN, driver.reason


@PAUSES
@pytest.mark.parametrize("name", GOOD)
def test_good_run_of_which_nothing_is_declared(name: str, pause_s: float) -> None:
    specs, script = GOOD[name]

    play(script, [bare(each) for each in specs], pause_s)


@PAUSES
@pytest.mark.parametrize("name", [*GOOD, *DECLARED])
def test_good_run_with_declarations(name: str, pause_s: float) -> None:
    specs, script = {**GOOD, **DECLARED}[name]

    play(script, specs, pause_s)


def test_runs_are_long_enough_to_be_mistaken() -> None:
    for specs, script in [*GOOD.values(), *DECLARED.values()]:
        driver = Driver(*specs)
        script(driver)
        assert len(driver.verdicts) >= 2, script.__name__


def test_every_run_is_played() -> None:
    written = {
        name
        for module in MODULES
        for name, each in vars(module).items()
        if getattr(each, "__module__", "") == module.__name__
    }

    assert written == GOOD.keys() | DECLARED.keys()
    assert len(written) > 100
