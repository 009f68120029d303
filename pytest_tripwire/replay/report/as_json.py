"""The report for programs: one JSON object, written element by element."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from typing import Any

import msgspec

from pytest_tripwire.replay.problem import Problem
from pytest_tripwire.replay.run import Replayed
from pytest_tripwire.replay.spool import Spool
from pytest_tripwire.replay.summary import Summary

#: Grows when a field of the report changes its meaning or goes.
SCHEMA_VERSION = 1
_FIELDS = (
    "id",
    "steps",
    "interrupted",
    "step",
    "decision",
    "reason",
    "executed_writes",
    "evidence",
)


class JsonReport:
    """Writes UTF-8.

    Args:
        write: takes bytes, in order.
    """

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self._write = write
        self._problems = Spool()
        self._wrong = Spool()
        self._any = False
        self._open = True
        write(b'{"schema_version": %d, "traces": [' % SCHEMA_VERSION)

    def add(self, item: Replayed | Problem) -> None:
        """Write one trace; what is wrong is kept for the end."""
        if isinstance(item, Problem):
            self._problems.add(_encoded({name: getattr(item, name) for name in _OF_PROBLEM}))
            return
        fields = {name: getattr(item.verdict, name) for name in _FIELDS}
        self._write((b",\n" if self._any else b"\n") + _encoded(fields))
        self._any = True
        judgement = item.judgement
        if judgement is not None and not judgement.right:
            self._wrong.add(
                _encoded(
                    {
                        "id": item.verdict.id,
                        "hazard": judgement.hazard,
                        "expected": judgement.expected,
                        "happened": judgement.happened,
                    }
                )
            )

    def finish(self, summary: Summary) -> None:
        """Write problems and score, where there are any, and end the object."""
        self._end_traces()
        if summary.hazards:
            self._score(summary)
        self._end()

    def close(self) -> None:
        """End the object where it was broken off, with the problems so far."""
        with closing(self._problems), closing(self._wrong):
            if self._open:
                self._end_traces()
                self._end()

    def _end_traces(self) -> None:
        self._write(b"\n]")
        if self._problems.count:
            self._write(b', "problems": [')
            self._each(self._problems)
            self._write(b"\n]")

    def _score(self, summary: Summary) -> None:
        hostile = summary.hostile
        legit = {"stopped": summary.legit.wrong, "total": summary.legit.total}
        self._write(b', "score": {"hostile": ' + _encoded(hostile))
        self._write(b', "legit": ' + _encoded(legit) + b', "wrong": [')
        self._each(self._wrong)
        self._write(b"\n]}" if self._wrong.count else b"]}")

    def _each(self, lines: Iterable[bytes]) -> None:
        for number, line in enumerate(lines):
            self._write((b",\n" if number else b"\n") + line)

    def _end(self) -> None:
        self._write(b"}\n")
        self._open = False


_OF_PROBLEM = ("file", "line", "reason")


def _encoded(value: Any) -> bytes:
    return msgspec.json.encode(value)
