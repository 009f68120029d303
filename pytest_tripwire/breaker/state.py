"""What one run knows. The controller owns it, under one lock."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import msgspec

from pytest_tripwire.breaker.admissions import Admissions
from pytest_tripwire.breaker.approvals import Approvals
from pytest_tripwire.breaker.finding import DenialSeen, Finding
from pytest_tripwire.breaker.denied import Denied
from pytest_tripwire.breaker.freshness import Freshness
from pytest_tripwire.breaker.progress.history import History
from pytest_tripwire.breaker.related import OwnWrites
from pytest_tripwire.breaker.rounds import Rounds
from pytest_tripwire.timeline import Mode, ToolSpec


class RunContext(msgspec.Struct, frozen=True, kw_only=True):
    """Who runs what, as the caller says it. Nothing here comes from the model.

    Args:
        run_id: unique for each run.
        tenant: on whose behalf.
        workflow: workflow and version, e.g. `refunds@4`.
        request_id: the piece of work; the same id repeats no write.
        started_at: seconds on the run's clock at which it began; for a run that was taken up
            again, so long ago that the time that it had used stays used.
        token_version: of the record that the run may write; one that was taken up by others since
            is no longer this run's.
    """

    run_id: str
    tenant: str = ""
    workflow: str = ""
    request_id: str = ""
    started_at: float = 0.0
    token_version: int = 1

    @property
    def epoch(self) -> str:
        """The piece of work; a run without a request id is one of its own."""
        return self.request_id or self.run_id


@dataclass(slots=True, kw_only=True)
class RunState:
    """Everything about a run that changes. `over_ceiling`: a prompt was too long, so a last answer
    is asked for; `final`: the turn under way is that answer. `turns` counts model requests,
    `batches` those of them that were told by a batch alone, `messages` what the user has said.
    """

    mode: Mode = Mode.OPEN
    stop: Finding | None = None
    last_intent: str = ""
    last_resource: str = ""
    last_version: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    ended: bool = False
    admissions: Admissions = field(default_factory=Admissions)
    held: dict[str, ToolSpec] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)
    evidence: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    denials: dict[tuple[str, str], DenialSeen] = field(default_factory=dict)
    policy_denials: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    denied: Denied = field(default_factory=Denied)
    own: OwnWrites = field(default_factory=OwnWrites)
    approvals: Approvals = field(default_factory=Approvals)
    fresh: Freshness = field(default_factory=Freshness)
    history: History = field(default_factory=History)
    executed: Counter[str] = field(default_factory=Counter)
    diagnosed: bool = False
    over_ceiling: bool = False
    final: bool = False
    rounds: Rounds = field(default_factory=Rounds)
    batches: int = 0
    turns: int = 0
    messages: int = 0
    parked_s: float = 0.0
    progress_turn: int = 0
    lowest_cost: Decimal = Decimal(0)
    tool_costs: dict[str, Decimal] = field(default_factory=dict)
    would: deque[Finding] = field(default_factory=lambda: deque(maxlen=64))
