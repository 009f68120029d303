"""Where writes and interruptions are kept."""

from pytest_tripwire.ledger.memory import MemoryLedger

__all__ = ["MemoryLedger"]
