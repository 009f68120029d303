"""How the values of a record are told to people."""

from __future__ import annotations

from pytest_tripwire.console.records.known import Known
from pytest_tripwire.console.records.text import cell, moment
from pytest_tripwire.timeline import Happening, WriteEntry, WriteStatus

#: What is certain of a write.
HAPPENED = {
    WriteStatus.CONFIRMED: "happened",
    WriteStatus.REJECTED: "did not happen",
    WriteStatus.UNKNOWN: "may have happened",
    WriteStatus.IN_FLIGHT: "is under way",
}


def certainty(entry: WriteEntry) -> str:
    """What is certain of a write, and as what it is known."""
    told = f"{HAPPENED[entry.status]} ({entry.status}"
    return f"{told} as {cell(entry.result_id)})" if entry.result_id else f"{told})"


def standing(found: Known) -> str:
    """What has become of an interruption, in a few words."""
    last = found.happenings[-1] if found.happenings else None
    ended = found.record.ended_as
    if ended is not None:
        return f"{cell(ended)}{by(last)}"
    if last is None or last.became == "interrupted":
        return "open"
    if last.became == "resolved":
        return f"open, a write settled{by(last)}"
    only = " read-only" if last.became == "resumed_read_only" else ""
    return f"taken up{only}{by(last)}"


def by(happening: Happening | None) -> str:
    """Who has done it, where somebody has."""
    return f" by {cell(happening.operator)}" if happening is not None and happening.operator else ""


def unsettled(found: Known) -> str:
    """How many writes may have happened, of how many."""
    return f"{len(found.unsettled)} of {len(found.record.writes)}"


def when(found: Known) -> str:
    """When a run was last interrupted."""
    return "-" if found.interrupted_at is None else moment(found.interrupted_at)


def left_alone(found: Known) -> str:
    """What a person has to think of who takes up a run that somebody has taken up; else nothing."""
    up = found.taken_up
    if up is None or found.record.ended_as is not None:
        return ""
    return (
        f"it was taken up{by(up)} at {moment(up.at)} and is not over. If that run still goes on, "
        "to take it up once more ends its right to write"
    )
