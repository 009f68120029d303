"""The records of the fake business, each with a version."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import msgspec


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One record as it stands. `name` is the business's own, e.g. `order A-1001`."""

    name: str
    version: int
    fields: Mapping[str, Any]


class UnknownRecordError(LookupError):
    """The business has no record of this name."""


class Records:
    """Owner of all records of one world."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._records: dict[str, Record] = {}

    def get(self, name: str) -> Record | None:
        """The record, or None."""
        with self._lock:
            return self._records.get(name)

    def need(self, name: str) -> Record:
        """The record. Raises UnknownRecordError."""
        record = self.get(name)
        if record is None:
            raise UnknownRecordError(f"there is no such {name.split(' ', 1)[0]}")
        return record

    def put(self, name: str, /, **fields: Any) -> Record:
        """Create a record, or change some of its fields; either way its version goes up by one."""
        with self._lock:
            old = self._records.get(name)
            kept = dict(old.fields) if old else {}
            record = Record(
                name=name, version=(old.version if old else 0) + 1, fields={**kept, **fields}
            )
            self._records[name] = record
            return record

    def named(self, prefix: str) -> tuple[Record, ...]:
        """Every record whose name begins with `prefix`, in order of creation."""
        with self._lock:
            return tuple(each for each in self._records.values() if each.name.startswith(prefix))
