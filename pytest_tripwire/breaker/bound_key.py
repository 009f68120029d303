"""The idempotency key that a tool is handed, bound to what it is asked to do.

A key that a model makes up protects nothing: it makes a new one for each attempt. This one is the
same for every attempt at one act, in whatever run of the same piece of work, so that a provider who
knows it does nothing twice. Doing the same again after it was done, where that is no duplicate, is
another act and gets another key.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from pytest_tripwire.breaker.canonical import digest
from pytest_tripwire.timeline import ToolSpec, WriteEntry, WriteStatus


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """What one write does.

    Args:
        epoch: the piece of work.
        intent: fingerprint of the write, and of the tenant.
        before: how often it was done within the piece of work already.
    """

    epoch: str
    intent: str
    before: int = 0

    @property
    def key(self) -> str:
        """The key of every attempt at it."""
        return digest((self.epoch, self.intent, self.before))


def done_before(known: Sequence[WriteEntry], *, intent: str, epoch: str) -> int:
    """How often a write was done, given all writes of its resource."""
    return sum(
        entry.status is WriteStatus.CONFIRMED and entry.intent == intent and entry.epoch == epoch
        for entry in known
    )


def with_minted_key(spec: ToolSpec) -> ToolSpec:
    """`spec` with the argument that takes the key among its nonces: what a model puts there tells
    no two writes apart.
    """
    name = spec.key_argument
    if name is None or name in spec.volatile:
        return spec
    return msgspec.structs.replace(spec, volatile=(*spec.volatile, name))
