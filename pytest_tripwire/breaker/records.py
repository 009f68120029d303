"""The interruption record of a run, made from what the run knows."""

from __future__ import annotations

from pytest_tripwire.breaker.budget import Accounts
from pytest_tripwire.breaker.checks.finding import Finding
from pytest_tripwire.breaker.state import RunContext, RunState
from pytest_tripwire.timeline import (
    InterruptionRecord,
    SafeAction,
    WriteEntry,
    WriteStatus,
)

UNSETTLED = frozenset({WriteStatus.UNKNOWN, WriteStatus.IN_FLIGHT})


def record(
    context: RunContext,
    state: RunState,
    stop: Finding,
    accounts: Accounts,
    writes: tuple[WriteEntry, ...],
) -> InterruptionRecord:
    """What a person needs to go on from here without doing anything twice."""
    return InterruptionRecord(
        run_id=context.run_id,
        tenant=context.tenant,
        workflow=context.workflow,
        mode=state.mode,
        reason=stop.reason,
        message=stop.message,
        evidence=stop.evidence,
        budgets=accounts.lines(),
        last_intent=state.last_intent,
        writes=writes,
        safe_actions=safe_actions(writes, held=bool(state.held)),
    )


def safe_actions(writes: tuple[WriteEntry, ...], *, held: bool) -> tuple[SafeAction, ...]:
    """An unsettled write forbids a full resume until it is reconciled. What the run is `held` by
    may be the write of another run."""
    unsettled = held or any(entry.status in UNSETTLED for entry in writes)
    middle = (
        (SafeAction.RECONCILE, SafeAction.RESUME_READ_ONLY) if unsettled else (SafeAction.RESUME,)
    )
    return (SafeAction.INSPECT, *middle, SafeAction.CLOSE)
