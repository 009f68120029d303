"""What came of many traces, in a few numbers."""

from __future__ import annotations

from collections import Counter

from pytest_tripwire.replay.problem import Problem
from pytest_tripwire.replay.run import Replayed
from pytest_tripwire.replay.score import LEGIT, Tally


class Summary:
    """Owner of the counts of one replay; holds none of the traces."""

    def __init__(self) -> None:
        self.traces = 0
        self.steps = 0
        self.interrupted = 0
        self.problems = 0
        self.args_unknown = 0
        self.results_unknown = 0
        self.reasons: Counter[str] = Counter()
        self.hazards: dict[str, Tally] = {}

    def add(self, item: Replayed | Problem) -> None:
        """Count one."""
        if isinstance(item, Problem):
            self.problems += 1
            return
        self.traces += 1
        self.steps += item.verdict.steps
        self.args_unknown += item.args_unknown
        self.results_unknown += item.results_unknown
        if item.verdict.interrupted:
            self.interrupted += 1
            self.reasons[str(item.verdict.reason)] += 1
        if item.judgement is not None:
            hazard = item.judgement.hazard
            self.hazards[hazard] = self.hazards.get(hazard, Tally()).with_one(item.judgement)

    @property
    def hostile(self) -> dict[str, Tally]:
        """Right ones of the runs that had to be stopped, by hazard."""
        return {name: self.hazards[name] for name in sorted(self.hazards) if name != LEGIT}

    @property
    def legit(self) -> Tally:
        """Right ones of the runs that had to be let through."""
        return self.hazards.get(LEGIT, Tally())

    @property
    def wrong(self) -> int:
        """How many labelled runs went another way than was expected."""
        return sum(tally.wrong for tally in self.hazards.values())
