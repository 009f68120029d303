"""What a settled call teaches the run: progress, or the lack of it, versions and denials."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import msgspec

from pytest_tripwire.breaker.admissions import Admitted
from pytest_tripwire.breaker.checks.earlier_denial import denial_key
from pytest_tripwire.breaker.core import Core
from pytest_tripwire.breaker.finding import DenialSeen, Proposal
from pytest_tripwire.breaker.findings import nudge, stuck
from pytest_tripwire.breaker.fingerprint import reference_of
from pytest_tripwire.breaker.keeping import class_named, keep_denial, rule_named
from pytest_tripwire.breaker.limits import read_dollars
from pytest_tripwire.breaker.modes import Modes
from pytest_tripwire.breaker.progress import Step, Trip, judge_step, step_of
from pytest_tripwire.timeline import Effect, Nudged, Outcome, Status

#: Records whose versions a run remembers, those read last.
MOST_VERSIONS = 256
#: Denials of one thing that are kept.
_MOST_DENIALS = 64
#: Tools whose lowest cost a run remembers.
_MOST_TOOLS = 256
#: Fields by which results tell what they have cost, where no other is declared.
COST_FIELDS = ("cost_usd", "total_cost_usd")

_FINAL = "This is the final iteration: no further tool will run, so answer with what you know."


class Learning:
    """Takes outcomes. Used under the run's lock."""

    def __init__(self, core: Core, modes: Modes) -> None:
        self._core = core
        self._modes = modes

    def learn(
        self, admitted: Admitted, outcome: Outcome, seq: int, *, advanced: bool
    ) -> str | None:
        """Take what came back; returns a hint that belongs with the result, if there is one."""
        try:
            trip = self._taken(admitted, outcome, seq, advanced=advanced)
        except Exception:  # noqa: BLE001 - a result may raise anything when it is looked into
            trip = None  # and then it teaches nothing; what is certain was told before
        return self._act(trip, admitted.proposal)

    def _taken(
        self, admitted: Admitted, outcome: Outcome, seq: int, *, advanced: bool
    ) -> Trip | None:
        proposal, state = admitted.proposal, self._core.state
        now = self._core.clock.now()
        step = step_of(
            proposal,
            outcome,
            seq=seq,
            since=admitted.asked,
            turn=proposal.turn,
            at=now,
            took=now - admitted.at,
        )
        self._note_versions(admitted, step)
        if outcome.status is Status.DENIED and proposal.spec.effect is not Effect.READ:
            self._note_denial(proposal, outcome, seq)
            return None
        state.given.show(outcome.result)
        state.history.siblings = state.admissions.of_turn(proposal.turn)
        fruitful = state.history.add(step, advanced=advanced)
        if fruitful and not step.empty:
            state.progress_turn = state.turns
        state.looks += state.history.waits
        return judge_step(state.history, step, self._core.patience)

    def cost(self, proposal: Proposal, outcome: Outcome) -> Decimal | None:
        """What a call has cost, if it or its caller says; the lowest of a tool is remembered."""
        said = _said_cost(outcome.result, proposal)
        if outcome.cost_usd is None and said is None:
            return proposal.spec.cost
        cost = (outcome.cost_usd or Decimal(0)) + (said or Decimal(0))
        costs, tool = self._core.state.tool_costs, proposal.spec.name
        if cost > 0 and (tool in costs or len(costs) < _MOST_TOOLS):
            costs[tool] = min(costs.get(tool, cost), cost)
        return cost

    def _act(self, trip: Trip | None, proposal: Proposal) -> str | None:
        if trip is None:
            return self._final_hint()
        if trip.stops:
            self._modes.leave_open(stuck(trip))
            return None
        self._core.events.append(Nudged(call_id=proposal.call.call_id, reason=trip.reason))
        return nudge(trip)

    def _note_versions(self, admitted: Admitted, step: Step) -> None:
        proposal = admitted.proposal
        state, arguments = self._core.state, proposal.call.arguments
        resource = reference_of(arguments, proposal.spec)
        if step.ok and step.effect is Effect.READ:
            state.fresh.look(arguments, step.version)
            state.approvals.seen(arguments, step.version)
        if step.ok and step.effect is Effect.WRITE:
            if admitted.key is not None:
                state.own.came_back(admitted.key, step.result, step.version)
            state.denied.wrote(proposal, seq=step.seq)
            if not step.version:
                state.versions.pop(resource, None)
        if step.version:
            self._note_version(resource, step.version)

    def _note_version(self, resource: str, version: str) -> None:
        state = self._core.state
        state.last_resource, state.last_version = resource, version
        if resource:
            state.versions.pop(resource, None)
            state.versions[resource] = version
            while len(state.versions) > MOST_VERSIONS:
                del state.versions[next(iter(state.versions))]

    def _note_denial(self, proposal: Proposal, outcome: Outcome, seq: int) -> None:
        state, key = self._core.state, denial_key(proposal)
        rule = rule_named(outcome.rule or "") or class_named(outcome.error or "") or "unnamed"
        seen = state.denials.get(key) or DenialSeen(
            rules=(), tool="", intents=frozenset(), evidence=()
        )
        state.denials[key] = msgspec.structs.replace(
            seen,
            rules=(*seen.rules, rule)[-_MOST_DENIALS:],
            tool=proposal.call.tool,
            intents=seen.intents | {proposal.intent.digest},
            evidence=(*seen.evidence, seq)[-_MOST_DENIALS:],
        )
        keep_denial(self._core, key)
        loose = state.history.free.loosen(proposal.call, proposal.spec)
        state.denied.add(proposal, loose, rule=rule, seq=seq, turn=proposal.turn)

    def _final_hint(self) -> str | None:
        state = self._core.state
        return _FINAL if state.over_ceiling and not state.final else None


def _said_cost(result: Any, proposal: Proposal) -> Decimal | None:
    if not isinstance(result, dict):
        return None
    field = proposal.spec.cost_field
    names = (field,) if field is not None else COST_FIELDS
    found = (read_dollars(result[name]) for name in names if name in result)
    return next((each for each in found if each is not None), None)
