"""A person's yes to one very call, bound to what the person has seen.

It holds for the same intent, whatever nonce the next attempt carries, until it expires or is used
up, and as long as what it rests on has not changed since the call was proposed: not since it was
granted, as a change in between was not seen either.

Whatever changes is kept in the store too, under the run's id, so that a yes outlives the process,
and no attempt at it is made twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Protocol

import msgspec

from pytest_tripwire.breaker.canonical import digest
from pytest_tripwire.breaker.finding import Proposal
from pytest_tripwire.breaker.fingerprint import UNDECLARED, undeclared
from pytest_tripwire.breaker.freshness import mentioned
from pytest_tripwire.breaker.words import is_id
from pytest_tripwire.timeline import ApprovalNote

#: Calls of one run that wait for a yes.
_MOST = 256
#: Named in place of what another process knew by its name.
_WHAT = "what it rests on"


class Book(Protocol):
    """Where approvals are kept; see `Ledger`."""

    def keep_approval(self, note: ApprovalNote) -> None:
        """See `Ledger.keep_approval`."""

    def approvals_of(self, run_id: str) -> tuple[ApprovalNote, ...]:
        """See `Ledger.approvals_of`."""

    def use_approval(self, run_id: str, call_id: str, times: int = 1) -> bool:
        """See `Ledger.use_approval`."""


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
        names: fingerprints of the things that it names.
        evidence: the event at which it was parked.
        granted: whether somebody has said yes.
        expires_at: seconds on the run's clock; None for never.
        left: how often it may still run.
        stale: what it rests on that has changed since it was proposed; empty if nothing.
        resumed: whether the run was taken up again since it was granted.
        version: what the person has seen it at; empty if nobody has said.
        versions: those of the named things that the run had read when it was proposed.
        policy: the version of the policy under which it was granted; empty if nobody has said.
        operator: who has said yes.
        asked_by: the run that proposed it.
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
    versions: dict[str, str] = msgspec.field(default_factory=dict)
    policy: str = ""
    operator: str = ""
    asked_by: str = ""


class Approvals:
    """Owner of the calls of a run that wait for a yes, by the id of the call.

    Args:
        run_id: the run, as the book names it.
        book: where they are kept besides; None for nowhere.
    """

    def __init__(self, run_id: str = "", book: Book | None = None) -> None:
        self._parked: dict[str, Parked] = {}
        self._ambiguous: set[str] = set()
        self._run_id = run_id
        self._book = book

    def recall(self) -> None:
        """Know again what the book holds, as another process of the run has left it."""
        if self._book is None:
            return
        for note in self._book.approvals_of(self._run_id):
            self._parked[note.call_id] = _parked(note, self._parked.get(note.call_id))
            if note.ambiguous:
                self._ambiguous.add(note.call_id)

    def park(
        self, proposal: Proposal, *, evidence: int, versions: Mapping[str, str], run_id: str = ""
    ) -> None:
        """A call of the run `run_id` was put off until somebody says yes to it. `versions` are
        those of the records that the run has seen: the yes is one to the record as it is now.
        """
        call = proposal.call
        names = dict.fromkeys(mentioned(call.arguments))
        known = {name: versions.get(name, versions.get(undeclared(name), "")) for name in names}
        seen = {name: known[name] for name in sorted(names) if known[name]}
        before = self._parked.pop(call.call_id, None)
        if before is not None and before.intent != proposal.intent.digest:
            self._ambiguous.add(call.call_id)
        self._parked[call.call_id] = Parked(
            intent=proposal.intent.digest,
            kind=proposal.spec.kind,
            names=frozenset(map(digest, names)),
            evidence=evidence,
            version=next(iter(seen.values()), ""),
            versions={digest(name): version for name, version in seen.items()},
            asked_by=run_id,
        )
        self._keep(call.call_id)
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
        operator: str = "",
        asked_by: str = "",
    ) -> bool:
        """Somebody has said yes to a parked call, that of the run `asked_by` if that is told.
        Returns whether there is such a call, and only one: models give one id to several calls, and
        then nobody knows which was meant. A yes to another version than was proposed is one to
        something else.
        """
        parked = self._parked.get(call_id)
        if parked is None or call_id in self._ambiguous:
            return False
        if asked_by and parked.asked_by != asked_by:
            return False
        parked.granted, parked.expires_at, parked.left = True, expires_at, attempts
        if version and parked.versions and version not in parked.versions.values():
            parked.stale = parked.stale or _WHAT
        parked.version, parked.policy = version or parked.version, policy
        parked.operator = operator
        self._keep(call_id)
        return True

    def under(self, policy: str) -> None:
        """The policy is now at this version; what was granted under another is to be asked anew,
        here: where the policy is still that one it holds.
        """
        for parked in self._parked.values():
            if parked.policy and policy and parked.policy != policy:
                parked.stale = f"the policy ({parked.policy})"

    def seen(self, arguments: Mapping[str, Any], version: str) -> None:
        """The run has read what `arguments` name, at `version`."""
        self.compare({name: version for name in mentioned(arguments) if is_id(name)})

    def compare(self, versions: Mapping[str, str]) -> None:
        """The run has read these things, at these versions."""
        if not any(each.version for each in self._parked.values()):
            return
        known = {_key(name): (name, version) for name, version in versions.items() if version}
        for call_id, parked in self._parked.items():
            for key in known.keys() & parked.names:
                name, version = known[key]
                if not parked.stale and not _is_at(parked, key, version):
                    self._outdate(call_id, name)

    def changed(self, resource: str, was: str = "") -> None:
        """Somebody else has changed `resource`, which was at version `was`: what rests on it is not
        what was approved.
        """
        name = digest(resource)
        for call_id, parked in self._parked.items():
            if name in parked.names or (was and was in {parked.version, parked.policy}):
                self._outdate(call_id, resource)

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
        names = frozenset(map(digest, mentioned(proposal.call.arguments)))
        unused = [each for each in unused if not names.isdisjoint(each.names)]
        return (Standing.CHANGED, unused[-1]) if unused else (Standing.UNASKED, None)

    def use(self, proposal: Proposal, *, now: float) -> str | None:
        """An approved call is about to run: one attempt less. Returns the id under which it was
        approved, empty for a call that needs no yes; None where others have used it up since.
        """
        standing, parked = self.of(proposal, now=now)
        if parked is None or standing is not Standing.GRANTED:
            return ""
        call_id = next(name for name, each in self._parked.items() if each is parked)
        if self._book is not None and not self._book.use_approval(self._run_id, call_id):
            parked.left = 0
            return None
        parked.left -= 1
        return call_id

    def give_back(self, call_id: str) -> None:
        """A call that was approved under this id did not run after all."""
        if self._book is not None:
            self._book.use_approval(self._run_id, call_id, -1)
        if call_id in self._parked:
            self._parked[call_id].left += 1

    def _outdate(self, call_id: str, what: str) -> None:
        self._parked[call_id].stale = what
        self._keep(call_id)

    def _keep(self, call_id: str) -> None:
        if self._book is not None:
            note = _note(self._run_id, call_id, self._parked[call_id])
            ambiguous = call_id in self._ambiguous
            self._book.keep_approval(msgspec.structs.replace(note, ambiguous=ambiguous))


def _note(run_id: str, call_id: str, parked: Parked) -> ApprovalNote:
    return ApprovalNote(
        run_id=run_id,
        call_id=call_id,
        intent=parked.intent,
        kind=parked.kind,
        names=tuple(sorted(parked.names)),
        version=parked.version,
        versions=parked.versions,
        policy=parked.policy,
        granted=parked.granted,
        operator=parked.operator,
        expires_at=parked.expires_at,
        left=parked.left,
        stale=bool(parked.stale),
        asked_by=parked.asked_by,
    )


def _parked(note: ApprovalNote, before: Parked | None) -> Parked:
    """A call as another process has left it. The event at which it was put up is of another
    timeline, unless it was put up here `before`.
    """
    own = before if before is not None and before.intent == note.intent else None
    return Parked(
        intent=note.intent,
        kind=note.kind,
        names=frozenset(note.names),
        evidence=own.evidence if own else 0,
        granted=note.granted,
        expires_at=note.expires_at,
        left=note.left,
        stale=(own.stale if own else "") or _WHAT if note.stale else "",
        resumed=own.resumed if own else note.granted,
        version=note.version,
        versions=dict(note.versions),
        policy=note.policy,
        operator=note.operator,
        asked_by=note.asked_by,
    )


def _key(reference: str) -> str:
    """The fingerprint of what a reference names."""
    return reference.removeprefix(UNDECLARED) if UNDECLARED in reference else digest(reference)


def _is_at(parked: Parked, name: str, version: str) -> bool:
    """Whether a thing, named by its fingerprint, is at the version that a call rests on. Where the
    run had read none of them, what a person has said is about any.
    """
    if parked.versions:
        return parked.versions.get(name, version) == version
    return parked.version in {"", version}


def _standing(parked: Parked, now: float) -> Standing:
    if not parked.granted:
        return Standing.WAITING
    if parked.left <= 0:
        return Standing.UNASKED
    if parked.stale:
        return Standing.CHANGED
    expired = parked.expires_at is not None and now >= parked.expires_at
    return Standing.EXPIRED if expired else Standing.GRANTED
