"""The most that the runs of each class have used. Holds none of the runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pytest_tripwire.replay.budgets import DEFAULT_CLASS
from pytest_tripwire.replay.declared import Declared
from pytest_tripwire.replay.prepare import prepared
from pytest_tripwire.replay.problem import Item, Problem
from pytest_tripwire.replay.run import Missing, failed, unique
from pytest_tripwire.replay.score import expectation_of
from pytest_tripwire.replay.settings import Settings
from pytest_tripwire.replay.suggest.use import Use, use_of
from pytest_tripwire.replay.trace import Trace


class Collected:
    """Owner of the maxima of one class."""

    def __init__(self) -> None:
        self.runs = 0
        self._most: dict[str, Any] = {}
        self._unknown: dict[str, int] = {}

    def add(self, use: Use) -> None:
        """One more run."""
        self.runs += 1
        for name in use.__struct_fields__:
            value = getattr(use, name)
            if value is None:
                self._unknown[name] = self._unknown.get(name, 0) + 1
            elif name not in self._most or value > self._most[name]:
                self._most[name] = value

    def most(self, name: str) -> Any:
        """The most that any run has used; None if no run tells."""
        return self._most.get(name)

    def unknown(self, name: str) -> int:
        """How many runs do not tell."""
        return self._unknown.get(name, 0)


class History:
    """Owner of the maxima of all classes, and of what was left out."""

    def __init__(self) -> None:
        self.classes: dict[str, Collected] = {}
        self.hostile = 0

    def add(self, name: str, use: Use) -> None:
        """One more run of a class."""
        self.classes.setdefault(name, Collected()).add(use)


def collect(
    items: Iterable[Item],
    history: History,
    *,
    settings: Settings,
    name: str | None = None,
) -> Iterator[Item]:
    """Feed `history` with the good runs of `items`; yields those, and what is wrong.

    Args:
        items: traces and problems, as they are read.
        history: what is fed.
        settings: what is declared.
        name: the class of all runs; by default each says its own.
    """
    missing = Missing()
    for trace in unique(items):
        if isinstance(trace, Problem):
            yield trace
        elif is_hostile(trace):
            history.hostile += 1
        elif not missing.undeclared(trace, settings):
            yield _used(trace, history, settings, class_of(trace, name))
    yield from missing.problems()


def _used(trace: Trace, history: History, settings: Settings, name: str) -> Item:
    whole = prepared(trace, settings)
    try:
        use = use_of(whole, Declared(whole, settings).of)
    except Exception as error:  # noqa: BLE001 - one trace must not cost what others tell
        return failed(trace, error)
    history.add(name, use)
    return trace


def is_hostile(trace: Trace) -> bool:
    """Whether somebody says that the run should have been stopped."""
    expect = expectation_of(trace)
    return expect is not None and expect.interrupted


def class_of(trace: Trace, name: str | None) -> str:
    """The workflow class of a run."""
    return name or trace.workflow or DEFAULT_CLASS
