"""When a cassette is recorded, and when it is only played."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from pytest_tripwire.models.cassettes.errors import CassetteError

_OFF = frozenset({"", "0", "false", "no", "off"})


class RecordMode(StrEnum):
    """What may be recorded.

    - `none`: nothing; a request that was not recorded is an error.
    - `once`: everything if there is no cassette yet, else nothing.
    - `new_episodes`: what the cassette does not hold; what it holds is played.
    - `all`: everything, and the cassette is replaced.
    """

    NONE = "none"
    ONCE = "once"
    NEW_EPISODES = "new_episodes"
    ALL = "all"


def default_mode(environment: Mapping[str, str]) -> RecordMode:
    """`none` where `CI` is set, else `once`: a build never records by itself."""
    in_ci = environment.get("CI", "").strip().lower() not in _OFF
    return RecordMode.NONE if in_ci else RecordMode.ONCE


def read_mode(value: str | None, environment: Mapping[str, str]) -> RecordMode:
    """The mode of that name, by default what suits the environment.

    Raises:
        CassetteError: for a mode that there is not.
    """
    if value is None:
        return default_mode(environment)
    try:
        return RecordMode(value)
    except ValueError:
        known = ", ".join(RecordMode)
        raise CassetteError(f"record mode {value!r}: choose from {known}") from None
