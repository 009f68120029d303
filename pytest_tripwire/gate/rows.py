"""How each agent stands on each case."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence

import msgspec

from pytest_tripwire.gate.baseline import Entry
from pytest_tripwire.gate.evidence import Evidence, Judged
from pytest_tripwire.gate.standing import Standing
from pytest_tripwire.oracle import checks
from pytest_tripwire.oracle.cell import Cell, State, worst

Key = tuple[str, str]

_AGAIN = "passed when it was run again"


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One agent on one case, as the gate counts it.

    Args:
        agent: the agent's id.
        case: the case's id.
        state: how it stands: the worst of all that was judged.
        protection: what was under test, empty if it was not run.
        detail: how it ended, what broke, or what is missing.
        counted: whether it belongs to the denominator.
        runs: how many judgements there are.
        rerun: whether a test of it failed and was run again.
        entry: what the baseline says of it.
        cell: the judgement that counts; None if it was not run.
    """

    agent: str
    case: str
    state: Standing
    protection: str = ""
    detail: str = ""
    counted: bool = True
    runs: int = 0
    rerun: bool = False
    entry: Entry | None = None
    cell: Cell | None = None


def rows(evidence: Evidence, entries: Sequence[Entry], today: dt.date) -> tuple[Row, ...]:
    """Declared agents times catalogue, then what was judged beside."""
    agents, catalogue = evidence.agents, evidence.catalogue
    counted = dict.fromkeys((agent, case) for agent in agents for case in catalogue)
    judged = _grouped(evidence.judged)
    beside = sorted(judged.keys() - counted.keys())
    missing = missing_tests(evidence)
    known: dict[Key, list[Entry]] = {}
    for each in entries:
        known.setdefault(each.key, []).append(each)
    bare = {(each.agent, each.case) for each in evidence.not_applicable}
    made = []
    for key in [*counted, *beside]:
        found = judged.get(key, ())
        row = _row(key, found, evidence)
        if row.state is Standing.NOT_RUN and key in bare:
            row = _restated(row, Standing.NOT_APPLICABLE, "the project declares it")
        elif key in known:
            row = _excused(row, found, known[key], today, evidence)
        if row.state in (Standing.CONTAINED, Standing.KNOWN_FAILING):
            row = _unproven(row, found, evidence, missing.get(key, ()))
        made.append(msgspec.structs.replace(row, counted=key in counted))
    return tuple(made)


def missing_tests(evidence: Evidence) -> dict[Key, tuple[str, ...]]:
    """Tests that were collected for a cell and brought no judgement of it, by cell."""
    brought = {(each.test, each.cell.case) for each in evidence.judged}
    missing: dict[Key, dict[str, None]] = {}
    for each in evidence.planned:
        if each.agent and each.case and (each.test, each.case) not in brought:
            missing.setdefault((each.agent, each.case), {})[each.test] = None
    return {key: tuple(tests) for key, tests in missing.items()}


def _grouped(judged: Iterable[Judged]) -> dict[Key, tuple[Judged, ...]]:
    groups: dict[Key, list[Judged]] = {}
    for each in sorted(judged, key=msgspec.json.encode):
        groups.setdefault((each.cell.agent, each.cell.case), []).append(each)
    return {key: tuple(found) for key, found in groups.items()}


def _row(key: Key, judged: Sequence[Judged], evidence: Evidence) -> Row:
    agent, case = key
    if not judged:
        return Row(agent=agent, case=case, state=Standing.NOT_RUN)
    cell = worst(tuple(each.cell for each in judged))
    again = tuple(each for each in judged if each.test in evidence.rerun)
    row = Row(
        agent=agent,
        case=case,
        state=Standing(cell.state),
        protection=cell.protection,
        detail=_detail(cell),
        runs=len(judged),
        rerun=bool(again),
        cell=cell,
    )
    if cell.state is not State.CONTAINED and _passed(again):
        return _restated(row, row.state, f"{row.detail}; it {_AGAIN}")
    return row


def _passed(again: Sequence[Judged]) -> bool:
    """Whether tests that were run again were all good in their last attempt."""
    last = {each.test: each for each in sorted(again, key=lambda each: each.attempt)}
    return bool(last) and all(each.cell.state is State.CONTAINED for each in last.values())


def _unproven(
    row: Row, judged: Sequence[Judged], evidence: Evidence, missing: Sequence[str]
) -> Row:
    """What passes as far as it was judged: whether that was the whole and all that was wanted."""
    good = row.state is Standing.CONTAINED
    if good and any(each.test in evidence.failed for each in judged):
        told = "the test itself: it failed before or after it was judged, or in a part of its own"
        return _restated(row, Standing.ESCAPED, told)
    if good and row.rerun:
        told = f"a test of it failed though nothing judged was wrong, and {_AGAIN}"
        return _restated(row, Standing.INCONCLUSIVE, told)
    if missing:
        return _restated(row, Standing.NOT_RUN, f"no judgement came of {', '.join(missing)}")
    found = len({each.round for each in judged})
    if found < evidence.rounds:
        return _restated(row, Standing.NOT_RUN, f"{found} of {evidence.rounds} rounds were judged")
    return row


def _excused(
    row: Row,
    judged: Sequence[Judged],
    entries: Sequence[Entry],
    today: dt.date,
    evidence: Evidence,
) -> Row:
    """What the baseline makes of a row: it excuses what fails for nothing else than it says."""
    if row.state is Standing.NOT_RUN:
        return row
    if row.state is Standing.CONTAINED:
        named = ", ".join(each.check for each in entries)
        told = f"holds now: {named}; take that out of the baseline"
        return _restated(row, Standing.FIXED, told, entries[0])
    known = {each.check: each for each in entries}
    broken = broken_checks(each.cell for each in judged)
    others = [check for check in broken if check not in known]
    if others or not broken:
        return row
    late = [known[check] for check in broken if known[check].expired(today)]
    if late:
        told = f"excused {late[0].why}; {row.detail}"
        return _restated(row, Standing.EXPIRED, told, late[0])
    # A failure that the test's report does not excuse is another one than the baseline knows.
    if any(each.test in evidence.failed for each in judged):
        return row
    entry = known[broken[0]]
    return _restated(row, Standing.KNOWN_FAILING, f"{entry.why}; {row.detail}", entry)


def broken_checks(cells: Iterable[Cell]) -> list[str]:
    """Every demand that one of these does not meet, by name."""
    return list(dict.fromkeys(each.check for cell in cells for each in cell.broken))


def held(rows_: Iterable[Row], evidence: Evidence, entries: Iterable[Entry]) -> list[Entry]:
    """Entries of cells that still fail, but not for what these say. A demand that is only looked at
    when all others hold is none of them.
    """
    failing = {
        (each.agent, each.case)
        for each in rows_
        if each.state in (Standing.KNOWN_FAILING, Standing.EXPIRED)
    }
    groups, missing = _grouped(evidence.judged), missing_tests(evidence)
    return [
        each
        for each in entries
        if each.key in failing
        and each.key not in missing
        and each.check in (each.case, *checks.ALWAYS)
        and each.check not in broken_checks(one.cell for one in groups[each.key])
    ]


def _restated(row: Row, state: Standing, detail: str, entry: Entry | None = None) -> Row:
    return msgspec.structs.replace(row, state=state, detail=detail, entry=entry)


def _detail(cell: Cell) -> str:
    first = cell.broken[0] if cell.broken else None
    return f"{first.check}: {first.message}" if first else cell.ending
