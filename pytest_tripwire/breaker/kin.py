"""What a run shares with the runs that work for it: sub-agents are runs of their own, over the same
budgets, the same writes, the same denials and the same circuits, under one lock.

Each has its own turns, and its own history: whether a sub-agent gets anywhere is judged by what it
does itself. A hand-off from a run to its child is beginning the child, and is counted as such; the
rule about hand-offs that go in a ring looks at the calls of one run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_tripwire.breaker.port import Right
from pytest_tripwire.breaker.tasks import Tasks
from pytest_tripwire.breaker.telling import RunLock

if TYPE_CHECKING:
    from pytest_tripwire.breaker.core import Core

#: Changes by others that are kept.
_MOST_CHANGED = 64


class Kin:
    """Owner of what is one for a whole family of runs, used under its lock.

    Args:
        lock: held by whichever of them decides or settles.
        tasks: how often each task was tried.
        number: the last round that an earlier part of the run has used.
        messages: how often the user had spoken by then.
        begun: how many children had been begun by then.
    """

    __slots__ = ("_rounds", "begun", "changed", "last", "lock", "members", "messages", "tasks")

    def __init__(
        self, lock: RunLock, tasks: Tasks, *, number: int = 0, messages: int = 0, begun: int = 0
    ) -> None:
        self.lock = lock
        self.tasks = tasks
        #: How often the user has spoken so far.
        self.messages = messages
        #: How many children were begun so far.
        self.begun = begun
        #: Those that have not ended, the first among them.
        self.members: list[Core] = []
        #: What others have changed, and at which version it was; either may be empty.
        self.changed: list[tuple[str, str]] = []
        #: The number of the latest round.
        self.last = number
        self._rounds: dict[str, tuple[int, int]] = {}

    def round_of(self, run_id: str, number: int) -> int:
        """The number of a round that no other of the family has: that of the run itself, as long as
        it has no child. It only grows, as whoever counts by it needs.
        """
        known, shared = self._rounds.get(run_id, (0, 0))
        if number != known or not shared:
            shared = self.last = max(self.last + 1, number)
            self._rounds[run_id] = (number, shared)
        return shared

    def note_change(self, resource: str, was: str) -> None:
        """Somebody else has changed a record; the latest are kept."""
        before = [each for each in self.changed if each != (resource, was)]
        self.changed[:] = [*before, (resource, was)][-_MOST_CHANGED:]

    def __contains__(self, core: object) -> bool:
        """Whether it is one of those that have not ended."""
        return any(each is core for each in self.members)

    def left(self, core: Core) -> None:
        """One of them has ended."""
        self.members[:] = [each for each in self.members if each is not core]
        self._rounds.pop(core.run_id, None)


def rights_above(core: Core) -> tuple[Right, ...]:
    """The rights to write of those that a run works for, the nearest first: what it writes, it
    writes for them.
    """
    if core.parent is None:
        return ()
    context = core.parent.context
    right = Right(run_id=context.run_id, token_version=context.token_version)
    return (right, *rights_above(core.parent))
