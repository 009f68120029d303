"""What a format is: the one shape that every format of recorded runs has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from pytest_tripwire.replay.problem import Item
from pytest_tripwire.replay.reading.values import Value


class Format(Protocol):
    """Makes traces of JSON values.

    A value that has one of `keys` at its top is handed to `add`, which yields what is complete with
    it. What needs all files first is yielded by `finish`.
    """

    keys: frozenset[str]

    def add(self, value: Value) -> Iterator[Item]:
        """The traces that are complete with `value`, and what is wrong with it."""
        ...

    def finish(self) -> Iterator[Item]:
        """The traces that are complete now that there are no more values."""
        ...

    def close(self) -> None:
        """Give back what is held."""
        ...
