"""Which task a call belongs to: what it is made within, in the same thread or async task."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar

from pytest_tripwire.breaker.tasks import Attempt

#: The tries under way, outermost first, each with the family of runs whose task it is.
_UNDER_WAY: ContextVar[tuple[tuple[object, Attempt], ...]] = ContextVar(
    "pytest_tripwire_tasks", default=()
)


@contextmanager
def within(family: object, attempt: Attempt) -> Iterator[Attempt]:
    """Whatever is called inside belongs to this try."""
    token = _UNDER_WAY.set((*_UNDER_WAY.get(), (family, attempt)))
    try:
        yield attempt
    finally:
        # Left in another context than it was entered in, as generators can be: nothing to undo
        # here.
        with suppress(ValueError):
            _UNDER_WAY.reset(token)


def attempt_of(family: object) -> Attempt | None:
    """The try that a call of this family belongs to now: the outermost that is one too many, else
    the innermost; None outside of any.
    """
    under_way = _UNDER_WAY.get()
    if not under_way:
        return None
    own = [attempt for whose, attempt in under_way if whose is family]
    too_many = next((each for each in own if not each.allowed), None)
    return too_many or (own[-1] if own else None)
