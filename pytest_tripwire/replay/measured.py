"""Postconditions as a trace tells of them: `name=value`, a mapping, or a plain truth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_TRUTHS = {"true": True, "yes": True, "met": True, "false": False, "no": False, "unmet": False}


class Measured:
    """Owner of the best value of each postcondition so far."""

    def __init__(self) -> None:
        self._values: dict[str, list[float]] = {}

    def advanced(self, postcondition: Any) -> bool:
        """Take what a step says; returns whether any of it is newly true or better than ever. Which
        way a number gets better is not told, so one beyond all before it counts.
        """
        better = [self._take(name, value) for name, value in _pairs(postcondition)]
        return any(better)

    def _take(self, name: str, value: bool | float) -> bool:  # noqa: FBT001 - a measure, not a flag
        seen = self._values.setdefault(name, [])
        better = bool(value) if not seen else value > max(seen)
        if not isinstance(value, bool):
            better = bool(seen) and (value > max(seen) or value < min(seen))
        self._values[name] = [min([*seen, value]), max([*seen, value])]
        return better


def is_measured(postcondition: Any) -> bool:
    """Whether a trace tells of a postcondition in a way that can be read."""
    return postcondition is not None and bool(_pairs(postcondition))


def _pairs(postcondition: Any) -> list[tuple[str, bool | float]]:
    if isinstance(postcondition, Mapping):
        found = [(str(name), _value(value)) for name, value in postcondition.items()]
    elif isinstance(postcondition, str):
        parts = [part.rpartition("=") for part in postcondition.replace(";", ",").split(",")]
        found = [(name.strip(), _value(value.strip())) for name, _, value in parts]
    else:
        found = [("", _value(postcondition))]
    return [(name, value) for name, value in found if value is not None]


def _value(value: Any) -> bool | float | None:
    if isinstance(value, bool | int | float):
        return value
    if not isinstance(value, str):
        return None
    if value.lower() in _TRUTHS:
        return _TRUTHS[value.lower()]
    try:
        return float(value)
    except ValueError:
        return None
