"""A run in numbers."""

from __future__ import annotations

from pytest_tripwire.breaker.budget import Dimension
from pytest_tripwire.breaker.core import Core
from pytest_tripwire.breaker.tally import RunStats
from pytest_tripwire.timeline import Decision, Reason


def stats_of(core: Core, last_reason: Reason | None) -> RunStats:
    """How a run stands. Used under its lock."""
    tally, accounts = core.tally, core.accounts
    refused = sum(n for decision, n in tally.decisions.items() if decision is not Decision.ALLOW)
    return RunStats(
        run_id=core.run_id,
        mode=core.mode,
        last_reason=last_reason,
        shadow=core.shadow is not None,
        decisions=dict(tally.decisions),
        reasons=dict(tally.reasons),
        tools={tool: dict(counts) for tool, counts in tally.tools.items()},
        turns=core.state.turns,
        calls=tally.calls,
        in_flight=len(core.state.admissions.waiting),
        not_run=refused if core.shadow is None else core.shadow.not_run,
        side_effects=int(accounts.used(Dimension.SIDE_EFFECTS)),
        cost_usd=accounts.used(Dimension.MODEL_COST),
        tokens=int(accounts.used(Dimension.TOKENS)),
        elapsed_s=core.elapsed_s,
        budgets=accounts.lines(),
    )
