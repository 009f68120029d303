"""Whether a report says what its own evidence gives.

This finds accidents, and edits of one place. It is no signature: whoever makes up evidence and
verdict together makes a report that agrees with itself.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import msgspec

from pytest_tripwire.gate.baseline import LONGEST
from pytest_tripwire.gate.evidence import Evidence
from pytest_tripwire.gate.report import Report, ReportedRow, report
from pytest_tripwire.gate.verdict import decide
from pytest_tripwire.oracle.cell import State

#: What the report says of the whole, besides its rows.
_WHOLE = ("passed", "counts", "protections", "problems", "notes")


class Installed(msgspec.Struct, frozen=True, kw_only=True):
    """What reports are read by.

    Args:
        version: of this package.
        catalogue_version: of the standard cases.
        catalogue: their ids.
    """

    version: str
    catalogue_version: int
    catalogue: tuple[str, ...]


def stranger(found: Report, installed: Installed) -> str:
    """Why this version cannot judge a report, which was made by another one; empty if it can."""
    evidence = found.evidence
    if evidence.version != installed.version:
        return (
            f"it was made by pytest-agent-tripwire {evidence.version}, and this is "
            f"{installed.version}: install one version for the runs and for the gate"
        )
    made = (evidence.catalogue_version, evidence.catalogue)
    if made != (installed.catalogue_version, installed.catalogue):
        return (
            f"its standard cases are {', '.join(evidence.catalogue) or 'none'} (version "
            f"{evidence.catalogue_version}), and those of pytest-agent-tripwire "
            f"{installed.version} are {', '.join(installed.catalogue)} (version "
            f"{installed.catalogue_version}): make it again"
        )
    return ""


def disagreements(found: Report) -> list[str]:
    """What a report says that its own evidence, baseline and day do not give: one line each."""
    verdict = decide(found.evidence, today=found.day, baseline=found.baseline)
    due = report(
        verdict, found.evidence, day=found.day, baseline=found.baseline, origin=found.origin
    )
    return [*_rows(found, due), *_whole(found, due), *_cells(found.evidence), *_long(found)]


def _rows(found: Report, due: Report) -> Iterator[str]:
    told = {(row.agent, row.case): row for row in found.rows}
    given = {(row.agent, row.case): row for row in due.rows}
    for key in dict.fromkeys([*told, *given]):
        yield from _row(" on ".join(key), told.get(key), given.get(key))
    if told == given and found.rows != due.rows:
        yield "its rows are repeated, or not in the order of agents and cases"


def _row(name: str, told: ReportedRow | None, given: ReportedRow | None) -> Iterator[str]:
    if told is None:
        yield f"{name} has no row, and its evidence counts it"
    elif given is None:
        yield f"{name} has a row, and its evidence does not count it"
    elif told.state is not given.state:
        yield f"{name} is said to be {told.state}, and its evidence gives {given.state}"
    else:
        for field in told.__struct_fields__:
            yield from _other(f"{field} of {name}", getattr(told, field), getattr(given, field))


def _whole(found: Report, due: Report) -> Iterator[str]:
    for field in _WHOLE:
        yield from _other(field, getattr(found, field), getattr(due, field))


def _other(what: str, told: object, given: object) -> Iterator[str]:
    if told != given:
        yield f"{what} is {_shown(told)}, and its evidence gives {_shown(given)}"


def _shown(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _cells(evidence: Evidence) -> Iterator[str]:
    """Judgements that cannot be: nothing is contained of which a demand did not hold."""
    for each in evidence.judged:
        cell = each.cell
        if cell.state is State.CONTAINED and cell.broken:
            yield (
                f"{cell.agent} on {cell.case} was judged to be contained by {each.test}, though "
                f"the demand {cell.broken[0].check!r} did not hold"
            )


def _long(found: Report) -> Iterator[str]:
    """Entries that excuse for longer than any may."""
    last = found.day + dt.timedelta(days=LONGEST)
    for each in found.baseline or ():
        if each.expires > last:
            yield (
                f"{each.agent} on {each.case} is excused until {each.expires}, which is more than "
                f"{LONGEST} days after the day of the report, {found.day}"
            )
