"""Which road a value takes to its canonical bytes."""

from __future__ import annotations

from typing import Any

from pytest_tripwire.breaker.canonical.flat import flat
from pytest_tripwire.breaker.canonical.plain import encoded, names_within, survey
from pytest_tripwire.breaker.canonical.translate import TUPLE, Translation, odd
from pytest_tripwire.breaker.canonical.walk import Walk
from pytest_tripwire.breaker.prune import DEPTH, Names, kept, prune


def canonical(value: Any, *, without: Names | None = None, whole_numbers: bool = False) -> bytes:
    """Bytes that are equal for equal values, and for no others.

    Args:
        value: anything.
        without: keys of mappings that are left out, as `prune` leaves them out.
        whole_numbers: whether a float without a fraction is the same as the integer.
    """
    if without is not None and type(value) is dict:
        value = kept(value, without)
    raw = flat(value, whole_numbers=whole_numbers)
    if raw is not None:
        return raw
    return _nested(value, without=without, whole_numbers=whole_numbers)


def _nested(value: Any, *, without: Names | None, whole_numbers: bool) -> bytes:
    is_tuple = type(value) is tuple
    surveyed = survey(list(value) if is_tuple else value)
    if surveyed is None:
        if without is None:
            return _translated(value, whole_numbers=whole_numbers)
        # What is odd or too large about it may be what is left out.
        return canonical(prune(value, without), whole_numbers=whole_numbers)
    levels, floats = surveyed
    if without is not None:
        names, depth = names_within(levels[:DEPTH], without)
        value = prune(value, names, depth)
    form = [TUPLE, *value] if is_tuple else value
    raw = encoded(form, floats, whole_numbers=whole_numbers)
    return _translated(value, whole_numbers=whole_numbers) if raw is None else raw


def _translated(value: Any, *, whole_numbers: bool) -> bytes:
    translation = Translation(whole_numbers=whole_numbers)
    made = translation.of(value)
    # A tuple is a tuple still, however it had to be written down.
    raw = flat(tuple(made[1:]) if made and type(value) is tuple else made)
    if raw is None and made is not None and translation.is_small(made):
        raw = encoded(made, [])
    return bytes(odd(Walk(whole_numbers=whole_numbers).over(value))) if raw is None else raw
