"""What kinds of limits there are, and what a value of each looks like."""

from __future__ import annotations

import sys
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from enum import Enum
from typing import Any

import msgspec

#: The most that is counted or paid: what a machine counts with is taken for no limit, and a record
#: of a number that no float holds could not be read. So little above it can be used that no sum
#: gets there.
MOST = 2**63 - 1
#: Characters of a value that a message shows.
_SHOWN = 80


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of limit: what is expected, in words, and how a value is read. `read` gives None for a
    value that is not of the kind.
    """

    expected: str
    read: Callable[[Any], Any]


def _is(value: Any, *types: type) -> bool:
    """Whether a value is of one of the types. A truth value is no number, whatever Python says."""
    return isinstance(value, types) and not isinstance(value, bool)


def read_count(value: Any) -> int | None:
    """A whole number of things, None for what is none."""
    return value if _is(value, int) and 0 <= value <= MOST else None


def _seconds(value: Any) -> float | None:
    # By comparison: of an int that no float holds nobody can ask whether it is finite.
    return value if _is(value, int, float) and 0 <= value <= sys.float_info.max else None


def _share(value: Any) -> float | None:
    return value if _is(value, int, float) and 0 <= value <= 1 else None


def read_dollars(value: Any) -> Decimal | None:
    """An amount of money, None for what is none. It may be written as text."""
    if not _is(value, int, float, str, Decimal):
        return None
    try:
        # By way of text: the Decimal of 0.1 itself has 55 digits.
        amount = Decimal(str(value))
    except (InvalidOperation, ValueError):  # also a number of more digits than Python prints
        return None
    return amount if amount.is_finite() and 0 <= amount <= MOST else None


class Limit(Enum):
    """The kinds, by what is counted."""

    COUNT = Kind(expected="a whole number, 0 or more, or None for no limit", read=read_count)
    SECONDS = Kind(expected="seconds, 0 or more, or None for no limit", read=_seconds)
    DOLLARS = Kind(expected="US dollars, 0 or more, or None for no limit", read=read_dollars)
    SHARE = Kind(expected="a share from 0 to 1, such as 0.8", read=_share)

    @property
    def optional(self) -> bool:
        """Whether there may be none."""
        return self is not Limit.SHARE


#: The limits that are no plain count.
_OTHERS = {
    "deadline_s": Limit.SECONDS,
    "max_model_cost_usd": Limit.DOLLARS,
    "alert_share": Limit.SHARE,
}


def read_limit(name: str, value: Any) -> Any:
    """The value of a limit as it is kept. Raises ValueError with what was given and is expected."""
    kind = _OTHERS.get(name, Limit.COUNT)
    if value is None and kind.optional:
        return None
    read = kind.value.read(value)
    if read is None:
        raise ValueError(f"{_shown(value)}: expected {kind.value.expected}{_at_most(kind, value)}")
    return read


def _shown(value: Any) -> str:
    """A value as a message shows it; a number may have more digits than Python prints."""
    try:
        shown = repr(value)
    except ValueError:
        return f"a number of {value.bit_length()} bits"
    return shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 3]}..."


def _at_most(kind: Limit, value: Any) -> str:
    """What else has to be said of a number that is too large."""
    bounded = kind in {Limit.COUNT, Limit.DOLLARS} and _is(value, int, float, Decimal)
    too_large = bounded and not (isinstance(value, Decimal) and value.is_nan()) and value > MOST
    return f". The most is {MOST}; None is no limit" if too_large else ""
