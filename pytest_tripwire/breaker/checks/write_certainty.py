"""A write is not sent while an earlier one of the same resource may have happened.

An unknown write holds its resource through anything that lies between. A confirmed one is a
duplicate only within its piece of work, or in a run that learned of it by reconciling, and only
while nothing else was written to the resource: putting a value back, or doing again what the user
asks for again, is good work.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from pytest_tripwire.breaker.checks.finding import Finding, Proposal, View
from pytest_tripwire.timeline import Decision, Mode, Reason, ToolSpec, WriteEntry, WriteStatus

_DONE = (
    "{tool} was already done for this and is confirmed{id}. It was not sent again. "
    "Go on with that result."
)
_UNDER_WAY = "{tool} is under way for this already and was not sent a second time. Wait for it."
_UNKNOWN = (
    "An earlier {tool} on this may or may not have happened: its answer was lost. It was not sent "
    "again, and other words or a new id will not change that. {how}"
)
_READ = "Call {read} to see what became of it."
_REPORT = "Say that its outcome is not known yet and that a person will look."


def write_certainty(view: View, proposal: Proposal) -> Finding | None:
    """Holds a write over an unknown one and refuses a confirmed one."""
    if not proposal.spec.mutates:
        return None
    known = view.ledger.of_resource(proposal.intent.resource)
    entry = in_the_way(
        known,
        intent=proposal.intent.digest,
        epoch=view.epoch,
        run_id=view.run_id,
        learned=view.answers,
    )
    return None if entry is None else explain(entry, view, proposal)


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
        elif (entry.epoch == epoch or entry.key in learned) and (
            entry.run_id != run_id or not changed_since
        ):
            return entry
    return None


def explain(entry: WriteEntry, view: View, proposal: Proposal) -> Finding:
    """What to do about a write that `entry` stands in the way of."""
    if entry.status is WriteStatus.UNKNOWN:
        return _unknown(entry, view.specs.get(entry.tool, proposal.spec))
    confirmed = entry.status is WriteStatus.CONFIRMED
    text = _DONE if confirmed else _UNDER_WAY
    result = f" as {entry.result_id}" if entry.result_id else ""
    return Finding(
        decision=Decision.REFUSE,
        reason=Reason.DUPLICATE_WRITE,
        message=text.format(tool=entry.tool, id=result),
        entry=entry,
        answer=view.answers.get(entry.key) if confirmed else None,
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
