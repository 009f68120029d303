"""A write is not sent while an earlier one of the same resource may have happened.

An unknown write holds its resource through anything that lies between. A confirmed one is a
duplicate only within its piece of work, or in a run that learned of it by reconciling, and only
while nothing else was written to the resource: putting a value back, or doing again what the user
asks for again, is good work.
"""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from typing import TYPE_CHECKING

import msgspec

from pytest_tripwire.breaker.epoch import messages_of, work_of
from pytest_tripwire.breaker.finding import Finding, Proposal
from pytest_tripwire.timeline import Decision, Mode, Reason, ToolSpec, WriteEntry, WriteStatus

if TYPE_CHECKING:
    from pytest_tripwire.breaker.core import Core

_DONE = (
    "{tool} was already done for this and is confirmed{id}. It was not sent again. "
    "Go on with that result."
)
_UNDER_WAY = "{tool} is under way for this already and was not sent a second time. Wait for it."
_ASK_AGAIN = " If nothing has come of it in {seconds} s, ask again."
_UNKNOWN = (
    "An earlier {tool} on this may or may not have happened: its answer was lost. It was not sent "
    "again, and other words or a new id will not change that. {how}"
)
_STALE = (
    "{what} was changed by somebody else since this run has read it, so {tool} was not run on what "
    "is no longer true. Read it again first."
)
_READ = "Call {read} to see what became of it."
_REPORT = "Say that its outcome is not known yet and that a person will look."


def write_certainty(run: Core, proposal: Proposal) -> Finding | None:
    """Holds a write over an unknown one and refuses a confirmed one."""
    if not proposal.spec.mutates:
        return None
    entry = standing(run, bearing(run, proposal.intent.resource), proposal)
    if entry is None:
        entry = _as_a_nonce(run, proposal) or _related(run, proposal)
    if entry is not None:
        return explain(entry, run, proposal)
    return _stale(run, proposal)


def bearing(run: Core, resource: str) -> Sequence[WriteEntry]:
    """What decides about a write of the resource: also what others have done for other work, where
    the run has learned of it by reconciling.
    """
    ledger = run.ledger
    return (
        ledger.of_resource(resource)
        if run.answers
        else ledger.bearing(resource, work_of(run.epoch))
    )


def standing(run: Core, known: Sequence[WriteEntry], proposal: Proposal) -> WriteEntry | None:
    """The entry of the proposal's resource that forbids it, given all of them in order."""
    entry = in_the_way(
        known,
        intent=proposal.intent.digest,
        epoch=run.epoch,
        run_id=run.run_id,
        learned=run.answers,
    )
    if entry is None or entry.status is not WriteStatus.CONFIRMED:
        return entry
    excused = proposal.spec.repeatable or (entry.run_id == run.run_id and _is_due(run, entry))
    return None if excused else entry


def _is_due(run: Core, entry: WriteEntry) -> bool:
    """Whether a confirmed write has reason to be made again. Arguments that cannot be looked into
    give none.
    """
    own = run.state.own
    try:
        return own.is_put_back(entry.key) or own.is_due_again(entry.key)
    except Exception:  # noqa: BLE001 - they may raise anything when they are compared
        return False


def _as_a_nonce(run: Core, proposal: Proposal) -> WriteEntry | None:
    """The entry that would forbid the proposal if an id that it was given were a nonce after all:
    what is taken for an id may hold a write back, and never lets one through.
    """
    other = proposal.as_a_nonce
    if other is None:
        return None
    same = msgspec.structs.replace(proposal, intent=other)
    return standing(run, bearing(run, other.resource), same)


def _related(run: Core, proposal: Proposal) -> WriteEntry | None:
    """An unknown write of this run that may act on the same, where nothing is declared."""
    if not run.state.own.undeclared:
        return None
    loose = run.state.history.free.loosen(proposal.call, proposal.spec)
    for own in run.state.own.concerning(loose, declared=proposal.spec.identity is not None):
        for entry in bearing(run, own.resource):
            if entry.key == own.key and entry.status is WriteStatus.UNKNOWN:
                return entry
    return None


def _stale(run: Core, proposal: Proposal) -> Finding | None:
    """A write on what somebody else has changed since the run has read it."""
    what = run.state.fresh.stale(proposal.call.arguments)
    if not what:
        return None
    return Finding(
        decision=Decision.REQUIRE_APPROVAL if proposal.spec.requires_approval else Decision.REFUSE,
        reason=Reason.STALE_RESUME,
        message=_STALE.format(tool=proposal.spec.name, what=what),
        parks=proposal.spec.requires_approval,
    )


def in_the_way(
    known: Sequence[WriteEntry],
    *,
    intent: str,
    epoch: str,
    run_id: str,
    learned: Container[str] = (),
) -> WriteEntry | None:
    """The entry that forbids a write of `intent`, given all writes of its resource in order.
    `learned` holds the keys of those that the run found confirmed when it reconciled them.
    """
    for entry in known:
        if entry.status is WriteStatus.UNKNOWN:
            return entry
    for entry in known:
        if entry.status is WriteStatus.IN_FLIGHT and entry.intent == intent:
            return entry
    changed_since = False
    for entry in reversed([entry for entry in known if entry.status is WriteStatus.CONFIRMED]):
        if entry.intent != intent:
            # What another delivery of the same message does beside this one changes nothing.
            beside = entry.run_id != run_id and entry.epoch == epoch
            changed_since = changed_since or not beside
        # A message that is delivered again excuses nothing that was done for it before.
        elif (_is_same_work(entry, epoch, run_id) or entry.key in learned) and (
            entry.run_id != run_id or not changed_since
        ):
            return entry
    return None


def _is_same_work(entry: WriteEntry, epoch: str, run_id: str) -> bool:
    """Whether an entry belongs to the same piece of work. What the user has said since it was made
    divides it within one run. A message that is delivered again in another run is the same one all
    the same, and a run that knows of fewer messages than the entry goes on from before them.
    """
    if work_of(entry.epoch) != work_of(epoch):
        return False
    return entry.run_id != run_id or messages_of(entry.epoch) >= messages_of(epoch)


def explain(entry: WriteEntry, run: Core, proposal: Proposal) -> Finding:
    """What to do about a write that `entry` stands in the way of."""
    if entry.status is WriteStatus.UNKNOWN:
        return _unknown(entry, run.specs.get(entry.tool, proposal.spec))
    if entry.status is WriteStatus.IN_FLIGHT:
        return _under_way(entry, run)
    result = f" as {entry.result_id}" if entry.result_id else ""
    return Finding(
        decision=Decision.REFUSE,
        reason=Reason.DUPLICATE_WRITE,
        message=_DONE.format(tool=entry.tool, id=result),
        entry=entry,
        answer=run.answers.get(entry.key),
    )


def _under_way(entry: WriteEntry, run: Core) -> Finding:
    """Another process answers for its write until the lease is over; the own one until it ends."""
    others = entry.lease_until is not None and entry.owner != run.ledger.owner
    left = max(0.0, (entry.lease_until or 0.0) - run.clock.now()) if others else 0.0
    text = _UNDER_WAY.format(tool=entry.tool)
    return Finding(
        decision=Decision.REFUSE,
        reason=Reason.DUPLICATE_WRITE,
        message=text + _ASK_AGAIN.format(seconds=math.ceil(left)) if left else text,
        entry=entry,
        retry_after_s=left,
    )


def _unknown(entry: WriteEntry, spec: ToolSpec) -> Finding:
    """`spec` is that of the tool that wrote: its read settles the write, whoever proposes it."""
    how = _READ.format(read=spec.reconcile) if isinstance(spec.reconcile, str) else _REPORT
    return Finding(
        decision=Decision.ALLOW_READ_ONLY,
        reason=Reason.UNKNOWN_SIDE_EFFECT,
        message=_UNKNOWN.format(tool=entry.tool, how=how),
        mode=Mode.READ_ONLY,
        reconcile=spec.reconcile is not None and not entry.reconciled,
        entry=entry,
    )
