"""Groups of calls that ask one thing in other words and get one answer, where nobody has declared
what is wording.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from pytest_tripwire.breaker.loose import Loose
from pytest_tripwire.breaker.progress.bounded import Bounded
from pytest_tripwire.breaker.progress.occurrences import FORGIVEN_AFTER

_GROUPS = 64
#: Members of a group that a new call is compared with.
_MEMBERS = 16


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """One call of a group."""

    loose: Loose
    seq: int
    new: int


class Paraphrases:
    """Owner of the groups, by what stays the same in them: the fixed part and the answer."""

    def __init__(self) -> None:
        self._of: Bounded[tuple[str, str], list[Member]] = Bounded(_GROUPS)

    def add(self, loose: Loose, outcome: str, *, seq: int, new: int) -> None:
        """Take a call and its answer."""
        members = self._of.of((loose.rest, outcome), list)
        members.append(Member(loose=loose, seq=seq, new=new))
        del members[:-_MEMBERS]

    def like(
        self,
        loose: Loose,
        outcome: str,
        *,
        new: int,
        same: Callable[[Loose, Loose], bool] = Loose.rewords,
    ) -> tuple[Member, ...]:
        """The calls, in order, that asked the same as `loose` in whatever words."""
        members = self._of.get((loose.rest, outcome)) or ()
        return tuple(
            each for each in members if new - each.new <= FORGIVEN_AFTER and same(each.loose, loose)
        )

    def clear(self) -> None:
        """Forget all."""
        self._of.clear()
