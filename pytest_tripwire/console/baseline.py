"""`agent-tripwire baseline`: show what is known to fail, or prune it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from pytest_tripwire.cases.catalogue import case_problem
from pytest_tripwire.console.baseline_options import Wanted
from pytest_tripwire.console.reports import merged, say
from pytest_tripwire.gate import BaselineError, Entry, decide, outputs, read
from pytest_tripwire.gate.prune import PruneError, needless, without
from pytest_tripwire.gate.text import flat, inert
from pytest_tripwire.replay.command import OK, Streams
from pytest_tripwire.replay.options import UsageError


def execute(wanted: Wanted, streams: Streams, *, today: dt.date) -> int:
    """Show or prune a baseline; the exit status.

    Raises:
        UsageError: for files that are not what they should be.
    """
    try:
        text, entries = read(wanted.file, today=today, case_problem=case_problem)
    except BaselineError as error:
        raise UsageError(f"{wanted.file}: {error}") from None
    if wanted.prune is None:
        say(streams, _shown(entries, today))
        return OK
    evidence = merged(wanted.prune).evidence
    verdict = decide(evidence, today=today, baseline=entries)
    gone = needless(verdict.rows, evidence, entries)
    try:
        left = without(text, gone)
    except PruneError as error:
        raise UsageError(f"{wanted.file}: {error}") from None
    if gone and (problem := outputs.replaced(wanted.file, left.encode())):
        raise UsageError(problem)
    lines = [f"taken out: {flat(e.agent)} on {flat(e.case)} ({flat(e.check)})" for e in gone]
    say(streams, [*map(inert, lines), f"{len(gone)} taken out, {len(entries) - len(gone)} left"])
    return OK


def _shown(entries: Sequence[Entry], today: dt.date) -> list[str]:
    lines = []
    for each in sorted(entries, key=lambda entry: entry.expires):
        when = _when((each.expires - today).days)
        name = f"{flat(each.agent)} on {flat(each.case)} ({flat(each.check)})"
        why = f"{flat(each.reason)}, {flat(each.issue)}"
        lines.append(inert(f"{each.expires}  {when}  {name}: {why}"))
    return lines or ["nothing is known to fail"]


def _when(left: int) -> str:
    if left < 0:
        return "expired"
    return {0: "last day", 1: "1 day left"}.get(left, f"{left} days left")
