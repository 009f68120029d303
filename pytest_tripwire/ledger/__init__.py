"""Where writes and interruptions are kept."""

from pytest_tripwire.ledger.errors import (
    NewerSchemaError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreLockedError,
    StoreReadOnlyError,
    StoreUnreachableError,
    UnfitError,
    UnreadableError,
)
from pytest_tripwire.ledger.lost import adopt
from pytest_tripwire.ledger.memory import MemoryLedger
from pytest_tripwire.ledger.opening import open_store
from pytest_tripwire.ledger.store import Store, Wanted

__all__ = [
    "MemoryLedger",
    "NewerSchemaError",
    "Store",
    "StoreDamagedError",
    "StoreError",
    "StoreFullError",
    "StoreLockedError",
    "StoreReadOnlyError",
    "StoreUnreachableError",
    "UnfitError",
    "UnreadableError",
    "Wanted",
    "adopt",
    "open_store",
]
