"""A run that is held by another run's write goes on when that is certain."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from pytest_tripwire.breaker import (
    Breaker,
    BreakerRun,
    Interrupted,
    InterruptionRecord,
    Resume,
    ResumeRefusedError,
    ToolSpec,
)
from pytest_tripwire.timeline import SafeAction, WriteStatus

SPECS = {"pay": ToolSpec(name="pay", effect="write", identity=("order",))}


def lose(order: str) -> None:
    raise TimeoutError(order)


def guarded(run: BreakerRun) -> Any:
    return run.guard({"pay": lose}, SPECS)["pay"]


def interrupted(breaker: Breaker, order: str) -> InterruptionRecord:
    """A run that loses a write, or meets one that is lost."""
    with pytest.raises(Interrupted) as caught, breaker.run() as run, suppress(TimeoutError):
        guarded(run)(order)
    return caught.value.record


def resumed(breaker: Breaker, record: InterruptionRecord) -> BreakerRun:
    wanted = Resume(run_id=record.run_id, token_version=record.token_version, operator="ada")
    return breaker.resume(wanted, authorise=lambda *_: True, reload=lambda _: None)


def test_a_run_that_another_ones_write_holds_waits_for_that_to_be_certain() -> None:
    breaker = Breaker()
    maker = interrupted(breaker, "A-1")
    held = interrupted(breaker, "A-1")
    assert held.writes == ()
    assert SafeAction.RESUME not in held.safe_actions

    with pytest.raises(ResumeRefusedError, match="the outcome of pay is unknown"):
        resumed(breaker, held)

    breaker.store.settle(maker.writes[0].key, WriteStatus.REJECTED, came_back=True)
    assert resumed(breaker, held).mode == "open"


def test_what_others_have_lost_elsewhere_holds_it_not() -> None:
    breaker = Breaker()
    interrupted(breaker, "A-1")
    held = interrupted(breaker, "A-1")
    other = interrupted(breaker, "B-2")
    breaker.store.settle(other.writes[0].key, WriteStatus.REJECTED, came_back=True)

    assert resumed(breaker, other).mode == "open"
    with pytest.raises(ResumeRefusedError):
        resumed(breaker, held)
