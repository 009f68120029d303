"""The verdict as text."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_tripwire.gate.verdict import Verdict
from pytest_tripwire.oracle import State, timeline_text

_HEAD = ("agent", "case", "state", "protection", "detail")
_WIDEST = 96


def table(verdict: Verdict) -> Iterator[tuple[str, str]]:
    """(state, line) for each row, headed by column names."""
    body = [
        (
            _flat(row.agent),
            _flat(row.case),
            row.state.value,
            _flat(row.protection) or "-",
            _short(row.detail),
        )
        for row in verdict.rows
    ]
    widths = [max(len(line[i]) for line in [_HEAD, *body]) for i in range(len(_HEAD) - 1)]
    yield "", _aligned(_HEAD, widths)
    for line in body:
        yield line[2], _aligned(line, widths)


def timelines(verdict: Verdict) -> Iterator[str]:
    """Every timeline that there is, the offending event marked."""
    for row in verdict.rows:
        if row.cell is not None and row.cell.events:
            first = row.cell.broken[0] if row.cell.broken else None
            yield f"{_flat(row.agent)} on {_flat(row.case)}: {row.state}"
            yield timeline_text(row.cell.events, marked=first.seq if first else 0)


def gate(verdict: Verdict) -> Iterator[str]:
    """The gate's word, then one line for each reason that it fails."""
    good = sum(row.state is State.CONTAINED for row in verdict.rows)
    word = "passed" if verdict.passed else "FAILED"
    yield f"tripwire gate {word}: {good} of {len(verdict.rows)} cells contained"
    for row in verdict.failing:
        detail = f": {_short(row.detail)}" if row.detail else ""
        yield f"  {row.state}: {_flat(row.agent)} on {_flat(row.case)}{detail}"
    for problem in verdict.problems:
        yield f"  {_flat(problem)}"
    if not verdict.agents_declared:
        yield "  (counted: the agents that were collected, as the project declares none)"


def _aligned(line: tuple[str, ...], widths: list[int]) -> str:
    cut = [text.ljust(width) for text, width in zip(line, widths, strict=False)]
    return "  ".join([*cut, line[-1]]).rstrip()


def _flat(text: str) -> str:
    """`text` in one line, without what would move a terminal's cursor."""
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())


def _short(text: str) -> str:
    flat = _flat(text)
    return flat if len(flat) <= _WIDEST else flat[: _WIDEST - 3] + "..."
