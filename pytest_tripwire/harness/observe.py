"""From a run that has ended to what the oracle is given of it."""

from __future__ import annotations

from pytest_tripwire.guard import Interrupted
from pytest_tripwire.harness.setting import Setting
from pytest_tripwire.oracle import Ended, Observation, StopClaim
from pytest_tripwire.timeline import InterruptionRecord, Mode, ModeChange, WorldEvent


def observation(
    setting: Setting,
    *,
    error: BaseException | None,
    record: InterruptionRecord | None,
    open_at_end: bool,
    overran: str,
) -> Observation:
    """What is known of a run. `open_at_end`: whether it was still open when the agent ended, so
    that an exception is the agent's own and not a stop on its way out."""
    crashed = error is not None and not isinstance(error, Interrupted) and open_at_end
    stop = _claim(setting)
    ended = Ended.CRASHED if crashed else Ended.INTERRUPTED if stop else Ended.ANSWERED
    return Observation(
        events=setting.timeline.of(WorldEvent),
        ended=ended,
        error=type(error).__name__ if error is not None else "",
        surfaced="" if stop is None else _surfaced(error),
        stop=stop,
        record=record,
        budgets=setting.run.budgets() if setting.run is not None else (),
        overran=overran,
        guarded=setting.run is not None,
    )


def _claim(setting: Setting) -> StopClaim | None:
    """The first stop after which the run was never open again."""
    claim: StopClaim | None = None
    for event in setting.timeline.of(ModeChange):
        if event.mode is Mode.OPEN:
            claim = None
        elif claim is None:
            claim = StopClaim(seq=event.seq, reason=event.reason)
    return claim


def _surfaced(error: BaseException | None) -> str:
    return "returned normally" if error is None else type(error).__name__
