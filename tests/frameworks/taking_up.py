"""How a team takes its interrupted run up again, for the tests of agents that guard themselves."""

from __future__ import annotations

from collections.abc import Callable

from pytest_tripwire.breaker import Breaker, BreakerRun, InterruptionRecord, Resume

OPERATOR = "olga"
WORKFLOW = "refunds@1"


def taken_up(
    breaker: Breaker | None,
    record: InterruptionRecord | None,
    reload: Callable[[str], str | None],
) -> BreakerRun:
    """The run that goes on where the one of this record was interrupted. `reload` tells the version
    of a record of the business, as it is now.
    """
    assert breaker is not None
    assert record is not None
    wanted = Resume(
        run_id=record.run_id,
        token_version=record.token_version,
        operator=OPERATOR,
        workflow=WORKFLOW,
    )
    return breaker.resume(
        wanted, authorise=lambda who, _record, _action: who == OPERATOR, reload=reload
    )
