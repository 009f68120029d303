"""Which part of a thing was read already, where a call says from where on and how much.

Reading on is new even where the text looks the same; reading again what was read at the version
that is still there is not. Declared cursors tell; so do the usual names for offsets; where neither
helps, a number that is higher or lower than all before it is taken for reading on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

import msgspec

from pytest_tripwire.breaker.canonical import digest
from pytest_tripwire.breaker.fingerprint import is_minted, is_talk_of
from pytest_tripwire.breaker.names import is_end, is_position, is_span
from pytest_tripwire.breaker.progress.bounded import Bounded
from pytest_tripwire.timeline import ToolCall, ToolSpec

_THINGS = 256
#: Two numbers of which the first is never more than the second are taken for from and to.
_PAIR = 2
#: No position lies beyond.
_FARTHEST = 1e15
#: Separate ranges of one thing that are kept.
_RANGES = 64


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """Which part of what a call asks for.

    Args:
        thing: fingerprint of the tool, of all arguments that are no numbers, and of who asks.
        start: where it begins.
        end: where it ends, not included; None if the call does not say.
        named: whether a declaration or a name says that this is a position.
    """

    thing: str
    start: float
    end: float | None
    named: bool


class Covered:
    """What is covered of one thing at one version."""

    __slots__ = ("_highest", "_lowest", "_ranges", "_shown", "version")

    def __init__(self, version: str) -> None:
        self.version = version
        self._ranges: list[tuple[float, float]] = []
        self._lowest: float | None = None
        self._highest: float | None = None
        self._shown: deque[tuple[float, str]] = deque(maxlen=_RANGES)

    def adds(self, part: Part, content: str) -> bool:
        """Take a part and a fingerprint of what it showed; returns whether anything of it is new.
        Asking for more from the same place on and being shown the same is not.
        """
        shown = (part.start, content) in self._shown
        known = any(each == content for _, each in self._shown)
        self._shown.append((part.start, content))
        extends = self._extends(part)
        if not part.named:
            return extends or not known  # a guess has to be borne out by what was shown
        return extends and not shown

    def holds(self, part: Part) -> bool:
        """Whether a part lies within what was read."""
        end = part.start + 1 if part.end is None else part.end
        again = any(start == part.start for start, _ in self._shown)
        return again or any(low <= part.start and end <= high for low, high in self._ranges)

    def _extends(self, part: Part) -> bool:
        end = part.start + 1 if part.end is None else part.end
        inside = any(low <= part.start and end <= high for low, high in self._ranges)
        extreme = (
            self._lowest is None
            or self._highest is None
            or part.start < self._lowest
            or part.start > self._highest
        )
        self._lowest = part.start if self._lowest is None else min(self._lowest, part.start)
        self._highest = part.start if self._highest is None else max(self._highest, part.start)
        self._join(part.start, end)
        return not inside if part.named else extreme

    def _join(self, low: float, high: float) -> None:
        apart = [each for each in self._ranges if each[1] < low or each[0] > high]
        joined = [each for each in self._ranges if each not in apart]
        low = min([low, *(each[0] for each in joined)])
        high = max([high, *(each[1] for each in joined)])
        self._ranges = [*apart, (low, high)][-_RANGES:]


class Coverage:
    """Owner of what was covered of each thing."""

    def __init__(self) -> None:
        self._of: Bounded[str, Covered] = Bounded(_THINGS)

    def adds(self, part: Part, version: str, content: str) -> bool:
        """Take a part read at `version`; returns whether anything of it is new at that version."""
        known = self._of.get(part.thing)
        if known is None or known.version != version:
            known = Covered(version)
        self._of.put(part.thing, known)
        return known.adds(part, content)

    def holds(self, part: Part) -> bool:
        """Whether a part lies within what was read already."""
        known = self._of.get(part.thing)
        return known is not None and known.holds(part)

    def clear(self) -> None:
        """Forget all."""
        self._of.clear()


def part_of(call: ToolCall, spec: ToolSpec, speaker: str = "") -> Part | None:
    """The part that a call asks for, and its speaker with it; None where it has no number that
    could be a position, or nothing besides that could be the thing.
    """
    kept, numbers = _split(call.arguments, spec)
    start = _start(numbers, spec) if kept else None
    if start is None:
        return None
    name, value = start
    spans = _spans(name, numbers, spec)
    others = {each: numbers[each] for each in numbers if each != name and each not in spans}
    return Part(
        thing=digest((spec.name, kept, others, speaker), whole_numbers=True),
        start=value,
        end=_end(value, spans),
        named=name in spec.cursor or is_position(name),
    )


def _split(arguments: Mapping[str, Any], spec: ToolSpec) -> tuple[dict[str, Any], dict[str, float]]:
    numbers: dict[str, float] = {}
    kept: dict[str, Any] = {}
    for name, value in arguments.items():
        if is_minted(name, spec) or is_talk_of(name, spec):
            continue
        if type(value) in {int, float} and name not in (spec.identity or ()):
            if not abs(value) < _FARTHEST:
                return {}, {}  # no position, nor a number that is one
            numbers[name] = value
        elif name not in spec.cursor:
            kept[name] = value
    return kept, numbers


def _start(numbers: Mapping[str, float], spec: ToolSpec) -> tuple[str, float] | None:
    for wanted in (lambda name: name in spec.cursor, is_position):
        for name, value in numbers.items():
            if wanted(name) and not is_end(name):
                return name, value
    loose = [(name, value) for name, value in numbers.items() if not is_span(name)]
    if len(loose) == _PAIR and loose[0][1] <= loose[1][1]:
        return loose[0]
    return loose[0] if len(loose) == 1 else None


def _spans(start: str, numbers: Mapping[str, float], spec: ToolSpec) -> dict[str, float]:
    """The numbers that say how much is wanted, or up to where."""
    others = {name: value for name, value in numbers.items() if name != start}
    spans = {name: value for name, value in others.items() if is_span(name) or is_end(name)}
    if not spans and len(others) == 1 and (start in spec.cursor or not is_position(start)):
        return others  # what else could the one other number say?
    return spans


def _end(start: float, spans: Mapping[str, float]) -> float | None:
    for name, value in spans.items():
        if is_end(name) or not is_span(name):
            return max(value, start)
    return start + max(next(iter(spans.values())), 0) if spans else None
