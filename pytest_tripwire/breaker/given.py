"""Ids that look like nonces by the name of their argument, and are none: `request_id` names a leave
request where the run was given it, and an attempt where the model has made it up.

What was shown before it was first sent was given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from pytest_tripwire.breaker.fingerprint import is_minted
from pytest_tripwire.breaker.names import is_nonce
from pytest_tripwire.breaker.progress.bounded import Bounded
from pytest_tripwire.breaker.words import printable
from pytest_tripwire.timeline import Effect, ToolCall, ToolSpec

_MOST = 4096
#: Levels of a result, and parts of it, that are looked into.
_DEEPEST = 4
_PARTS = 256


class Given:
    """Owner of what a run was shown under names of nonces, and of what it has sent."""

    def __init__(self) -> None:
        self._shown: Bounded[str, bool] = Bounded(_MOST)
        self._given: Bounded[str, bool] = Bounded(_MOST)

    def show(self, result: Any) -> None:
        """The run is shown a result."""
        for value in _named_like_nonces(result):
            if value not in self._given:
                self._shown.put(value, True)  # noqa: FBT003 - a set that forgets

    def known(self, call: ToolCall, spec: ToolSpec) -> ToolSpec:
        """`spec` as it is for this call: what it names by a given id is no nonce."""
        if spec.identity is not None or spec.effect is Effect.HANDOFF:
            return spec
        names = [name for name in call.arguments if is_minted(name, spec) and is_nonce(name)]
        if not names:
            return spec
        kept = [name for name in names if self._is_given(call.arguments[name])]
        # As far as fingerprints go, a cursor is an argument that says something.
        return msgspec.structs.replace(spec, cursor=(*spec.cursor, *kept)) if kept else spec

    def _is_given(self, sent: Any) -> bool:
        value = printable(sent)
        given = self._given.get(value)
        if given is None:
            given = value in self._shown
            self._given.put(value, given)
        return given


def _named_like_nonces(value: Any) -> Iterator[str]:
    left = [(value, _DEEPEST)]
    for _ in range(_PARTS):
        if not left:
            return
        part, depth = left.pop()
        if isinstance(part, Mapping) and depth:
            for name, inner in part.items():
                if isinstance(inner, str | int) and isinstance(name, str) and is_nonce(name):
                    yield printable(inner)
                elif isinstance(inner, Mapping | list):
                    left.append((inner, depth - 1))
        elif isinstance(part, list) and depth:
            left.extend((each, depth - 1) for each in part[:_PARTS])
