"""Who is told of what a run does: the log, the application's metrics, its own callbacks."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from pytest_tripwire.breaker.telling import Observer, log
from pytest_tripwire.guard.arguments import is_async
from pytest_tripwire.timeline import BreakerEvent, CircuitOpened, Decided, Mode, ModeChange

_API = "opentelemetry.metrics"


class LogTrips:
    """One warning for each trip: a run that leaves `open`, a circuit that opens. It names the run,
    the reason and the evidence, and no payload.
    """

    wants = (ModeChange, CircuitOpened)

    def __call__(self, event: BreakerEvent) -> None:
        """Log a trip."""
        if not is_trip(event):
            return
        what, reason, evidence = _of(event)
        would = "would be " if event.shadow else ""
        log.warning(
            "run %s: %s%s for %s (events %s)",
            event.run_id,
            would,
            what,
            reason,
            ", ".join(str(seq) for seq in evidence) or "none",
        )


class Metrics:
    """Counters of decisions and of trips, for the OpenTelemetry API. Runs, tenants and tools are no
    attributes: there is no end to them.

    Args:
        api: the module `opentelemetry.metrics`.
    """

    wants = (Decided, ModeChange, CircuitOpened)

    def __init__(self, api: Any) -> None:
        meter = api.get_meter("pytest_tripwire")
        self._decisions = meter.create_counter(
            "tripwire.decisions", unit="{call}", description="proposed calls, by what was decided"
        )
        self._trips = meter.create_counter(
            "tripwire.trips", unit="{trip}", description="runs stopped and circuits opened"
        )

    def __call__(self, event: BreakerEvent) -> None:
        """Count an event."""
        if isinstance(event, Decided):
            self._decisions.add(
                1,
                {
                    "tripwire.decision": str(event.decision),
                    "tripwire.reason": str(event.reason or ""),
                    "tripwire.shadow": event.shadow,
                },
            )
        elif is_trip(event):
            what, reason, _ = _of(event)
            kind = "circuit" if isinstance(event, CircuitOpened) else what
            self._trips.add(
                1,
                {
                    "tripwire.trip": kind,
                    "tripwire.reason": reason,
                    "tripwire.shadow": event.shadow,
                },
            )


def is_trip(event: BreakerEvent) -> bool:
    """Whether something that was in order is not any more."""
    if isinstance(event, ModeChange):
        return event.was is Mode.OPEN
    return isinstance(event, CircuitOpened)


def _of(event: Any) -> tuple[str, str, tuple[int, ...]]:
    if isinstance(event, CircuitOpened):
        return f"circuit of {event.circuit or 'the run'} open", str(event.reason), event.evidence
    return str(event.mode), str(event.reason), event.evidence


def metrics_api(modules: Mapping[str, ModuleType] = sys.modules) -> ModuleType | None:
    """The metrics API of OpenTelemetry, where the application has imported it. It is never imported
    from here: it is the application's to pay for.
    """
    api = modules.get(_API)
    # It may be half imported, in another thread.
    return api if hasattr(api, "get_meter") else None


def checked(on_event: Observer | Sequence[Observer] | None) -> tuple[Observer, ...]:
    """The callbacks of an application. Raises TypeError for what cannot be one."""
    if on_event is None:
        return ()
    given: tuple[Any, ...] = (on_event,) if callable(on_event) else tuple(on_event)
    for each in given:
        if not callable(each):
            raise TypeError(f"on_event: {each!r} cannot be called; give it what takes an event")
        if is_async(each):
            raise TypeError(
                f"on_event: {each!r} is async, and events are told in whatever thread a call is "
                "made in. Give a plain function, which may put the event into a queue of yours"
            )
    return given
