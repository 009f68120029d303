"""Threads of one process, one after the other."""

from __future__ import annotations

import os
import threading
from types import TracebackType

from pytest_tripwire.ledger.errors import StoreLockedError


class Turns:
    """Lets one thread at a time write to a file. SQLite would do so as well, but lets them look
    again every now and then, and who has bad luck finds it taken each time.

    Args:
        where: the store.
        wait_s: how long a thread waits.
    """

    def __init__(self, where: str, wait_s: float) -> None:
        self._where = where
        self._wait_s = wait_s
        self._pid = os.getpid()
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        if self._pid != os.getpid():
            # The thread that has had it did not come along into this process.
            self._lock = threading.Lock()
            self._pid = os.getpid()
        if not self._lock.acquire(timeout=self._wait_s):
            raise StoreLockedError(
                f"the store {self._where} is held by another thread of this process. See which one "
                "does not end its write, or wait longer with `lock_timeout_s`."
            )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lock.release()
