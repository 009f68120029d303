"""Where writes and interruptions are kept."""

from pytest_tripwire.ledger.memory import MemoryLedger
from pytest_tripwire.ledger.store import Store, Wanted

__all__ = ["MemoryLedger", "Store", "Wanted"]
