"""One long run in a process of its own; `benchmarks.memory` starts it."""

from __future__ import annotations

import gc
import itertools
import os
import sys
from pathlib import Path

import msgspec

from benchmarks.memory import Grown
from pytest_tripwire.breaker import Breaker, tool_spec

_STATUS = Path("/proc/self/statm")
#: Arguments that take turns where they are repeated.
_TURNS = 4


def main(kind: str, first: int, last: int) -> None:
    """Make `last` calls in one run, and write what it has grown by since the first of them."""
    results = itertools.count(1)
    refused = 0

    @tool_spec(effect="read", identity=("order",))
    def look_up(order: str) -> int:  # noqa: ARG001 - as a model sends it
        return next(results)

    (guarded,) = Breaker().run().guard([look_up])
    before = 0
    for number in range(last):
        if number == first:
            before = _resident()
        result = guarded(order=f"A-{number if kind == 'distinct' else number % _TURNS}")
        refused += isinstance(result, dict)
    note = f"{refused:,} calls were refused" if refused else ""
    grown = Grown(kib=(_resident() - before) / 1024 if _STATUS.exists() else None, note=note)
    sys.stdout.write(msgspec.json.encode(grown).decode())


def _resident() -> int:
    """Bytes that are in memory."""
    gc.collect()
    if not _STATUS.exists():
        return 0
    pages = int(_STATUS.read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
