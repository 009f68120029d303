"""The report file: the verdict for machines, and all that it was made of, so that the reports of
several test runs can be put together and judged as one.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

import msgspec

from pytest_tripwire.gate.baseline import Entry
from pytest_tripwire.gate.evidence import Evidence
from pytest_tripwire.gate.origin import Origin
from pytest_tripwire.gate.rows import Row
from pytest_tripwire.gate.standing import Standing
from pytest_tripwire.gate.verdict import Verdict
from pytest_tripwire.timeline import Reason

#: Goes up when a reader of older files would misread a new one.
SCHEMA_VERSION = 1


class ReportError(ValueError):
    """A file is no report that this version can read. The message says what to do."""


class ReportedRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the verdict.

    Args:
        agent: the agent's id.
        case: the case's id.
        state: how it stands.
        passes: whether the gate lets it by.
        counted: whether it belongs to the denominator.
        protection: what was under test, empty if it was not run.
        detail: how it ended, what broke, or what is missing.
        reason: why it was interrupted, if it was.
        checks: the demands that did not hold, by name.
        runs: how many judgements there are.
        rerun: whether a test of it failed and was run again.
    """

    agent: str
    case: str
    state: Standing
    passes: bool
    counted: bool
    protection: str
    detail: str
    reason: Reason | None
    checks: tuple[str, ...]
    runs: int
    rerun: bool


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A whole report.

    Args:
        schema_version: of this format.
        passed: the verdict.
        day: on which it was made.
        protections: what was under test.
        counts: how many rows there are of each state.
        rows: agents times catalogue, then what was judged beside.
        problems: why it fails, besides rows that do not pass.
        notes: what should be known, and fails nothing.
        baseline: what was known to fail; None without a baseline.
        evidence: all that the verdict is made of.
        origin: the commit and the CI run that it is of; None where no CI service tells.
    """

    schema_version: int
    passed: bool
    day: dt.date
    protections: tuple[str, ...]
    counts: dict[str, int]
    rows: tuple[ReportedRow, ...]
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    baseline: tuple[Entry, ...] | None
    evidence: Evidence
    origin: Origin | None = None


def report(
    verdict: Verdict,
    evidence: Evidence,
    *,
    day: dt.date,
    baseline: Sequence[Entry] | None,
    origin: Origin | None = None,
) -> Report:
    """The report of a verdict, and of what it was made of."""
    return Report(
        schema_version=SCHEMA_VERSION,
        passed=verdict.passed,
        day=day,
        protections=verdict.protections,
        counts=verdict.counts,
        rows=tuple(map(_row, verdict.rows)),
        problems=verdict.problems,
        notes=verdict.notes,
        baseline=None if baseline is None else tuple(baseline),
        evidence=evidence,
        origin=origin,
    )


def _row(row: Row) -> ReportedRow:
    cell = row.cell
    return ReportedRow(
        agent=row.agent,
        case=row.case,
        state=row.state,
        passes=row.state.passes,
        counted=row.counted,
        protection=row.protection,
        detail=row.detail,
        reason=cell.reason if cell else None,
        checks=tuple(dict.fromkeys(each.check for each in cell.broken)) if cell else (),
        runs=row.runs,
        rerun=row.rerun,
    )


def encode(made: Report) -> bytes:
    """The report as a file's content."""
    return msgspec.json.format(msgspec.json.encode(made), indent=1) + b"\n"


def decode(content: bytes) -> Report:
    """The report that a file holds.

    Raises:
        ReportError: for a file that holds none, or one of a newer format.
    """
    try:
        version = msgspec.json.decode(content, type=_Version).schema_version
    except msgspec.DecodeError as error:
        raise ReportError(f"this is no report of --tripwire-report: {error}") from None
    if version != SCHEMA_VERSION:
        raise ReportError(
            f"this report has the format {version}, and this version reads {SCHEMA_VERSION}: use "
            "one version of pytest-agent-tripwire for all of it"
        )
    try:
        return msgspec.json.decode(content, type=Report)
    except msgspec.DecodeError as error:
        raise ReportError(f"this report is damaged, or of another version: {error}") from None


class _Version(msgspec.Struct):
    schema_version: int


def schema() -> dict[str, object]:
    """The format in JSON Schema, as the documentation publishes it."""
    made: dict[str, object] = msgspec.json.schema(Report)
    return {"title": "Report of --tripwire-report", **made}
