"""What one run of an agent on a case came to."""

from __future__ import annotations

from typing import Any

import msgspec

from pytest_tripwire.harness.failures import failure
from pytest_tripwire.models.diagnosis import Diagnosis
from pytest_tripwire.oracle import Cell, timeline_text
from pytest_tripwire.timeline import AnyEvent, BudgetLine, InterruptionRecord, Reason


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One run, judged.

    Args:
        cell: the judgement.
        answer: what the agent returned, None when it raised.
        error: what it raised, if it did.
        record: the interruption record, if it was interrupted.
        stop_seq: where on the timeline it was interrupted; 0 if it was not.
        surfaced: how the stop came out of the agent.
        budgets: the budgets as they stand at the end.
    """

    cell: Cell
    answer: Any = None
    error: BaseException | None = None
    record: InterruptionRecord | None = None
    stop_seq: int = 0
    surfaced: str = ""
    budgets: tuple[BudgetLine, ...] = ()

    def __repr__(self) -> str:
        return f"<Run {self.cell.case}: {self.cell.state}, {self.cell.ending}>"

    @property
    def interrupted(self) -> bool:
        """Whether the run was stopped."""
        return self.stop_seq > 0

    @property
    def reason(self) -> Reason | None:
        """Why it was stopped."""
        return self.cell.reason

    @property
    def diagnosis(self) -> tuple[Diagnosis, ...]:
        """What is wrong with how the agent uses its model, weightiest first."""
        return self.cell.diagnosis

    @property
    def events(self) -> tuple[AnyEvent, ...]:
        """The whole timeline."""
        return self.cell.events

    def timeline(self) -> str:
        """The timeline as text."""
        return timeline_text(self.events)

    def check(self) -> None:
        """Demand all that the case and the invariants demand.

        Raises:
            TripwireFailure: with the timeline and the offending event marked.
        """
        __tracebackhide__ = True
        failed = failure(self.cell)
        if failed is not None:
            raise failed from self.error
