"""What somebody else has changed since the run looked at it.

A write on what the run has seen before the change rests on what is no longer true. Looking again
makes it fresh; so does knowing nothing of it, as then nothing rests on it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from pytest_tripwire.breaker.progress.bounded import Bounded
from pytest_tripwire.breaker.words import printable, references

_MOST = 256
#: Characters of an argument that are looked at.
_LONGEST = 4000


class Freshness:
    """Owner of what was looked at and of what has changed since."""

    def __init__(self) -> None:
        self._looks: deque[Mapping[str, Any]] = deque(maxlen=_MOST)
        self._changed: Bounded[str, str] = Bounded(_MOST)
        self._superseded: Bounded[str, str] = Bounded(_MOST)

    def changed(self, resource: str, *, was: str = "") -> None:
        """Somebody else has changed `resource`, which was at version `was`. It concerns the run
        only if it has looked at it.
        """
        if resource and any(resource in mentioned(each) for each in self._looks):
            self._changed.put(resource, resource)
        if was:
            self._superseded.put(was, resource)

    def look(self, arguments: Mapping[str, Any], version: str) -> None:
        """The run has read what `arguments` name, at `version`."""
        self._looks.append(arguments)
        if len(self._changed):
            for each in mentioned(arguments):
                self._changed.drop(each)
        if version and len(self._superseded):
            self._superseded.drop(version)

    def stale(self, arguments: Mapping[str, Any]) -> str:
        """What a write with these arguments rests on that is no longer true; empty if nothing."""
        if not len(self._changed) and not len(self._superseded):
            return ""
        names = mentioned(arguments)
        changed = next((each for each in names if each in self._changed), "")
        # A bare number may be anything, an amount too.
        old = (each for each in names if not each.isdecimal() and each in self._superseded)
        return changed or next(old, "")


def mentioned(arguments: Mapping[str, Any]) -> list[str]:
    """The things that arguments name: their texts, and the references inside longer ones."""
    texts = [text for value in arguments.values() if (text := printable(value)[:_LONGEST])]
    return [each for text in texts for each in (text[:200], *sorted(references(text)))]
