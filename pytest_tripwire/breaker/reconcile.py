"""Settling a write whose answer was lost, by the authoritative read that its spec names.

A read confirms only by positive evidence, the stable id of what was written, and denies only
when it was made late enough for the effect to have shown. Anything else leaves the write held.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from pytest_tripwire.breaker.emptiness import is_empty
from pytest_tripwire.breaker.fingerprint import resource_of
from pytest_tripwire.breaker.leases import last_sent
from pytest_tripwire.timeline import (
    Mode,
    Outcome,
    Reconciler,
    Status,
    ToolSpec,
    WriteEntry,
    WriteStatus,
)

if TYPE_CHECKING:
    from pytest_tripwire.breaker.core import Core
    from pytest_tripwire.breaker.finding import Proposal

#: Clocks count in floats, and so a wait may end a hair before its time.
_HAIR = 1e-6
#: Lists of one thing that are looked into.
_DEEPEST = 4
_SETTLED = frozenset({WriteStatus.CONFIRMED, WriteStatus.REJECTED})


class Reconcile(msgspec.Struct, frozen=True, kw_only=True):
    """A read that has to be made before the breaker can decide.

    Args:
        entry: the write to settle.
        spec: the write's spec.
        read: the read tool's name, or a callable.
        arguments: what to call it with.
        wait_s: seconds to let pass first, so that a late effect has had its time.
    """

    entry: WriteEntry
    spec: ToolSpec
    read: str | Reconciler
    arguments: Mapping[str, Any]
    wait_s: float


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What a reconciling read proves about a write."""

    status: WriteStatus
    result_id: str | None = None


def plan(entry: WriteEntry, proposal: Proposal, spec: ToolSpec, *, now: float) -> Reconcile | None:
    """The read that settles `entry`, asked about what `proposal` is about; None without one.
    `spec` is that of the tool that wrote, which may call things otherwise than the one proposed.
    """
    if spec.reconcile is None:
        return None
    wait = (spec.late_effect_s or 0.0) - (now - last_sent(entry, now=now))
    return Reconcile(
        entry=entry,
        spec=spec,
        read=spec.reconcile,
        arguments=_asked(proposal, spec),
        wait_s=max(0.0, wait),
    )


def _asked(proposal: Proposal, spec: ToolSpec) -> dict[str, Any]:
    offered, own = proposal.call.arguments, proposal.spec.identity
    if spec.identity is None or own is None:
        return dict(offered)
    return {
        name: offered[known]
        for name, known in zip(spec.identity, own, strict=False)
        if known in offered
    }


def is_settling(run: Core, proposal: Proposal) -> bool:
    """Whether a call is the read that settles what keeps the run read-only: no limit bars it."""
    return run.mode is Mode.READ_ONLY and settles(proposal, run)


def settles(proposal: Proposal, run: Core) -> bool:
    """Whether a proposed read is the authoritative one of a held write, about its resource."""
    return any(
        spec.reconcile == proposal.call.tool
        and covers(spec, proposal.call.arguments, resource, run.tenant)
        for resource, spec in run.state.held.items()
    )


def covers(spec: ToolSpec, arguments: Mapping[str, Any], resource: str, tenant: str) -> bool:
    """Whether a read with these arguments asks about the resource of a write of `spec`."""
    if spec.identity is not None and not set(spec.identity) <= set(arguments):
        return False
    return resource_of(arguments, spec, tenant) == resource


def interpret(
    outcome: Outcome, spec: ToolSpec, about: Mapping[str, Any], *, age_s: float
) -> Reading:
    """What the `outcome` of a read with arguments `about` proves. It was made `age_s` seconds after
    the write was dispatched.
    """
    if outcome.status is not Status.OK:
        return Reading(status=WriteStatus.UNKNOWN)
    if isinstance(outcome.result, WriteStatus):
        said = outcome.result
        return Reading(status=said if said in _SETTLED else WriteStatus.UNKNOWN)
    found = stable_id(outcome.result, spec, about)
    if found is not None and _is_evidence(found, outcome.result, spec, about):
        return Reading(status=WriteStatus.CONFIRMED, result_id=found)
    late_enough = spec.late_effect_s is not None and age_s > spec.late_effect_s - _HAIR
    if late_enough and _tells_of_nothing(outcome.result, about):
        return Reading(status=WriteStatus.REJECTED)
    return Reading(status=WriteStatus.UNKNOWN)


def _tells_of_nothing(result: Any, about: Mapping[str, Any]) -> bool:
    """Whether a result says that there is nothing. A record that holds no more than the question is
    a record, and shows what was asked about.
    """
    rest = _beside(result, about)
    if isinstance(result, Mapping) and result and not rest:
        return False
    return is_empty(rest)


def stable_id(result: Any, spec: ToolSpec, about: Mapping[str, Any]) -> str | None:
    """The id of what was written, where `result` shows one: the declared field, else `id`, else
    the one field that ends in `_id`. What was asked about is no evidence of what was done.
    """
    for _ in range(_DEEPEST):
        if not isinstance(result, list | tuple) or len(result) != 1:
            break
        result = result[0]
    if not isinstance(result, Mapping):
        return None
    if spec.result_id is not None:
        return _as_id(result.get(spec.result_id))
    rest = _beside(result, about)
    ids = [name for name in rest if isinstance(name, str) and name.endswith("_id")]
    field = "id" if "id" in rest else ids[0] if len(ids) == 1 else None
    return None if field is None else _as_id(rest[field])


def _is_evidence(found: str, result: Any, spec: ToolSpec, about: Mapping[str, Any]) -> bool:
    """Whether an id that a read shows speaks of the write: not if it was in the question, and an id
    that nobody declared not beside a plain no, such as the customer of an order not refunded.
    """
    if found in {_as_id(value) for value in about.values()}:
        return False
    if spec.result_id is not None:
        return True
    first = result[0] if isinstance(result, list | tuple) else result
    return not any(value is False for value in first.values())


def _as_id(value: Any) -> str | None:
    usable = isinstance(value, str | int) and not isinstance(value, bool)
    if not usable or value == "":
        return None
    try:
        return str(value)
    except ValueError:  # an integer of more digits than Python prints
        return None


def _beside(result: Any, about: Mapping[str, Any]) -> Any:
    """`result` without what only repeats the question."""
    if not isinstance(result, Mapping):
        return result
    return {
        name: value
        for name, value in result.items()
        if name not in about and not _repeats(name, value, about)
    }


def _repeats(name: Any, value: Any, about: Mapping[str, Any]) -> bool:
    """Whether a field repeats an argument under another name. A number or a truth that happens to
    equal one is news, or a write that happened would be taken for one that did not.
    """
    asked = [each for each in about.values() if isinstance(each, str | int)]
    if isinstance(name, str) and (name == "id" or name.endswith("_id")):
        return _as_id(value) in {_as_id(each) for each in asked}
    return isinstance(value, str) and value in [each for each in asked if isinstance(each, str)]
