"""What has happened in a run, in numbers."""

from __future__ import annotations

from collections import Counter, defaultdict
from decimal import Decimal

import msgspec

from pytest_tripwire.timeline import BudgetLine, Decision, Mode, Reason, Verdict

#: Stands for whatever a model calls a tool that there is none of.
UNDECLARED = "(undeclared)"


class RunStats(msgspec.Struct, frozen=True, kw_only=True):
    """A run in numbers, as it stands. Money, tokens and budgets are those that it shares with its
    children; everything else is its own.

    Args:
        run_id: the run.
        mode: what it may still do.
        last_reason: why it left `open`, or why a circuit opened last.
        shadow: whether it is only watched.
        decisions: verdicts by decision.
        reasons: verdicts by reason; a plain `ALLOW` has none.
        tools: verdicts by tool and decision; names that a model made up are `(undeclared)`.
        turns: model requests.
        calls: calls that were dispatched.
        in_flight: those of them that have not come back.
        not_run: calls that were not let through; of a run that is only watched, those that an
            enforced run would not have let through.
        side_effects: business mutations; one whose outcome is unknown counts.
        cost_usd: what model requests and tools have cost, as far as anybody knows.
        tokens: prompt and completion, as far as anybody knows.
        elapsed_s: seconds of its own time.
        budgets: every limited budget.
    """

    run_id: str
    mode: Mode
    last_reason: Reason | None
    shadow: bool
    decisions: dict[Decision, int]
    reasons: dict[Reason, int]
    tools: dict[str, dict[Decision, int]]
    turns: int
    calls: int
    in_flight: int
    not_run: int
    side_effects: int
    cost_usd: Decimal
    tokens: int
    elapsed_s: float
    budgets: tuple[BudgetLine, ...]


class Tally:
    """Owner of a run's counts, used under its lock."""

    def __init__(self) -> None:
        self.calls = 0
        self.decisions: Counter[Decision] = Counter()
        self.reasons: Counter[Reason] = Counter()
        self.tools: defaultdict[str, Counter[Decision]] = defaultdict(Counter)

    def decided(self, tool: str, verdict: Verdict) -> None:
        """Count a verdict."""
        self.decisions[verdict.decision] += 1
        self.tools[tool][verdict.decision] += 1
        if verdict.reason is not None:
            self.reasons[verdict.reason] += 1
