"""Which writes are being settled by a read, here and now: what such a read proposes itself is not
settled by another one, or the two would ask for each other without end.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TypeAlias

_Settled: TypeAlias = tuple[int, str]
_WRITES: ContextVar[frozenset[_Settled]] = ContextVar(
    "pytest_tripwire_settling", default=frozenset()
)


def is_being_settled(family: object, key: str) -> bool:
    """Whether this is within the read by which a run of this family settles the write `key`."""
    return (id(family), key) in _WRITES.get()


@contextmanager
def settling(family: object, key: str) -> Iterator[None]:
    """Inside, a run of this family makes the read that settles the write `key`."""
    token = _WRITES.set(_WRITES.get() | {(id(family), key)})
    try:
        yield
    finally:
        # Left in another context than it was entered in: nothing to undo here.
        with suppress(ValueError):
            _WRITES.reset(token)
