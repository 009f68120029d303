"""Whether a call that is made again is waiting, where nobody has declared a poll.

Undeclared polls are the main source of false stops. What is waited for says so itself, or is
something that this run has started, and time passes between one look and the next. Asking as fast
as possible is no waiting.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from pytest_tripwire.breaker.fingerprint import is_talk_of
from pytest_tripwire.breaker.polls import is_under_way
from pytest_tripwire.breaker.progress.bounded import Bounded
from pytest_tripwire.breaker.progress.step import Step
from pytest_tripwire.breaker.words import printable
from pytest_tripwire.timeline import Effect, Status

#: Seconds that have to pass between two looks.
PAUSE_S = 1.0
#: Looks that are granted to what is not declared, as long as the run has no deadline.
MOST_LOOKS = 100

#: A number that stands alone, with or without a unit; the digits of an id do not.
_SPAN = re.compile(r"(\d+(?:\.\d+)?)(?:ms|s|secs?|seconds?|m|mins?|minutes?|h|hours?)?")
#: Units in which a pause may be said: seconds, milliseconds, minutes, hours.
_UNITS_S = (1.0, 0.001, 60.0, 3600.0)
#: Nobody waits for longer, in whatever unit.
_MOST_S = 1e12
#: Share by which a pause may miss what was said.
_NEAR = 0.1

_MOST = 256
#: Characters of an id.
_LONGEST = 128


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """One look: when, the how many-th, how much had been new in the run, and how many pauses it had
    made.
    """

    at: float
    number: int
    new: int
    pauses: int


class Waiting:
    """Owner of what the run has started, and of when it looked last."""

    def __init__(self) -> None:
        self._started: Bounded[str, bool] = Bounded(_MOST)
        self._pauses = 0
        self._looked: Bounded[str, Look] = Bounded(_MOST)

    def is_waiting(self, step: Step, asked: str, *, new: int) -> bool:
        """Take a step that asks for `asked`, when `new` things have been new in the run; returns
        whether it is one more look at what is waited for.
        """
        if step.effect is not Effect.READ:
            self._note(step)
            return False
        if step.spec.poll or self._is_pause(step):
            return True
        last = self._looked.get(asked)
        number = last.number + 1 if last else 1
        self._looked.put(asked, Look(at=step.at, number=number, new=new, pauses=self._pauses))
        if last is None or number > MOST_LOOKS:
            return False
        news = new > last.new
        paused = step.at - last.at >= PAUSE_S
        return (news and _is_talk(step)) or (paused and self._is_waited_for(step, last, news=news))

    def _is_waited_for(self, step: Step, last: Look, *, news: bool) -> bool:
        """Whether a look after a pause is one at what is waited for."""
        if not step.ok:
            # Trying again after a pause is how a service that is down is dealt with; how often is
            # for the rules that count errors.
            return step.status is Status.TRANSIENT
        if self._pauses > last.pauses or is_under_way(step.result):
            return True
        # A command without output, between steps that bring something.
        return (news and _is_silent(step.result)) or (step.empty and self._is_own(step))

    def _is_pause(self, step: Step) -> bool:
        """Whether a call took as long as it says: then waiting was all that it did."""
        pause = step.ok and step.took >= PAUSE_S and _says(step.call.arguments, step.took)
        self._pauses += pause
        return pause

    def _note(self, step: Step) -> None:
        if step.ok:
            for each in _ids(step.result):
                self._started.put(each, True)  # noqa: FBT003 - a set that forgets

    def _is_own(self, step: Step) -> bool:
        values = (each for each in step.call.arguments.values() if _is_id(each))
        return any(printable(each) in self._started for each in values)


def _is_talk(step: Step) -> bool:
    """Whether all that a call says is what the model says to itself."""
    names = step.call.arguments
    return bool(names) and all(is_talk_of(name, step.spec) for name in names)


def _says(arguments: Mapping[str, Any], seconds: float) -> bool:
    """Whether an argument is this time, in whatever unit."""
    numbers = [number for value in arguments.values() for number in _numbers(value)]
    return any(
        abs(number * unit - seconds) <= max(seconds * _NEAR, 0.5)
        for number in numbers
        for unit in _UNITS_S
    )


def _numbers(value: Any) -> list[float]:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return [float(value)] if abs(value) < _MOST_S else []
    if isinstance(value, str) and len(value) <= _LONGEST:
        found = (_SPAN.fullmatch(each) for each in value.split())
        return [float(each.group(1)) for each in found if each]
    return []


def _ids(result: Any) -> list[str]:
    values = list(result.values()) if isinstance(result, Mapping) else [result]
    return [text for each in values[:32] if _is_id(each) and (text := printable(each))]


def _is_silent(result: Any) -> bool:
    """Whether a result says nothing at all, not even that nothing was found."""
    return result is None or (isinstance(result, str) and not result.strip())


def _is_id(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, str) and 0 < len(value) <= _LONGEST)


def is_poll(step: Step) -> bool:
    """Whether a failure is that of a declared poll: time bounds it, and the circuit of its tool."""
    return step.spec.poll and step.status is Status.TRANSIENT
