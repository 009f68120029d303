"""Where good work that looks like going round in circles is kept.

A run is a function of the driver that it is played on. `good` ones are good even where nothing is
declared but whether a tool reads, writes or hands off. `declared` ones differ from a loop only by
what is declared, such as a poll, an identity, or a write that is a new act each time.
"""

from __future__ import annotations

from collections.abc import Callable

from .driver import Driver, ToolSpec

Script = Callable[[Driver], None]

#: Runs by name, with the tools that they use.
GOOD: dict[str, tuple[tuple[ToolSpec, ...], Script]] = {}
DECLARED: dict[str, tuple[tuple[ToolSpec, ...], Script]] = {}


def good(*specs: ToolSpec) -> Callable[[Script], Script]:
    """A run that is good in any case."""

    def keep(script: Script) -> Script:
        GOOD[script.__name__] = (specs, script)
        return script

    return keep


def declared(*specs: ToolSpec) -> Callable[[Script], Script]:
    """A run that is good with these declarations."""

    def keep(script: Script) -> Script:
        DECLARED[script.__name__] = (specs, script)
        return script

    return keep
