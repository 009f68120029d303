"""A digest of any value that does not depend on order, identity or process.

Every value has a defined result: types stay apart (`1`, `True`, `"1"` and `1.0` are four values),
mappings and sets do not depend on order, text is compared in Unicode form NFC, a cycle is encoded
as the distance to where it closes. A value that cannot be looked into is equal to itself alone:
it never collides silently.

There are four roads. A few simple values (`flat`) and whatever else came from JSON (`plain`) are
encoded by C code. A value with odd parts is translated into such a one (`translate`). What is
cyclic, very deep or very large is walked over (`walk`). Equal values end up on one road.
"""

from __future__ import annotations

from typing import Any

from pytest_tripwire.breaker.canonical.flat import flat
from pytest_tripwire.breaker.canonical.hashing import fingerprint
from pytest_tripwire.breaker.canonical.roads import canonical
from pytest_tripwire.breaker.prune import Names


def digest(value: Any, *, without: Names | None = None, whole_numbers: bool = False) -> str:
    """The canonical digest of `value` as 32 hexadecimal digits. Never raises for odd values.

    Args:
        value: anything.
        without: keys of mappings that are left out, as `prune` leaves them out: a frozenset, or
            `NamesBy` where a function tells.
        whole_numbers: whether a float without a fraction is the same as the integer, as in JSON.
    """
    raw = flat(value, whole_numbers=whole_numbers) if without is None else None
    if raw is None:
        raw = canonical(value, without=without, whole_numbers=whole_numbers)
    return fingerprint(raw)


def combined(*digests: str) -> str:
    """The digest of several digests in their order, for what is known by its parts already: less
    than half of what a digest of their tuple costs.
    """
    # No canonical bytes begin with a plus sign.
    return fingerprint(f"+{'+'.join(digests)}".encode())


__all__ = ["combined", "digest"]
