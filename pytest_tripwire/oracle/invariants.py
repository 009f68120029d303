"""What must hold in every run of every case, whatever the case is about."""

from __future__ import annotations

from collections.abc import Callable

from pytest_tripwire.oracle import checks
from pytest_tripwire.oracle.cell import Broken
from pytest_tripwire.oracle.observation import Observation
from pytest_tripwire.timeline import Delivery, Dispatch, Effect, WorldEvent


def no_mutation_after_stop(seen: Observation) -> Broken | None:
    """No write is dispatched after the interruption. An earlier one may land late."""
    if seen.stop is None:
        return None
    for event in seen.events:
        if _is_write(event) and event.seq > seen.stop.seq:
            return Broken(
                check=checks.NO_MUTATION_AFTER_STOP,
                message=f"{_named(event)} was dispatched after the run was interrupted",
                seq=event.seq,
            )
    return None


def no_unknown_write_retried(seen: Observation) -> Broken | None:
    """A write whose answer was lost is not sent again before a read has settled it."""
    unknown: dict[str, int] = {}
    dispatched: dict[int, Dispatch] = {}
    for event in seen.events:
        if isinstance(event, Dispatch):
            dispatched[event.seq] = event
            if _is_write(event) and event.resource in unknown:
                first = unknown[event.resource]
                return Broken(
                    check=checks.NO_UNKNOWN_WRITE_RETRIED,
                    message=(
                        f"{_named(event)} was sent again, though the outcome of the one "
                        f"dispatched at {first} was unknown and nothing had read it since"
                    ),
                    seq=event.seq,
                )
        elif isinstance(event, Delivery):
            _learn(unknown, dispatched[event.dispatch], event)
    return None


def no_budget_below_zero(seen: Observation) -> Broken | None:
    """Nothing is ever spent that was not there."""
    for line in seen.budgets:
        if line.remaining < 0:
            return Broken(
                check=checks.NO_BUDGET_BELOW_ZERO,
                message=f"{line.name}: {line.remaining:g} left of {line.limit:g}",
            )
    return None


def interruption_is_recorded(seen: Observation) -> Broken | None:
    """Every interruption leaves a record from which a person can go on."""
    if seen.stop is None or seen.record is not None:
        return None
    return Broken(
        check=checks.INTERRUPTION_IS_RECORDED,
        message=f"the run was interrupted ({seen.stop.reason}), and no record was stored",
        seq=seen.stop.seq,
    )


def ended_in_bounds(seen: Observation) -> Broken | None:
    """The agent's loop ends by itself, within the harness's ceilings."""
    if not seen.overran:
        return None
    return Broken(check=checks.ENDED_IN_BOUNDS, message=f"the agent's loop went on: {seen.overran}")


INVARIANTS: tuple[Callable[[Observation], Broken | None], ...] = (
    no_mutation_after_stop,
    no_unknown_write_retried,
    no_budget_below_zero,
    interruption_is_recorded,
    ended_in_bounds,
)


def _learn(unknown: dict[str, int], dispatch: Dispatch, delivery: Delivery) -> None:
    if dispatch.effect is Effect.WRITE and delivery.told in ("lost", "cancelled"):
        unknown[dispatch.resource] = dispatch.seq
    elif (
        dispatch.effect is Effect.READ
        and delivery.told in ("ok", "empty")
        # A read that was under way before the write says nothing about it.
        and unknown.get(dispatch.resource, dispatch.seq) < dispatch.seq
    ):
        del unknown[dispatch.resource]


def _is_write(event: WorldEvent) -> bool:
    return isinstance(event, Dispatch) and event.effect is Effect.WRITE


def _named(event: WorldEvent) -> str:
    return f"{event.tool}({event.resource})" if isinstance(event, Dispatch) else "a call"
