"""Which writes are being settled by a read, here and now: what such a read proposes itself is not
settled by another one, or the two would ask for each other without end.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar

_KEYS: ContextVar[frozenset[str]] = ContextVar("pytest_tripwire_settling", default=frozenset())


def is_being_settled(key: str) -> bool:
    """Whether this is within the read that settles the write `key`."""
    return key in _KEYS.get()


@contextmanager
def settling(key: str) -> Iterator[None]:
    """Inside, the read that settles the write `key` is made."""
    token = _KEYS.set(_KEYS.get() | {key})
    try:
        yield
    finally:
        # Left in another context than it was entered in: nothing to undo here.
        with suppress(ValueError):
            _KEYS.reset(token)
