"""A call that waits for a person's yes, or has got it, as a store keeps it."""

from __future__ import annotations

import msgspec


class ApprovalNote(msgspec.Struct, frozen=True, kw_only=True):
    """One call of one run that was put up for approval. Fingerprints, no arguments.

    Args:
        run_id: the run that keeps it: the first of the family of that which has proposed it.
        call_id: the id of the call, by which the yes is given.
        intent: fingerprint of what it would do.
        kind: its operation class.
        names: fingerprints of the things that it names.
        version: the business version of what it acts on, as proposed; empty if nobody has said.
        versions: the same of each thing that it names and that the run had read, by fingerprint.
        policy: the version of the policy under which the yes was given; empty if nobody has said.
        granted: whether somebody has said yes.
        operator: who has said so.
        expires_at: seconds on the breaker's clock; None for never.
        left: how often it may still run.
        stale: whether what it rests on has changed since it was proposed.
        asked_by: the run that proposed it; empty where nobody has said.
        ambiguous: whether several calls have this id, so that nobody knows which was meant.
    """

    run_id: str
    call_id: str
    intent: str
    kind: str
    names: tuple[str, ...] = ()
    version: str = ""
    versions: dict[str, str] = msgspec.field(default_factory=dict)
    policy: str = ""
    granted: bool = False
    operator: str = ""
    expires_at: float | None = None
    left: int = 1
    stale: bool = False
    ambiguous: bool = False
    asked_by: str = ""
