"""What one run knows. The controller owns it, under one lock."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import msgspec

from pytest_tripwire.breaker.admissions import Admissions
from pytest_tripwire.breaker.approvals import Approvals
from pytest_tripwire.breaker.conversation import Conversations, current, speaker_of
from pytest_tripwire.breaker.denied import Denied
from pytest_tripwire.breaker.finding import DenialSeen, Finding
from pytest_tripwire.breaker.freshness import Freshness
from pytest_tripwire.breaker.given import Given
from pytest_tripwire.breaker.leases import LEASE_S
from pytest_tripwire.breaker.progress.history import History
from pytest_tripwire.breaker.related import OwnWrites
from pytest_tripwire.breaker.rounds import Rounds
from pytest_tripwire.timeline import Mode, ToolCall, ToolSpec


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
        parent: the run that it works for; empty for one that nobody else has begun.
        agent: the sub-agent whose run it is, where it works for another.
        policy: version of the policy that it runs under.
        inputs: what it was given to work on, as its caller names it.
        continues: the interrupted run that it goes on from with other inputs.
        lease_s: seconds for which the process answers for a write that it has begun.
    """

    run_id: str
    tenant: str = ""
    workflow: str = ""
    request_id: str = ""
    started_at: float = 0.0
    token_version: int = 1
    parent: str = ""
    agent: str = ""
    policy: str = ""
    inputs: str = ""
    continues: str = ""
    lease_s: float = LEASE_S

    @property
    def epoch(self) -> str:
        """The piece of work; a run without a request id is one of its own."""
        return self.request_id or self.run_id


@dataclass(slots=True, kw_only=True)
class RunState:
    """Everything about a run that changes. `stopped_at`: when it left `open`. `over_ceiling`: a
    prompt was too long, so a last answer is asked for; `final`: the turn under way is that answer.
    `turns` counts model requests, `batches` messages whose calls were told of together where nobody
    tells of requests. `unpaid` names writes that took no slot, as an enforced run would not have
    let them through; `doubtful` those that took one and may turn out not to have happened.
    """

    mode: Mode = Mode.OPEN
    stop: Finding | None = None
    stopped_at: float = 0.0
    last_intent: str = ""
    last_tool: str = ""
    last_resource: str = ""
    last_version: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    ended: bool = False
    admissions: Admissions = field(default_factory=Admissions)
    held: dict[str, ToolSpec] = field(default_factory=dict)
    watched: dict[str, ToolSpec] = field(default_factory=dict)
    unpaid: set[str] = field(default_factory=set)
    doubtful: dict[str, None] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)
    evidence: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    denials: dict[tuple[str, str], DenialSeen] = field(default_factory=dict)
    policy_denials: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    denied: Denied = field(default_factory=Denied)
    own: OwnWrites = field(default_factory=OwnWrites)
    approvals: Approvals = field(default_factory=Approvals)
    given: Given = field(default_factory=Given)
    fresh: Freshness = field(default_factory=Freshness)
    history: History = field(default_factory=History)
    conversations: Conversations = field(default_factory=Conversations)
    executed: Counter[str] = field(default_factory=Counter)
    diagnosed: bool = False
    over_ceiling: bool = False
    final: bool = False
    rounds: Rounds = field(default_factory=Rounds)
    batches: int = 0
    turns: int = 0
    parked_s: float = 0.0
    progress_turn: int = 0
    looks: int = 0
    lowest_cost: Decimal = Decimal(0)
    tool_costs: dict[str, Decimal] = field(default_factory=dict)

    def speaker(self, call: ToolCall) -> str:
        """Who proposes a call here and now."""
        return speaker_of(self.conversations.name(current()), call.agent)

    def of_child(self) -> RunState:
        """That of a run that works for this one: what was written, read, denied and approved is
        known to both; how it gets on is its own.
        """
        return RunState(
            versions=self.versions,
            held=self.held,
            watched=self.watched,
            unpaid=self.unpaid,
            doubtful=self.doubtful,
            answers=self.answers,
            evidence=self.evidence,
            denials=self.denials,
            policy_denials=self.policy_denials,
            denied=self.denied,
            own=self.own,
            approvals=self.approvals,
            fresh=self.fresh,
            executed=self.executed,
            tool_costs=self.tool_costs,
            parked_s=self.parked_s,
        )
