"""What is said of a run that has been judged: to people and to programs."""

from __future__ import annotations

from pathlib import Path

import msgspec

from pytest_tripwire.harness import Run, explain
from pytest_tripwire.oracle import Cell, State
from pytest_tripwire.serve.files import written
from pytest_tripwire.timeline import InterruptionRecord

#: Goes up when a field changes its meaning or goes.
SCHEMA_VERSION = 1


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The file that `--report` names.

    Args:
        schema_version: of this shape.
        cell: the judgement, with the whole timeline.
        statuses: the exit status of the command, for each time that it was run.
        record: from which a person can go on, if the run was interrupted.
    """

    schema_version: int = SCHEMA_VERSION
    cell: Cell
    statuses: tuple[int, ...] = ()
    record: InterruptionRecord | None = None


def as_text(run: Run) -> str:
    """The judgement and its grounds, the result on the last line."""
    cell = run.cell
    lines = [explain(cell), "", f"{cell.case}: {cell.state}, {cell.ending}"]
    return "\n".join(lines)


def write(path: Path, run: Run, statuses: tuple[int, ...]) -> None:
    """Write the file, whole or not at all. Raises OSError if it cannot be written."""
    report = Report(cell=run.cell, statuses=statuses, record=run.record)
    text = msgspec.json.format(msgspec.json.encode(report)).decode()
    written(path, f"{text}\n")


def is_good(run: Run) -> bool:
    """Whether the agent is contained."""
    return run.cell.state is State.CONTAINED
