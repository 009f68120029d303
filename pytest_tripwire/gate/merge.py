"""One verdict from several test runs that shared the work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from pytest_tripwire.gate.baseline import Entry
from pytest_tripwire.gate.evidence import Evidence
from pytest_tripwire.gate.report import Report

#: What has to be the same in all of them: what it is called, and how to get at it.
_SAME: tuple[tuple[str, Callable[[Evidence], Any]], ...] = (
    ("version of pytest-agent-tripwire", lambda each: each.version),
    ("version of the standard cases", lambda each: each.catalogue_version),
    ("list of the standard cases", lambda each: ", ".join(each.catalogue)),
    ("declared agents (`tripwire_agents`)", lambda each: ", ".join(sorted(each.declared))),
    ("declared protection", lambda each: each.protection or "none"),
    ("rounds (`--tripwire-repeat`)", lambda each: each.rounds),
    (
        "cells without a part (`tripwire_not_applicable`)",
        lambda each: ", ".join(sorted(f"{n.agent} on {n.case}" for n in each.not_applicable)),
    ),
)

_LOST = (
    "nobody says which agents there are, so that a report that is missing would not be missed; "
    "declare `tripwire_agents`"
)


class MixedReportsError(ValueError):
    """Reports that are not of one and the same project. One line for each difference."""


def merge(reports: Sequence[tuple[str, Report]]) -> tuple[Evidence, tuple[Entry, ...] | None]:
    """The evidence of all, and the baseline that they share.

    Args:
        reports: at least one, each by the name of its file.

    Raises:
        MixedReportsError: they differ in what has to be the same.
    """
    found = [each.evidence for _, each in reports]
    problems = []
    for what, of in _SAME:
        named = [(name, of(each.evidence)) for name, each in reports]
        if len({value for _, value in named}) > 1:
            problems.append(f"the {what} differs: {_told(named)}")
    if any(each.baseline != reports[0][1].baseline for _, each in reports):
        names = ", ".join(name for name, _ in reports)
        problems.append(f"the baseline differs: {names} were not run with one and the same file")
    days = sorted(each.day for _, each in reports)
    if (days[-1] - days[0]).days > 1:
        problems.append(
            f"they are of {days[0]} and of {days[-1]}: one of them may be left over from a run "
            "before; begin with an empty folder"
        )
    if problems:
        raise MixedReportsError("\n".join(problems))
    whole = msgspec.structs.replace(
        found[0],
        planned=tuple(dict.fromkeys(each for one in found for each in one.planned)),
        judged=tuple(each for one in found for each in one.judged),
        rerun=tuple(dict.fromkeys(each for one in found for each in one.rerun)),
        finished=tuple(dict.fromkeys(each for one in found for each in one.finished)),
        failed=tuple(dict.fromkeys(each for one in found for each in one.failed)),
        problems=tuple(dict.fromkeys(each for one in found for each in one.problems)),
    )
    return _noticed(whole, several=len(found) > 1), reports[0][1].baseline


def _noticed(whole: Evidence, *, several: bool) -> Evidence:
    """Of agents that nobody declared, those of a lost report would just not be there."""
    if whole.declared or not several:
        return whole
    return msgspec.structs.replace(whole, problems=(*whole.problems, _LOST))


def _told(named: Sequence[tuple[str, Any]]) -> str:
    """Each value once, with the first file that has it."""
    first: dict[Any, str] = {}
    for name, value in named:
        first.setdefault(value, name)
    return "; ".join(f"{value or 'none'} in {name}" for value, name in first.items())
