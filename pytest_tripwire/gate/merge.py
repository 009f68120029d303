"""One verdict from several test runs that shared the work."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import msgspec

from pytest_tripwire.gate.baseline import Entry
from pytest_tripwire.gate.evidence import Evidence, Judged, Planned
from pytest_tripwire.gate.origin import Origin
from pytest_tripwire.gate.report import Report
from pytest_tripwire.gate.text import flat, inert

_Tested = TypeVar("_Tested", Judged, Planned)

#: What has to be the same in all of them: what it is called, and how to get at it.
_SAME: tuple[tuple[str, Callable[[Evidence], Any]], ...] = (
    ("declared agents (`tripwire_agents`)", lambda each: ", ".join(sorted(each.declared))),
    ("declared protection", lambda each: each.protection or "none"),
    ("rounds (`--tripwire-repeat`)", lambda each: each.rounds),
    (
        "cells without a part (`tripwire_not_applicable`)",
        lambda each: ", ".join(sorted(f"{n.agent} on {n.case}" for n in each.not_applicable)),
    ),
)

#: What has to be the same as far as it is known.
_ORIGIN: tuple[tuple[str, Callable[[Origin], str]], ...] = (
    ("commit", lambda each: each.commit),
    ("CI run", lambda each: each.run),
)

_LEFT_OVER = "one of them may be left over from a run before; begin with an empty folder"
_LOST = (
    "nobody says which agents there are, so that a report that is missing would not be missed; "
    "declare `tripwire_agents`"
)


class MixedReportsError(ValueError):
    """Reports that are not of one and the same project. One line for each difference."""


class Merged(msgspec.Struct, frozen=True, kw_only=True):
    """What several reports come to.

    Args:
        evidence: of all of them.
        baseline: the one that they share; None without a baseline.
        origin: where they come from, as far as they say.
    """

    evidence: Evidence
    baseline: tuple[Entry, ...] | None = None
    origin: Origin | None = None


def merge(reports: Sequence[tuple[str, Report]], *, expected: int | None = None) -> Merged:
    """The evidence of all, and what they share.

    Args:
        reports: at least one, each by the name of its file.
        expected: how many there have to be; None if nobody says. Another number is a problem of
            the verdict.

    Raises:
        MixedReportsError: they differ in what has to be the same.
    """
    problems = [*_mixed(reports), *_apart(reports)]
    if problems:
        raise MixedReportsError("\n".join(problems))
    evidence = _together(_from_one_root([each.evidence for _, each in reports]))
    evidence = _noticed(evidence, several=len(reports) > 1)
    return Merged(
        evidence=_counted(evidence, len(reports), expected),
        baseline=reports[0][1].baseline,
        origin=_shared([each.origin for _, each in reports]),
    )


def _mixed(reports: Sequence[tuple[str, Report]]) -> Iterator[str]:
    """In what they differ that has to be the same."""
    for what, of in _SAME:
        yield from _differing(what, [(name, of(each.evidence)) for name, each in reports])
    if any(each.baseline != reports[0][1].baseline for _, each in reports):
        names = ", ".join(name for name, _ in reports)
        yield f"the baseline differs: {names} were not run with one and the same file"


def _apart(reports: Sequence[tuple[str, Report]]) -> Iterator[str]:
    """What tells that they are not of one and the same run."""
    for what, of in _ORIGIN:
        known = [(name, of(each.origin)) for name, each in reports if each.origin is not None]
        told = _differing(what, [(name, value) for name, value in known if value])
        yield from (f"{each}; {_LEFT_OVER}" for each in told)
    days = sorted(each.day for _, each in reports)
    if (days[-1] - days[0]).days > 1:
        yield f"they are of {days[0]} and of {days[-1]}: {_LEFT_OVER}"


def _differing(what: str, named: Sequence[tuple[str, Any]]) -> list[str]:
    values = {value for _, value in named}
    return [f"the {what} differs: {_told(named)}"] if len(values) > 1 else []


def _from_one_root(found: Sequence[Evidence]) -> Sequence[Evidence]:
    """With ids that begin in the repository where they began in several folders of it: two projects
    may each have a test of one id.
    """
    if len({each.root for each in found}) == 1:
        return found
    return [_from_repository(each) if each.root else each for each in found]


def _from_repository(evidence: Evidence) -> Evidence:
    def whole(test: str) -> str:
        return f"{evidence.root}/{test}" if test else test

    def each_whole(found: Sequence[_Tested]) -> tuple[_Tested, ...]:
        return tuple(msgspec.structs.replace(each, test=whole(each.test)) for each in found)

    return msgspec.structs.replace(
        evidence,
        planned=each_whole(evidence.planned),
        judged=each_whole(evidence.judged),
        rerun=tuple(map(whole, evidence.rerun)),
        finished=tuple(map(whole, evidence.finished)),
        failed=tuple(map(whole, evidence.failed)),
        root="",
    )


def _together(found: Sequence[Evidence]) -> Evidence:
    return msgspec.structs.replace(
        found[0],
        planned=tuple(dict.fromkeys(each for one in found for each in one.planned)),
        judged=tuple(each for one in found for each in one.judged),
        rerun=tuple(dict.fromkeys(each for one in found for each in one.rerun)),
        finished=tuple(dict.fromkeys(each for one in found for each in one.finished)),
        failed=tuple(dict.fromkeys(each for one in found for each in one.failed)),
        problems=tuple(dict.fromkeys(each for one in found for each in one.problems)),
    )


def _shared(origins: Sequence[Origin | None]) -> Origin | None:
    known = [each for each in origins if each is not None]
    if not known:
        return None
    commit = next((each.commit for each in known if each.commit), "")
    return Origin(commit=commit, run=next((each.run for each in known if each.run), ""))


def _counted(whole: Evidence, came: int, expected: int | None) -> Evidence:
    """A report that is missing may lack no cell, where several tests are about one."""
    if expected is None or came == expected:
        return whole
    lost = "a shard was lost, or left no report"
    more = "one of them is of another run, or `--expect` is out of date"
    told = f"reports expected: {expected}, found: {came}; {lost if came < expected else more}"
    return msgspec.structs.replace(whole, problems=(*whole.problems, told))


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
    return "; ".join(inert(flat(f"{value or 'none'} in {name}")) for value, name in first.items())
