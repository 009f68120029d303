"""When a circuit opens, and how long it stays open."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from pytest_tripwire.breaker.suggest import suggestion

#: Errors in a row after which a tool counts as down. Three would take a throttled tool for one that
#: is down; on recorded runs anything from 3 to 7 decided alike.
DEFAULT_ERRORS = 5
#: Rejected calls after which one more is tried.
DEFAULT_COOLDOWN = 4
#: Seconds after which a probe that never came back is given up.
DEFAULT_PROBE_LEASE_S = 300.0

_PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "default": {},
        "weekend": {"turns": 8, "identical": 3, "errors": 3, "cooldown": 4},
        "off": {"errors": None},
    }
)
#: The least that makes sense: with one "identical" call in a row not even the first would pass.
_LEAST = {"errors": 1, "cooldown": 1, "identical": 2, "turns": 0}


class CircuitPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """What opens a circuit. What is None never does.

    Args:
        errors: failed turns of one tool in a row that open the tool's circuit; by default 5.
        identical: the how-many-th identical proposal in a row is refused and opens the circuit of
            the whole run. Off by default.
        turns: turns after which a proposal is refused and opens the circuit of the whole run. Off
            by default.
        cooldown: rejected calls that a circuit stays open for; the last of them arms the probe.
        cooldown_s: seconds that it stays open instead; the first call after them is the probe.
        probe_lease_s: seconds after which a probe whose outcome never comes is given up.
    """

    errors: int | None = DEFAULT_ERRORS
    identical: int | None = None
    turns: int | None = None
    cooldown: int = DEFAULT_COOLDOWN
    cooldown_s: float | None = None
    probe_lease_s: float = DEFAULT_PROBE_LEASE_S

    def __post_init__(self) -> None:
        """Refuse what no circuit could keep. Raises ValueError with the field."""
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if value is None and name != "cooldown":
                continue
            if type(value) is not int or value < least:
                raise ValueError(_bad(name, value, f"a whole number, {least} or more"))
        for name in ("cooldown_s", "probe_lease_s"):
            value = getattr(self, name)
            if (value is not None or name == "probe_lease_s") and not _is_time(value):
                raise ValueError(_bad(name, value, "seconds, more than 0"))

    @classmethod
    def preset(cls, name: str, **changes: Any) -> CircuitPolicy:
        """A policy by name: `default`, `weekend` (8 turns, 3 identical, 3 errors, cooldown 4) or
        `off`; `changes` are fields that differ from it. Raises ValueError with the names there are.
        """
        if name not in _PRESETS:
            known = suggestion(name, _PRESETS, what="Presets")
            raise ValueError(f"CircuitPolicy.preset({name!r}): there is no such preset. {known}")
        return cls(**{**_PRESETS[name], **changes})


def _is_time(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and value > 0


def _bad(name: str, value: object, expected: str) -> str:
    return f"CircuitPolicy({name}={value!r}): {expected}"
