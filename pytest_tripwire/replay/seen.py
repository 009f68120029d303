"""Which ids have been met, however many there are."""

from __future__ import annotations

from pytest_tripwire.replay.on_disk import database


class Seen:
    """Owner of a set of texts that is kept on disk once it is large."""

    def __init__(self) -> None:
        self._database = database("CREATE TABLE seen (id TEXT PRIMARY KEY) WITHOUT ROWID;")

    def is_new(self, text: str) -> bool:
        """Whether `text` is met for the first time."""
        done = self._database.execute("INSERT OR IGNORE INTO seen VALUES (?)", (text,))
        return done.rowcount == 1

    def close(self) -> None:
        """Give the disk back."""
        self._database.close()
