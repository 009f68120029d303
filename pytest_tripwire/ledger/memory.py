"""The ledger in memory: for tests, and for runs whose process is their whole life."""

from __future__ import annotations

import threading

import msgspec

from pytest_tripwire.breaker.port import Conflict
from pytest_tripwire.timeline import InterruptionRecord, WriteEntry, WriteStatus

CERTAIN = frozenset({WriteStatus.CONFIRMED, WriteStatus.REJECTED})


class MemoryLedger:
    """Keeps entries in the order in which they were begun. It forgets nothing while it lives."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: dict[str, WriteEntry] = {}
        self._by_resource: dict[str, list[str]] = {}
        self._by_run: dict[str, list[str]] = {}
        self._records: dict[str, InterruptionRecord] = {}

    def begin(self, entry: WriteEntry, conflict: Conflict) -> WriteEntry | None:
        """Store `entry` unless `conflict` names another one; see `Ledger.begin`."""
        with self._lock:
            other = conflict(self._listed(self._by_resource, entry.resource))
            if other is None:
                stored = msgspec.structs.replace(entry, seq=len(self._entries) + 1)
                self._entries[entry.key] = stored
                self._by_resource.setdefault(entry.resource, []).append(entry.key)
                self._by_run.setdefault(entry.run_id, []).append(entry.key)
            return other

    def of_resource(self, resource: str) -> tuple[WriteEntry, ...]:
        """Every write of one resource, oldest first."""
        with self._lock:
            return self._listed(self._by_resource, resource)

    def of_run(self, run_id: str) -> tuple[WriteEntry, ...]:
        """Every write of one run, oldest first."""
        with self._lock:
            return self._listed(self._by_run, run_id)

    def settle(
        self,
        key: str,
        status: WriteStatus,
        *,
        result_id: str | None = None,
        reconciled: bool = False,
        came_back: bool = False,
    ) -> None:
        """Say what is now certain of a write; see `Ledger.settle`."""
        with self._lock:
            entry = self._entries[key]
            stands = status is WriteStatus.UNKNOWN and entry.status in CERTAIN
            self._entries[key] = msgspec.structs.replace(
                entry,
                status=entry.status if stands else status,
                result_id=result_id or entry.result_id,
                reconciled=reconciled or entry.reconciled,
                came_back=came_back or entry.came_back,
            )

    def store_record(self, record: InterruptionRecord) -> None:
        """Keep an interruption record; replaces the record of the same run."""
        with self._lock:
            self._records[record.run_id] = record

    def record_of(self, run_id: str) -> InterruptionRecord | None:
        """The record of a run, if it was interrupted."""
        with self._lock:
            return self._records.get(run_id)

    def claim(self, run_id: str, token_version: int) -> InterruptionRecord | None:
        """Take an interrupted run up; see `Ledger.claim`."""
        with self._lock:
            record = self._records.get(run_id)
            if record is None or record.token_version != token_version:
                return None
            self._records[run_id] = msgspec.structs.replace(record, token_version=token_version + 1)
            return record

    def _listed(self, index: dict[str, list[str]], name: str) -> tuple[WriteEntry, ...]:
        return tuple(self._entries[key] for key in index.get(name, ()))
