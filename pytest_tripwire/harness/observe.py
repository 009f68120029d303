"""From a run that has ended to what the oracle is given of it."""

from __future__ import annotations

import os

from pytest_tripwire.guard import Interrupted
from pytest_tripwire.harness.proxies import proxy_hint
from pytest_tripwire.harness.recordings import recording_hint
from pytest_tripwire.harness.setting import Setting
from pytest_tripwire.models.diagnosis import Diagnosis, diagnose, redelivered, refused_request
from pytest_tripwire.oracle import Ended, Observation, StopClaim
from pytest_tripwire.timeline import InterruptionRecord, Mode, ModeChange, Resumption, WorldEvent


def observation(
    setting: Setting,
    *,
    error: BaseException | None,
    stops: tuple[type[BaseException], ...],
    record: InterruptionRecord | None,
    open_at_end: bool,
    overran: str,
    outside: bool,
) -> Observation:
    """What is known of a run. `open_at_end`: whether it was still open when the agent ended, so
    that an exception is the agent's own and not a stop on its way out. `stops`: exceptions by
    which the agent's own protection stops it. `outside`: whether the agent is another process,
    whose environment spares the model server and is not this one's.
    """
    stop = _claim(setting)
    crashed = error is not None and not is_meant(error, stops) and open_at_end
    ended = Ended.CRASHED if crashed else Ended.INTERRUPTED if stop or error else Ended.ANSWERED
    return Observation(
        events=setting.timeline.of(WorldEvent),
        ended=ended,
        error=type(error).__name__ if error is not None else "",
        surfaced="" if stop is None else _surfaced(error),
        stop=stop,
        record=record,
        budgets=setting.budgets(),
        overran=overran,
        guarded=setting.run is not None,
        finished=_finished(setting),
        outside=outside,
        hint="" if outside else _hint(error),
        diagnosis=_diagnosis(setting),
    )


def is_meant(error: BaseException, stops: tuple[type[BaseException], ...]) -> bool:
    """Whether an exception is how a protection stops the agent, ours or its own."""
    return isinstance(error, (Interrupted, *stops))


def _hint(error: BaseException | None) -> str:
    """What around the run may keep the agent's requests from the model server."""
    return "\n".join(filter(None, (proxy_hint(os.environ), recording_hint(error))))


def _diagnosis(setting: Setting) -> tuple[Diagnosis, ...]:
    """What is wrong between the agent and its model, weightiest first."""
    server = setting.server
    return (
        *redelivered(setting.timeline.of(WorldEvent)),
        *diagnose(server.noted),
        *refused_request(server.refusals),
    )


def _finished(setting: Setting) -> str:
    """The terminal state in words; what is missing from the user belongs to it."""
    terminal = setting.run.terminal if setting.run is not None else None
    if terminal is None:
        return ""
    words = terminal.state.value.replace("_", " ")
    return f"{words} ({terminal.field})" if terminal.field else words


def _claim(setting: Setting) -> StopClaim | None:
    """The first stop after which the run was never open again; one that an operator has taken
    back by resuming does not count.
    """
    claim: StopClaim | None = None
    resumed = max((each.seq for each in setting.timeline.of(Resumption)), default=0)
    for event in setting.timeline.of(ModeChange):
        if event.mode is Mode.OPEN or event.seq < resumed:
            claim = None
        elif claim is None:
            claim = StopClaim(seq=event.seq, reason=event.reason)
    return claim


def _surfaced(error: BaseException | None) -> str:
    return "returned normally" if error is None else type(error).__name__
