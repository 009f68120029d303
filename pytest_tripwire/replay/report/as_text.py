"""The report for people: a line for each run that would have been stopped, then numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

from pytest_tripwire.replay.problem import Problem
from pytest_tripwire.replay.report.plain import flat
from pytest_tripwire.replay.run import Replayed
from pytest_tripwire.replay.score import Judgement, Tally, writes
from pytest_tripwire.replay.spool import Spool
from pytest_tripwire.replay.summary import Summary
from pytest_tripwire.replay.trace import TraceVerdict

#: Steps of evidence that are named one by one.
_MOST_EVIDENCE = 8


class TextReport:
    """Writes lines.

    Args:
        write: takes one line, without its end.
    """

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._problems = Spool()
        self._wrong = Spool()

    def add(self, item: Replayed | Problem) -> None:
        """Write a line for a run that would have been stopped; what is wrong comes at the end."""
        if isinstance(item, Problem):
            line = f"{flat(item.where)}: {flat(item.reason, 1000)}"
            self._problems.add(line.encode())
            return
        if item.verdict.interrupted:
            self._write(stopped(item.verdict))
        if item.judgement is not None and not item.judgement.right:
            self._wrong.add(_wrong(item.verdict.id, item.judgement).encode())

    def finish(self, summary: Summary) -> None:
        """Write counts, score and problems."""
        if summary.interrupted:
            self._write("")
        for line in (*counts(summary), *blind(summary), *score(summary)):
            self._write(line)
        self._listed("Labelled runs that went another way:", self._wrong)
        self._listed(f"{_problems(self._problems.count)}:", self._problems)

    def close(self) -> None:
        """Nothing is left to end."""
        with closing(self._problems), closing(self._wrong):
            pass

    def _listed(self, title: str, lines: Spool) -> None:
        if lines.count:
            self._write("")
            self._write(title)
        for line in lines:
            self._write(f"  {line.decode()}")


def stopped(verdict: TraceVerdict) -> str:
    """One run that would have been stopped, in one line."""
    parts = [
        f"{flat(verdict.id)}: step {verdict.step} of {verdict.steps}: {verdict.decision}",
        f"{verdict.reason} at {flat(verdict.tool)}" if verdict.tool else f"{verdict.reason}",
        f"rests on {_steps(verdict.evidence)}" if verdict.evidence else "",
        f"{writes(verdict.executed_writes)} executed",
    ]
    return ", ".join(filter(None, parts))


def counts(summary: Summary) -> Iterator[str]:
    """How many runs there were, and how many would have been stopped for what."""
    runs = _number(summary.traces, "run")
    yield f"{runs}, {_number(summary.steps, 'step')}: {summary.interrupted} would have been stopped"
    for reason, times in sorted(summary.reasons.items(), key=lambda each: (-each[1], each[0])):
        yield f"  {times:>6}  {reason}"


def blind(summary: Summary) -> Iterator[str]:
    """What the recordings left out, and which rules saw nothing there."""
    for count, what, rules in (
        (summary.args_unknown, "arguments", "what compares calls"),
        (summary.results_unknown, "result", "what compares results"),
    ):
        if count:
            verb = "was" if count == 1 else "were"
            yield (
                f"{_number(count, 'step')} {verb} recorded without {what}: {rules} is blind there"
            )


def score(summary: Summary) -> Iterator[str]:
    """How many labelled runs went as was expected, by hazard."""
    if not summary.hazards:
        return
    hostile = summary.hostile
    rows = [(name, _of(tally)) for name, tally in hostile.items()]
    if hostile:
        right = sum(tally.right for tally in hostile.values())
        rows.append(("all that had to be stopped", f"{right} of {_total(hostile)} right"))
    if summary.legit.total:
        rows.append(("legitimate", f"{summary.legit.wrong} of {summary.legit.total} stopped"))
    width = max(len(flat(name)) for name, _ in rows)
    yield ""
    yield "Score of the labelled runs:"
    for name, result in rows:
        yield f"  {flat(name):<{width}}  {result}"


def _wrong(run: str, judgement: Judgement) -> str:
    return flat(
        f"{run} ({judgement.hazard}): expected {judgement.expected}; {judgement.happened}", 1000
    )


def _of(tally: Tally) -> str:
    return f"{tally.right} of {tally.total} right"


def _total(hostile: dict[str, Tally]) -> int:
    return sum(tally.total for tally in hostile.values())


def _steps(evidence: tuple[int, ...]) -> str:
    shown = ", ".join(str(step) for step in evidence[:_MOST_EVIDENCE])
    more = len(evidence) - _MOST_EVIDENCE
    word = "step" if len(evidence) == 1 else "steps"
    return f"{word} {shown}" + (f" and {more} more" if more > 0 else "")


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _problems(count: int) -> str:
    return _number(count, "problem")
