"""Single demands, for tests that say what must hold."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_tripwire.harness.failures import TripwireFailure
from pytest_tripwire.harness.run import Run
from pytest_tripwire.oracle import timeline_text
from pytest_tripwire.timeline import Dispatch, Effect, Family, Reason


def assert_interrupted(run: Run, reason: str | Iterable[str] | None = None) -> None:
    """Demand that the run was interrupted.

    Args:
        run: what `tripwire.run()` returned.
        reason: a reason, a family of reasons, or several; any reason when left out.

    Raises:
        TripwireFailure: if it was not, or for another reason.
        ValueError: for a reason that does not exist.
    """
    __tracebackhide__ = True
    wanted = _parsed(reason)
    if not run.interrupted:
        raise _failure(run, f"the run was not interrupted: it {run.cell.ending}", 0)
    if wanted and run.reason not in wanted and not (run.reason and run.reason.family in wanted):
        names = ", ".join(sorted(wanted))
        raise _failure(
            run, f"the run was interrupted for {run.reason}, not for {names}", run.stop_seq
        )


def assert_no_mutation_after_interrupt(run: Run) -> None:
    """Demand that no write was dispatched after the interruption. One that was dispatched before
    may land later.

    Raises:
        TripwireFailure: if one was, or if there was no interruption at all.
    """
    __tracebackhide__ = True
    if not run.interrupted:
        raise _failure(run, f"there was no interruption: the run {run.cell.ending}", 0)
    for event in run.events:
        late = event.seq > run.stop_seq
        if late and isinstance(event, Dispatch) and event.effect is Effect.WRITE:
            text = f"{event.tool} was dispatched after the interruption at {run.stop_seq}"
            raise _failure(run, text, event.seq)


def _parsed(reason: str | Iterable[str] | None) -> frozenset[Reason | Family]:
    if reason is None:
        return frozenset()
    names = [reason] if isinstance(reason, str) else list(reason)
    if not names:
        raise ValueError("assert_interrupted(reason=[]): give a reason, or leave it out for any")
    return frozenset(_reason(name) for name in names)


def _reason(name: str) -> Reason | Family:
    if name in set(Reason):
        return Reason(name)
    if name in set(Family):
        return Family(name)
    known = ", ".join([*Reason, *Family])
    raise ValueError(f"assert_interrupted(reason={name!r}): the reasons and families are {known}")


def _failure(run: Run, message: str, seq: int) -> TripwireFailure:
    text = timeline_text(run.events, marked=seq)
    return TripwireFailure(f"{run.cell.case}: {message}\n\ntimeline:\n{text}", run.cell)
