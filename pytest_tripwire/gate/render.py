"""The verdict as text."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_tripwire.gate.standing import Standing
from pytest_tripwire.gate.text import flat, inert, short, visible
from pytest_tripwire.gate.verdict import Verdict
from pytest_tripwire.oracle import timeline_text

_HEAD = ("agent", "case", "state", "protection", "detail")


def table(verdict: Verdict, *, whole: bool) -> Iterator[tuple[str, str]]:
    """(state, line) for each row, headed by column names. Not the `whole`: what was not run is only
    counted, as whoever tries one case knows that it is one.
    """
    ran = [row for row in verdict.rows if row.state is not Standing.NOT_RUN]
    rows = verdict.rows if whole or not ran else ran
    body = [
        (
            flat(row.agent),
            flat(row.case),
            row.state.value,
            flat(row.protection) or "-",
            short(row.detail),
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
            yield inert(f"{flat(row.agent)} on {flat(row.case)}: {row.state}")
            drawn = timeline_text(row.cell.events, marked=first.seq if first else 0)
            yield "\n".join(inert(visible(line)) for line in drawn.split("\n"))
            yield from (inert(f"- {flat(each.line)}") for each in row.cell.diagnosis)


def gate(verdict: Verdict) -> Iterator[str]:
    """The gate's word, then one line for each reason that it fails."""
    yield word(verdict)
    for row in verdict.failing:
        detail = f": {short(row.detail)}" if row.detail else ""
        yield inert(f"  {row.state}: {flat(row.agent)} on {flat(row.case)}{detail}")
    for problem in verdict.problems:
        yield inert(f"  {flat(problem)}")
    yield from (inert(f"  (note: {flat(note)})") for note in verdict.notes)
    if not verdict.agents_declared:
        yield "  (counted: the agents that were collected, as the project declares none)"


def word(verdict: Verdict) -> str:
    """The verdict in one line."""
    good = verdict.counts.get(Standing.CONTAINED, 0)
    of = len(verdict.rows) - verdict.counts.get(Standing.NOT_APPLICABLE, 0)
    known = verdict.counts.get(Standing.KNOWN_FAILING, 0)
    excused = f", {known} known failing" if known else ""
    why = "" if verdict.passed or verdict.failing else ", but"
    said = "passed" if verdict.passed else "FAILED"
    rounds = f" in each of {verdict.rounds} rounds" if verdict.rounds > 1 else ""
    return (
        f"tripwire gate {said}: {good} of {of} cells contained{rounds}{excused}"
        f"{_under_test(verdict)}{why}"
    )


def _under_test(verdict: Verdict) -> str:
    names = [inert(flat(name)) for name in verdict.protections]
    word = "protection" if len(names) == 1 else "protections"
    return f" ({word}: {', '.join(names)})" if names else ""


def _aligned(line: tuple[str, ...], widths: list[int]) -> str:
    cut = [text.ljust(width) for text, width in zip(line, widths, strict=False)]
    return inert("  ".join([*cut, line[-1]]).rstrip())
