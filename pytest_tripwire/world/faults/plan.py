"""What goes wrong with one call, as plain data: the stage carries it out, sync or async."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import msgspec


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """One call's misbehaviour.

    Args:
        before_s: seconds that pass before the effect.
        happens: whether the effect happens at all.
        after_s: seconds that pass after it.
        raises: what the caller gets in place of a result.
        told: how the delivery is marked when it raises.
        shape: turns the true result into the one that the caller is told.
        empty: whether that result says that there is nothing.
        stale: whether the caller is told what an earlier read of the record said.
    """

    before_s: float = 0.0
    happens: bool = True
    after_s: float = 0.0
    raises: BaseException | None = None
    told: str = "error"
    shape: Callable[[Any], Any] | None = None
    empty: bool = False
    stale: bool = False


class Fault(Protocol):
    """Something laid over one role's tool, that the tool does not know of."""

    @property
    def role(self) -> str:
        """The role whose tool misbehaves."""

    def plan(self, nth: int) -> Plan | None:
        """What happens to the `nth` call of the role, counted from 1; None if all is well."""


class On(msgspec.Struct, frozen=True, kw_only=True):
    """Which calls of a role are hit; the shape that all faults share.

    Args:
        role: whose tool it is.
        calls: which calls of that role, from 1; empty for every one.
    """

    role: str
    calls: tuple[int, ...] = ()

    def hits(self, nth: int) -> bool:
        """Whether the `nth` call is one of them."""
        return not self.calls or nth in self.calls
