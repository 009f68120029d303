"""The verdict as text."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_tripwire.gate.verdict import Verdict
from pytest_tripwire.oracle import State, timeline_text

_HEAD = ("agent", "case", "state", "protection", "detail")
_WIDEST = 96


def table(verdict: Verdict, *, whole: bool) -> Iterator[tuple[str, str]]:
    """(state, line) for each row, headed by column names. Not the `whole`: what was not run is only
    counted, as whoever tries one case knows that it is one.
    """
    ran = [row for row in verdict.rows if row.state is not State.NOT_RUN]
    rows = verdict.rows if whole or not ran else ran
    body = [
        (
            _flat(row.agent),
            _flat(row.case),
            row.state.value,
            _flat(row.protection) or "-",
            _short(row.detail),
        )
        for row in rows
    ]
    widths = [max(len(line[i]) for line in [_HEAD, *body]) for i in range(len(_HEAD) - 1)]
    yield "", _aligned(_HEAD, widths)
    for line in body:
        yield line[2], _aligned(line, widths)
    if len(rows) < len(verdict.rows):
        yield "", f"({len(verdict.rows) - len(rows)} more of the standard cases were not run)"


def timelines(verdict: Verdict) -> Iterator[str]:
    """Every timeline that there is, the offending event marked, and under it what is wrong with
    how the agent uses its model.
    """
    for row in verdict.rows:
        if row.cell is not None and row.cell.events:
            first = row.cell.broken[0] if row.cell.broken else None
            yield f"{_flat(row.agent)} on {_flat(row.case)}: {row.state}"
            yield timeline_text(row.cell.events, marked=first.seq if first else 0)
            yield from (f"- {_flat(each.line)}" for each in row.cell.diagnosis)


def gate(verdict: Verdict) -> Iterator[str]:
    """The gate's word, then one line for each reason that it fails."""
    good = sum(row.state is State.CONTAINED for row in verdict.rows)
    word = "passed" if verdict.passed else "FAILED"
    why = "" if verdict.passed or verdict.failing else ", but"
    tested = _under_test(verdict)
    yield f"tripwire gate {word}: {good} of {len(verdict.rows)} cells contained{tested}{why}"
    for row in verdict.failing:
        detail = f": {_short(row.detail)}" if row.detail else ""
        yield f"  {row.state}: {_flat(row.agent)} on {_flat(row.case)}{detail}"
    for problem in verdict.problems:
        yield f"  {_flat(problem)}"
    if not verdict.agents_declared:
        yield "  (counted: the agents that were collected, as the project declares none)"


def _under_test(verdict: Verdict) -> str:
    names = [_flat(name) for name in verdict.protections]
    word = "protection" if len(names) == 1 else "protections"
    return f" ({word}: {', '.join(names)})" if names else ""


def _aligned(line: tuple[str, ...], widths: list[int]) -> str:
    cut = [text.ljust(width) for text, width in zip(line, widths, strict=False)]
    return "  ".join([*cut, line[-1]]).rstrip()


def _flat(text: str) -> str:
    """`text` in one line, without what would move a terminal's cursor."""
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())


def _short(text: str) -> str:
    flat = _flat(text)
    return flat if len(flat) <= _WIDEST else flat[: _WIDEST - 3] + "..."
