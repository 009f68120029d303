"""How often something fruitless has happened since there was last any progress.

New coverage between two repeats does not forgive them, or a loop with some reading in between
would never be seen; but a repeat that lies far back, with many new things since, is a second look
and no loop. So each occurrence grows old by what was new after it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator

from pytest_tripwire.breaker.progress.bounded import Bounded

#: New things after which an earlier occurrence does not count any more.
FORGIVEN_AFTER = 8
#: The same for what was found: going back to a list between its items is how a list is worked off.
FOUND_AFTER = 1
#: As many agents may each be as fruitless as one before the run is: none knows what another was
#: told. More of them, one after the other, are a loop all the same.
SPEAKERS = 8
#: Occurrences of one kind that are kept.
MOST = 64
#: Kinds that are kept.
_KINDS = 512


class Occurrences:
    """Counts by kind; each occurrence knows how much was new when it happened."""

    def __init__(self) -> None:
        self._of: Bounded[Hashable, deque[tuple[int, int]]] = Bounded(_KINDS)

    def add(self, kind: Hashable, *, seq: int, new: int, since: int = 0) -> None:
        """Count one at event `seq`, when `new` things had been new in the run, unless it was under
        way at event `since` already, before the last one that counts had come back: who could not
        know the answer does not ask again.
        """
        known = self._of.of(kind, lambda: deque(maxlen=MOST))
        if not (known and 0 < since < known[-1][1]):
            known.append((new, seq))

    def count(self, kind: Hashable, *, new: int, after: int = FORGIVEN_AFTER) -> int:
        """How many count, now that `new` things have been new, if each is forgiven `after` more."""
        return len(self.seqs(kind, new=new, after=after))

    def seqs(self, kind: Hashable, *, new: int, after: int = FORGIVEN_AFTER) -> tuple[int, ...]:
        """The events at which those were."""
        known = self._of.get(kind) or ()
        return tuple(seq for at, seq in known if new - at <= after)

    def kinds(self) -> Iterator[tuple[Hashable, tuple[int, ...]]]:
        """All kinds, and for each of their occurrences how much had been new by then."""
        for kind, known in self._of.items().items():
            yield kind, tuple(new for new, _ in known)

    def drop(self, kind: Hashable) -> None:
        """Forget one kind."""
        self._of.drop(kind)

    def clear(self) -> None:
        """Forget all."""
        self._of.clear()
