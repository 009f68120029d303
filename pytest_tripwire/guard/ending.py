"""How a run ends: five terminal states, none of which rests on what the model says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Any, TypeAlias

import msgspec

from pytest_tripwire.guard.arguments import is_awaitable

#: True or false, or a measure of which more is better.
Measure: TypeAlias = bool | int | float | Decimal
Postconditions: TypeAlias = Mapping[str, Callable[[], Measure]]


class State(StrEnum):
    """The terminal states of a run."""

    COMPLETED = "completed"
    REJECTED = "rejected"
    NEEDS_INPUT = "needs_input"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


class Terminal(msgspec.Struct, frozen=True, kw_only=True):
    """How a run has ended.

    Args:
        state: one of the five.
        detail: why, in a sentence.
        field: what is missing, for `needs_input`.
        question: one specific question to the user, for `needs_input`.
    """

    state: State
    detail: str = ""
    field: str = ""
    question: str = ""


class Measures:
    """What of a run's postconditions is true by now. They are asked after every call that could
    have advanced one; they should be quick and change nothing.
    """

    def __init__(self, postconditions: Postconditions) -> None:
        self._ask = dict(postconditions)
        #: What was true before the run is nothing that it has advanced.
        self._best = {name: _taken(ask) for name, ask in self._ask.items()}

    def __bool__(self) -> bool:
        return bool(self._ask)

    def advanced(self) -> bool:
        """Whether one is newly true, or better than ever."""
        now = {name: _taken(ask) for name, ask in self._ask.items()}
        better = {name: value for name, value in now.items() if value > self._best[name]}
        self._best |= better
        return bool(better)

    def unmet(self) -> tuple[str, ...]:
        """Names of those that are not true."""
        return tuple(name for name, ask in self._ask.items() if not _taken(ask))


def _taken(ask: Callable[[], Measure]) -> Any:
    """One measure. What cannot be told is not true: it must not keep a call from being settled."""
    try:
        value: object = ask()  # a team's own, whatever the annotation says
        if isinstance(value, int | float | Decimal):
            return value
        # Nobody awaits it, and `bool()` of one is true.
        return not is_awaitable(value) and bool(value)
    except Exception:  # noqa: BLE001 - a team's own code may raise anything
        return False
