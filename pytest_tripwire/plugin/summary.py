"""The terminal's view of a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_tripwire.gate import Verdict, render

if TYPE_CHECKING:
    import pytest

_RED, _PALE = frozenset({"escaped", "fixed", "expired"}), frozenset({"not applicable"})
_TIMELINES_AT = 2


def write(reporter: pytest.TerminalReporter, verdict: Verdict, *, gate: bool) -> None:
    """Quiet: the gate's line only. Normal: the table. `-vv`: every timeline too."""
    if reporter.verbosity >= 0:
        reporter.write_sep("=", "tripwire")
        for state, line in render.table(verdict, whole=gate):
            reporter.write_line(line, **_markup(state))
    if reporter.verbosity >= _TIMELINES_AT:
        for line in render.timelines(verdict):
            reporter.write_line(line)
    if gate:
        for line in render.gate(verdict):
            reporter.write_line(line, red=not verdict.passed, green=verdict.passed, bold=True)


def _markup(state: str) -> dict[str, bool]:
    if not state or state in _PALE:
        return {}
    colour = "green" if state == "contained" else "red" if state in _RED else "yellow"
    return {colour: True}
