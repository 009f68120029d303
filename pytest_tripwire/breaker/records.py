"""The interruption record of a run, made from what the run knows."""

from __future__ import annotations

from pytest_tripwire.breaker.checks.finding import Finding
from pytest_tripwire.breaker.state import RunContext, RunState
from pytest_tripwire.timeline import (
    BudgetLine,
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
    *,
    budgets: tuple[BudgetLine, ...],
    writes: tuple[WriteEntry, ...],
    elapsed_s: float,
    previous: InterruptionRecord | None,
) -> InterruptionRecord:
    """What a person needs to go on from here without doing anything twice. The token version of
    a `previous` record of the run lives on, so that an old token stays old.
    """
    return InterruptionRecord(
        run_id=context.run_id,
        tenant=context.tenant,
        workflow=context.workflow,
        request_id=context.request_id,
        mode=state.mode,
        reason=stop.reason,
        message=stop.message,
        evidence=stop.evidence,
        budgets=budgets,
        last_intent=state.last_intent,
        last_resource=state.last_resource,
        business_version=state.last_version,
        elapsed_s=elapsed_s,
        writes=writes,
        safe_actions=safe_actions(writes, held=bool(state.held)),
        token_version=previous.token_version if previous else 1,
    )


def safe_actions(writes: tuple[WriteEntry, ...], *, held: bool) -> tuple[SafeAction, ...]:
    """An unsettled write forbids a full resume until it is reconciled. What the run is `held` by
    may be the write of another run.
    """
    unsettled = held or any(entry.status in UNSETTLED for entry in writes)
    middle = (
        (SafeAction.RECONCILE, SafeAction.RESUME_READ_ONLY) if unsettled else (SafeAction.RESUME,)
    )
    return (SafeAction.INSPECT, *middle, SafeAction.CLOSE)
