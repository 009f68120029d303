"""What one run knows. The controller owns it, under one lock."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from pytest_tripwire.breaker.budget import Dimension
from pytest_tripwire.breaker.checks.finding import Finding, Proposal
from pytest_tripwire.timeline import Mode, ToolSpec


class RunContext(msgspec.Struct, frozen=True, kw_only=True):
    """Who runs what, as the caller says it. Nothing here comes from the model.

    Args:
        run_id: unique for each run.
        tenant: on whose behalf.
        workflow: workflow and version, e.g. `refunds@4`.
        request_id: the piece of work; the same id repeats no write.
    """

    run_id: str
    tenant: str = ""
    workflow: str = ""
    request_id: str = ""

    @property
    def epoch(self) -> str:
        """The piece of work; a run without a request id is one of its own."""
        return self.request_id or self.run_id


@dataclass(slots=True, kw_only=True)
class Admitted:
    """A call that was let through and has not come back."""

    proposal: Proposal
    needs: Mapping[Dimension, float]
    at: float
    key: str | None = None


@dataclass(slots=True, kw_only=True)
class RunState:
    """Everything about a run that changes."""

    mode: Mode = Mode.OPEN
    stop: Finding | None = None
    last_intent: str = ""
    admitted: defaultdict[str, list[Admitted]] = field(default_factory=lambda: defaultdict(list))
    held: dict[str, ToolSpec] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)
    evidence: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    refused: int = 0
    dispatched: int = 0
