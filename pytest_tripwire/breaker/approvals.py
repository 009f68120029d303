"""A person's yes to one very call, bound to what the person has seen.

It holds for the same intent, whatever nonce the next attempt carries, until it expires or is used
up, and as long as what it rests on has not changed since the call was proposed: not since it was
granted, as a change in between was not seen either.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec

from pytest_tripwire.breaker.finding import Proposal
from pytest_tripwire.breaker.freshness import mentioned
from pytest_tripwire.breaker.words import is_id

#: Calls of one run that wait for a yes.
_MOST = 256


class Standing(StrEnum):
    """How a proposal stands with what was approved."""

    UNASKED = "unasked"
    WAITING = "waiting"
    GRANTED = "granted"
    EXPIRED = "expired"
    CHANGED = "changed"


class Parked(msgspec.Struct, kw_only=True):
    """A call that waits for a yes, or has got it.

    Args:
        intent: its fingerprint.
        kind: operation class.
        names: the things that it names.
        evidence: the event at which it was parked.
        granted: whether somebody has said yes.
        expires_at: seconds on the run's clock; None for never.
        left: how often it may still run.
        stale: what it rests on that has changed since it was proposed; empty if nothing.
        resumed: whether the run was taken up again since it was granted.
        version: what the person has seen it at; empty if nobody has said.
        policy: the version of the policy under which it was granted; empty if nobody has said.
    """

    intent: str
    kind: str
    names: frozenset[str]
    evidence: int
    granted: bool = False
    expires_at: float | None = None
    left: int = 1
    stale: str = ""
    resumed: bool = False
    version: str = ""
    policy: str = ""


class Approvals:
    """Owner of the calls of a run that wait for a yes, by the id of the call."""

    def __init__(self) -> None:
        self._parked: dict[str, Parked] = {}
        self._ambiguous: set[str] = set()

    def park(self, proposal: Proposal, *, evidence: int, versions: Mapping[str, str]) -> None:
        """A call was put off until somebody says yes to it. `versions` are those of the records
        that the run has seen: the yes is one to the record as it is now.
        """
        call = proposal.call
        names = frozenset(mentioned(call.arguments))
        before = self._parked.pop(call.call_id, None)
        if before is not None and before.intent != proposal.intent.digest:
            self._ambiguous.add(call.call_id)
        self._parked[call.call_id] = Parked(
            intent=proposal.intent.digest,
            kind=proposal.spec.kind,
            names=names,
            evidence=evidence,
            version=next((versions[each] for each in sorted(names) if each in versions), ""),
        )
        while len(self._parked) > _MOST:
            del self._parked[next(iter(self._parked))]

    def grant(
        self,
        call_id: str,
        *,
        expires_at: float | None,
        attempts: int = 1,
        version: str = "",
        policy: str = "",
    ) -> bool:
        """Somebody has said yes to a parked call. Returns whether there is such a call, and only
        one: models give one id to several calls, and then nobody knows which was meant.
        """
        parked = self._parked.get(call_id)
        if parked is None or call_id in self._ambiguous:
            return False
        parked.granted, parked.expires_at, parked.left = True, expires_at, attempts
        parked.version, parked.policy = version or parked.version, policy
        return True

    def under(self, policy: str) -> None:
        """The policy is now at this version; what was granted under another is to be asked anew."""
        for parked in self._parked.values():
            if parked.policy and policy and parked.policy != policy:
                parked.stale = f"the policy ({parked.policy})"

    def seen(self, arguments: Mapping[str, Any], version: str) -> None:
        """The run has read what `arguments` name, at `version`."""
        if version and any(each.version for each in self._parked.values()):
            names = [each for each in mentioned(arguments) if is_id(each)]
            for parked in self._parked.values():
                about = not parked.names.isdisjoint(names)
                if about and parked.version and parked.version != version:
                    parked.stale = next(each for each in names if each in parked.names)

    def changed(self, resource: str, was: str = "") -> None:
        """Somebody else has changed `resource`, which was at version `was`: what rests on it is not
        what was approved.
        """
        for parked in self._parked.values():
            if resource in parked.names or (was and was in {parked.version, parked.policy}):
                parked.stale = resource

    def resumed(self) -> None:
        """The run was taken up again."""
        for parked in self._parked.values():
            parked.resumed = True

    def of(self, proposal: Proposal, *, now: float) -> tuple[Standing, Parked | None]:
        """How a proposal stands, and the parked call that says so."""
        same = [each for each in self._parked.values() if each.kind == proposal.spec.kind]
        exact = [each for each in same if each.intent == proposal.intent.digest]
        for parked in reversed(exact):
            standing = _standing(parked, now)
            if standing is not Standing.UNASKED:
                return standing, parked
        unused = [] if exact else [each for each in same if each.granted and each.left > 0]
        if not unused:
            return Standing.UNASKED, None
        names = frozenset(mentioned(proposal.call.arguments))
        unused = [each for each in unused if not names.isdisjoint(each.names)]
        return (Standing.CHANGED, unused[-1]) if unused else (Standing.UNASKED, None)

    def use(self, proposal: Proposal, *, now: float) -> None:
        """An approved call runs: one attempt less."""
        standing, parked = self.of(proposal, now=now)
        if parked is not None and standing is Standing.GRANTED:
            parked.left -= 1


def _standing(parked: Parked, now: float) -> Standing:
    if not parked.granted:
        return Standing.WAITING
    if parked.left <= 0:
        return Standing.UNASKED
    if parked.stale:
        return Standing.CHANGED
    expired = parked.expires_at is not None and now >= parked.expires_at
    return Standing.EXPIRED if expired else Standing.GRANTED
