"""What a process knows better than its ledger: which writes its runs have under way, and which came
back without the ledger being told.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary, WeakValueDictionary

from pytest_tripwire.breaker.port import Ledger


class Known:
    """Owner of what this process knows of the writes in one ledger, whichever run has begun them.

    Args:
        doubts: writes that the ledger could not be told of, and whether their calls came back.
    """

    def __init__(self) -> None:
        self.doubts: dict[str, bool] = {}
        # A family of runs that nobody holds any more answers for nothing.
        self.begun: WeakValueDictionary[str, Begun] = WeakValueDictionary()


class Begun:
    """Owner of the writes that one family of runs has begun, as long as the ledger does not know
    what became of them.
    """

    def __init__(self, ledger: Ledger) -> None:
        self.known = known_of(ledger)
        self._runs: dict[str, str] = {}

    def __contains__(self, key: object) -> bool:
        """Whether the family has begun this one."""
        return key in self._runs

    def begin(self, key: str, run_id: str) -> None:
        """A write of a run is about to be made."""
        self._runs[key] = run_id
        self.known.begun[key] = self

    def over(self, key: str) -> None:
        """The ledger knows what became of a write, or it is not made."""
        self._runs.pop(key, None)
        self.known.begun.pop(key, None)

    def let_go(self, run_id: str) -> None:
        """A run has ended, and answers for nothing any more that it has begun."""
        for key in [each for each, whose in self._runs.items() if whose == run_id]:
            self.known.begun.pop(key, None)

    def untold(self) -> list[str]:
        """Those that the ledger could not be told of."""
        return [key for key in self._runs if key in self.known.doubts]


_KNOWN: WeakKeyDictionary[Ledger, Known] = WeakKeyDictionary()


def known_of(ledger: Ledger) -> Known:
    """What this process knows of the writes in a ledger. It takes no lock, which a fork would have
    for ever.
    """
    try:
        return _KNOWN.setdefault(ledger, Known())
    except TypeError:  # nothing can be kept by it: what a family knows stays with the family
        return Known()
