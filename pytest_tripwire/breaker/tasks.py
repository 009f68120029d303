"""How often a task may be tried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec

from pytest_tripwire.breaker.canonical import digest

#: Characters of a task's id; what is longer is a text, and may hold anything.
_LONGEST = 64
_TRIED = (
    "The task {task} was tried {limit} times already. No tool runs for it any more: go on with "
    "another task, or say that it could not be done."
)


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One try at a task.

    Args:
        task: its id.
        number: which try it is, from 1.
        limit: how many there may be; None without a limit.
    """

    task: str
    number: int
    limit: int | None = None

    @property
    def allowed(self) -> bool:
        """Whether calls may run in it."""
        return self.limit is None or self.number <= self.limit

    @property
    def message(self) -> str:
        """What a model is told whose call belongs to a try too many; empty for one that may run."""
        if self.allowed:
            return ""
        return _TRIED.format(task=self.task, limit=self.limit)


class Tasks:
    """Owner of the tries of a run's tasks, used under the controller's lock.

    Args:
        limit: tries of one task; None without a limit.
        attempts: tries that an earlier part of the run has made, by task.
    """

    __slots__ = ("_attempts", "_limit")

    def __init__(self, limit: int | None, attempts: Mapping[str, int] | None = None) -> None:
        self._limit = limit
        self._attempts = Counter({named(task): tries for task, tries in (attempts or {}).items()})

    def begin(self, task: Any) -> Attempt:
        """Begin a try. One too many is not `allowed` and is not counted: it does nothing. Raises
        ValueError for a task without a name.
        """
        if not isinstance(task, str) or not task.strip():
            raise ValueError(f"task({task!r}): a task needs an id, a text that is not empty")
        name = named(task)
        attempt = Attempt(task=task, number=self._attempts[name] + 1, limit=self._limit)
        if attempt.allowed:
            self._attempts[name] = attempt.number
        return attempt

    def attempts(self) -> dict[str, int]:
        """Tries made so far, by task."""
        return {task: number for task, number in self._attempts.items() if number}


def named(task: str) -> str:
    """A task as it is kept: its id, or the fingerprint of a text. That of one that is kept already
    is the same.
    """
    return task if len(task) <= _LONGEST else f"task {digest(task)}"
