"""What is installed where the command runs. Nothing of it is imported."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, requires, version

from pytest_tripwire.console.starting.frameworks import Known

_OURS = "pytest-agent-tripwire"
_NUMBERS = re.compile(r"\d+(?:\.\d+)*")


def is_installed(known: Known) -> bool:
    """Say whether a framework is installed, in any release."""
    return any(_version(name) for name in known.distributions)


def lacking(known: Known) -> bool:
    """Say whether what is written for a framework needs something that is not installed, or is
    too old.
    """
    return any(_is_older(_version(name), floor) for name, floor in _floors(known.extra))


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _floors(extra: str) -> list[tuple[str, str]]:
    """What one of our extras installs, each with its least release."""
    try:
        listed = requires(_OURS) or []
    except PackageNotFoundError:
        return []
    marked = (each for each in listed if re.search(rf"extra == ['\"]{extra}['\"]", each))
    found = (re.match(r"([\w.-]+)[^;>]*>=\s*([\d.]+)", each) for each in marked)
    return [(each[1], each[2]) for each in found if each]


def _is_older(there: str, floor: str) -> bool:
    return not there or _numbers(there) < _numbers(floor)


def _numbers(release: str) -> list[int]:
    first = _NUMBERS.search(release)
    return [int(part) for part in first[0].split(".")] if first else []
