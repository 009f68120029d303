"""One settled call, as the progress rules see it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from pytest_tripwire.breaker.canonical import digest
from pytest_tripwire.breaker.checks.finding import Proposal
from pytest_tripwire.breaker.emptiness import is_empty
from pytest_tripwire.timeline import DEFAULT_VOLATILE, Effect, Outcome, Status, ToolSpec


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked and what came back, as fingerprints.

    Args:
        seq: the event that settled it.
        tool: the tool's name.
        effect: whether it reads, writes or hands off.
        intent: what was asked, nonces and wording left out.
        exact: the same with its wording.
        content: of a hand-off, what it carries.
        resource: what it was about.
        outcome: what came back: status, stable ids or result, error class, version.
        ok: whether it succeeded.
        empty: whether it succeeded and said that there is nothing.
        version: business version that it showed, empty if none.
        poll: whether waiting with it is normal.
    """

    seq: int
    tool: str
    effect: Effect
    intent: str
    exact: str
    content: str
    resource: str
    outcome: str
    ok: bool
    empty: bool
    version: str = ""
    poll: bool = False


def step_of(proposal: Proposal, outcome: Outcome, seq: int) -> Step:
    """The step that `proposal` and its `outcome` make."""
    spec, ok = proposal.spec, outcome.status is Status.OK
    version = version_of(outcome.result, spec)
    return Step(
        seq=seq,
        tool=proposal.call.tool,
        effect=spec.effect,
        intent=proposal.intent.digest,
        exact=proposal.intent.exact,
        content=proposal.intent.content,
        resource=proposal.intent.resource,
        outcome=fingerprint(outcome, spec, version),
        ok=ok,
        empty=ok and spec.effect is Effect.READ and is_empty(outcome.result),
        version=version,
        poll=spec.poll,
    )


def fingerprint(outcome: Outcome, spec: ToolSpec, version: str) -> str:
    """What came back, without what changes by itself. The version outweighs the wording of a
    result: what is at the version already known says nothing new.
    """
    told = version or stable_part(outcome.result, (*DEFAULT_VOLATILE, *spec.result_volatile))
    return digest((outcome.status.value, outcome.error, outcome.rule, told))


def version_of(result: Any, spec: ToolSpec) -> str:
    """The business version that a result shows, empty if it shows none."""
    if spec.result_version is None or not isinstance(result, Mapping):
        return ""
    version = result.get(spec.result_version)
    return "" if version is None else str(version)


def stable_part(result: Any, volatile: Iterable[str]) -> Any:
    """`result` without its volatile fields, to any depth that a person would write."""
    names = frozenset(volatile)
    return _stable(result, names, depth=8)


def _stable(value: Any, names: frozenset[str], *, depth: int) -> Any:
    if depth and isinstance(value, Mapping):
        return {
            key: _stable(part, names, depth=depth - 1)
            for key, part in value.items()
            if key not in names
        }
    if depth and isinstance(value, list | tuple):
        return [_stable(part, names, depth=depth - 1) for part in value]
    return value
