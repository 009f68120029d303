"""Taking entries out of a baseline file, whose comments and order are a person's own."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from pytest_tripwire.gate.baseline import TABLE, Entry
from pytest_tripwire.gate.evidence import Evidence
from pytest_tripwire.gate.rows import Row, held
from pytest_tripwire.gate.standing import Standing

_HEADER = re.compile(rf"\s*\[\[\s*{TABLE}\s*\]\]\s*(#.*)?")


class PruneError(ValueError):
    """A file in which nobody but a person can tell where an entry begins and ends."""


def needless(rows: Iterable[Row], evidence: Evidence, entries: Iterable[Entry]) -> list[Entry]:
    """Entries that excuse nothing: the demand holds now, or the cell is not counted."""
    states = {(row.agent, row.case): row.state for row in rows}
    known = list(entries)
    fails_otherwise = held(rows, evidence, known)
    # Of agents that nobody declared, those that were left out would just not be there.
    absent = Standing.FIXED if evidence.declared else Standing.NOT_RUN
    return [
        each
        for each in known
        if states.get(each.key, absent) is Standing.FIXED or each in fails_otherwise
    ]


def without(text: str, gone: Collection[Entry]) -> str:
    """The text of a baseline without these entries, everything else as it was.

    Raises:
        PruneError: for a text in which they cannot be told from the rest.
    """
    lines = text.splitlines(keepends=True)
    starts = [number for number, line in enumerate(lines) if _HEADER.fullmatch(line.rstrip("\r\n"))]
    before = tomllib.loads(text).get(TABLE, [])
    doomed = [number for number, table in enumerate(before) if _is_one_of(table, gone)]
    if len(starts) != len(before):
        raise PruneError(f"its entries do not each begin with a line [[{TABLE}]]: edit it by hand")
    begins = [_above(lines, start) for start in starts]
    ends = [*begins[1:], len(lines)]
    dropped = {n for place in doomed for n in range(begins[place], ends[place])}
    kept = "".join(line for number, line in enumerate(lines) if number not in dropped)
    _check(kept, [table for number, table in enumerate(before) if number not in doomed])
    return kept


def _is_one_of(table: dict[str, Any], gone: Collection[Entry]) -> bool:
    return any(
        (table["agent"], table["case"], table["check"]) == (each.agent, each.case, each.check)
        for each in gone
    )


def _above(lines: list[str], start: int) -> int:
    """Where an entry begins: comments right above it are its own."""
    while start and lines[start - 1].lstrip().startswith("#"):
        start -= 1
    return start


def _check(text: str, expected: list[Any]) -> None:
    if list(_tables(text)) != expected:
        raise PruneError("what is left of it would not be what it was: edit it by hand")


def _tables(text: str) -> Iterator[Any]:
    try:
        yield from tomllib.loads(text).get(TABLE, [])
    except tomllib.TOMLDecodeError:
        return
