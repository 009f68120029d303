"""Holds spans on disk until all of them are there.

The spans of one run are written when they end, so a run's first span comes last, and exporters
spread them over lines and files in any order. A temporary database sorts them; what is in memory is
one run at a time.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from pytest_tripwire.replay.on_disk import database
from pytest_tripwire.replay.reading import names
from pytest_tripwire.replay.reading.span import Span

_TABLES = """
CREATE TABLE spans (
    number INTEGER PRIMARY KEY, trace TEXT, span TEXT, start INTEGER, conversation TEXT,
    tells INTEGER, body BLOB, UNIQUE (trace, span)
);
"""
# A run is a conversation where each of its traces names that one, and a trace elsewhere.
_RUNS = """
CREATE TABLE runs AS SELECT
    trace,
    min(start) AS start,
    CASE WHEN :conversations AND count(DISTINCT conversation) = 1
        THEN min(conversation) ELSE trace END AS run,
    CASE WHEN :conversations AND count(DISTINCT conversation) = 1 THEN 1 ELSE 0 END AS talk
    FROM spans GROUP BY trace HAVING max(tells) = 1
"""
_INDEX = "CREATE INDEX runs_by_run ON runs (run, talk)"
_ORDER = "SELECT run, talk FROM runs GROUP BY run, talk ORDER BY min(start), run, talk"
_SPANS = (
    "SELECT body FROM spans WHERE trace IN (SELECT trace FROM runs WHERE run = ? AND talk = ?) "
    "ORDER BY start, number"
)


class SpanStore:
    """Owner of the temporary database, which has no name and is gone with the process."""

    def __init__(self) -> None:
        self._database = database(_TABLES)
        self._number = 0

    def add(self, span: Span) -> None:
        """Keep a span. One that was exported twice is kept once."""
        self._number += 1
        self._database.execute(
            "INSERT OR IGNORE INTO spans VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                self._number,
                span.trace,
                span.id or None,
                span.start,
                span.text(names.CONVERSATION),
                span.tells,
                msgspec.msgpack.encode(span),
            ),
        )

    def runs(self, *, conversations: bool) -> Iterator[tuple[str, list[Span]]]:
        """The id and the spans of each run, by time; runs by their beginning.

        Args:
            conversations: whether the traces of one conversation make one run.
        """
        if not self._number:
            return
        decoder = msgspec.msgpack.Decoder(Span)
        self._database.execute(_RUNS.replace(":conversations", str(int(conversations))))
        self._database.execute(_INDEX)
        for run, talk in self._database.execute(_ORDER):
            rows = self._database.execute(_SPANS, (run, talk))
            yield run, [decoder.decode(body) for (body,) in rows]

    def close(self) -> None:
        """Give the disk back."""
        self._database.close()
