"""Runs that work for another one, for sub-agents."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

import msgspec

from pytest_tripwire.breaker.assembly import expect_progress
from pytest_tripwire.breaker.bound_key import with_minted_key
from pytest_tripwire.breaker.budget import Dimension
from pytest_tripwire.breaker.checks.stop_state import over
from pytest_tripwire.breaker.core import Core
from pytest_tripwire.breaker.finding import Finding
from pytest_tripwire.breaker.shadow import Shadow
from pytest_tripwire.breaker.state import RunContext, RunState
from pytest_tripwire.timeline import ChildBegun, Decision, Mode, Reason, ToolSpec

_NO_SLOT = (
    "This run has begun as many sub-agents as it may, so none was begun. Do the work here, or "
    "finish with what you know."
)
_ENDED = "This run has come to its end, so no sub-agent was begun."


def refusal(core: Core) -> Finding | None:
    """Why a run may begin no child now, if it may not. A slot is taken when it may."""
    if core.state.ended:
        return _refused(Reason.CANCELLED, _ENDED)
    stop = core.stop
    if stop is not None and core.mode is not Mode.OPEN:
        return msgspec.structs.replace(over(stop), mode=None)
    short = core.accounts.reserve({Dimension.SUBAGENTS: Decimal(1)})
    if short is not None:
        return _refused(Reason.SUBAGENT_BUDGET, _NO_SLOT)
    core.accounts.settle(Dimension.SUBAGENTS, reserved=Decimal(1), spent=Decimal(1))
    return None


def born(core: Core, agent: str, specs: Mapping[str, ToolSpec], *, judged: bool) -> Core:
    """The run of a child. It has no slot to take any more."""
    core.kin.begun += 1
    version = core.context.token_version
    # A run that was taken up again does not know how many it had begun before.
    run_id = f"{core.run_id}/{f'{version}.' if version > 1 else ''}{core.kin.begun}"
    core.ledger.adopt(run_id)
    child = Core(
        context=_context(core, run_id, agent),
        specs={**core.specs, **{name: with_minted_key(spec) for name, spec in specs.items()}},
        budget=core.budget,
        accounts=core.accounts,
        policy=core.policy,
        ledger=core.ledger.of(run_id),
        clock=core.clock,
        events=core.events.of(run_id),
        new_key=core.new_key,
        state=_state(core, judged=judged),
        circuits=core.circuits,
        kin=core.kin,
        rate=core.rate,
        shadow=None if core.shadow is None else Shadow(core.shadow),
        parent=core,
    )
    core.children.append(child)
    core.kin.members.append(child)
    core.events.append(ChildBegun(child=run_id, agent=agent))
    return child


def gone(core: Core) -> None:
    """A run has ended: its parent has one child less."""
    core.kin.left(core)
    if core.parent is not None:
        core.parent.children[:] = [each for each in core.parent.children if each is not core]
        if not core.ledger.of_run(core.run_id):
            core.ledger.disown(core.run_id)


def _context(core: Core, run_id: str, agent: str) -> RunContext:
    return RunContext(
        run_id=run_id,
        tenant=core.tenant,
        workflow=core.context.workflow,
        request_id=core.context.epoch,
        started_at=core.context.started_at,
        parent=core.run_id,
        agent=agent,
        policy=core.context.policy,
        inputs=core.context.inputs,
        lease_s=core.context.lease_s,
    )


def _state(core: Core, *, judged: bool) -> RunState:
    state = core.state.of_child()
    expect_progress(state, core.budget, judged=judged, tenant=core.tenant)
    return state


def _refused(reason: Reason, message: str) -> Finding:
    return Finding(decision=Decision.REFUSE, reason=reason, message=message)
