"""Replays good runs with the budgets that were read off them, and says what would stop them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from pytest_tripwire.replay.problem import Problem
from pytest_tripwire.replay.report.plain import flat
from pytest_tripwire.replay.run import Replayed
from pytest_tripwire.replay.trace import TraceVerdict
from pytest_tripwire.timeline import Family, Reason

#: Kinds of stops that are told of one by one.
_MOST = 20


class Verified:
    """Owner of what came of the second look."""

    def __init__(self) -> None:
        self.runs = 0
        self.by_budget = 0
        self.failed = 0
        self._times: Counter[tuple[Reason | None, str]] = Counter()
        self._first: dict[tuple[Reason | None, str], TraceVerdict] = {}

    def add(self, item: Replayed | Problem) -> None:
        """One more run."""
        if isinstance(item, Problem):
            self.failed += 1
            return
        self.runs += 1
        verdict = item.verdict
        if verdict.interrupted:
            self.by_budget += _is_budget(verdict.reason)
            kind = (verdict.reason, verdict.tool)
            self._times[kind] += 1
            self._first.setdefault(kind, verdict)

    def lines(self) -> Iterator[str]:
        """What was found, as comments of the file of budgets."""
        word = "none was" if not self.by_budget else f"{self.by_budget} WERE"
        runs = "1 run was" if self.runs == 1 else f"{self.runs} runs were"
        yield f"# Verified: {runs} replayed with these budgets, {word} stopped for a budget."
        others = sum(self._times.values()) - self.by_budget
        if others:
            yield f"# {others} would be stopped whatever the budget; if they are as they should be,"
            yield "# declare with --specs what is normal there (`poll`, `wording`, `cursor` ...)."
        for kind, times in self._times.most_common(_MOST):
            yield f"#   {times} x {_said(self._first[kind])}"


def verify(replayed: Iterable[Replayed | Problem]) -> Verified:
    """Look at all runs once more."""
    verified = Verified()
    for item in replayed:
        verified.add(item)
    return verified


def _is_budget(reason: Reason | None) -> bool:
    return reason is not None and reason.family is Family.BUDGET


def _said(verdict: TraceVerdict) -> str:
    return (
        f"{verdict.reason} at {flat(verdict.tool)}: "
        f"first in {flat(verdict.id)}, step {verdict.step}"
    )
