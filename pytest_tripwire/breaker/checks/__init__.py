"""The questions asked of every proposed call, one file each, in the order of their weight."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pytest_tripwire.breaker.attempts import task_attempts
from pytest_tripwire.breaker.checks.approval import approval, approved
from pytest_tripwire.breaker.checks.arguments import arguments
from pytest_tripwire.breaker.checks.authorization import authorization
from pytest_tripwire.breaker.checks.budgets import budgets
from pytest_tripwire.breaker.checks.circuit import circuit
from pytest_tripwire.breaker.checks.deadline import deadline
from pytest_tripwire.breaker.checks.earlier_denial import earlier_denial
from pytest_tripwire.breaker.checks.in_flight import in_flight
from pytest_tripwire.breaker.checks.progress import progress
from pytest_tripwire.breaker.checks.rate_limit import rate_limit
from pytest_tripwire.breaker.checks.stop_state import stop_state
from pytest_tripwire.breaker.checks.write_certainty import write_certainty
from pytest_tripwire.breaker.finding import DenialSeen, Finding, Proposal

if TYPE_CHECKING:
    from pytest_tripwire.breaker.core import Core

    Check = Callable[[Core, Proposal], Finding | None]

#: When several reasons hold, the first in this order is reported. Certainty comes before
#: budgets, so that a spent budget never hides a lost write.
ORDER: tuple[Check, ...] = (
    stop_state,
    arguments,
    authorization,
    write_certainty,
    approved,
    earlier_denial,
    deadline,
    budgets,
    task_attempts,
    rate_limit,
    circuit,
    in_flight,
    progress,
    approval,
)


def first_finding(run: Core, proposal: Proposal) -> Finding | None:
    """The weightiest reason not to allow, or None."""
    for check in ORDER:
        finding = check(run, proposal)
        if finding is not None:
            return finding
    return None


__all__ = ["ORDER", "DenialSeen", "Finding", "Proposal", "first_finding"]
