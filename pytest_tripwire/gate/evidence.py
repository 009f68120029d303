"""What a test run knows of its cells: with the baseline and the day, all that a verdict needs."""

from __future__ import annotations

import msgspec

from pytest_tripwire.oracle.cell import Cell


class Planned(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """A test that was collected for a cell, before anything was deselected.

    Args:
        agent: the agent's id; empty where only the run can tell.
        case: the case's id; empty where the test names it itself.
        test: the test's id.
    """

    agent: str
    case: str
    test: str


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """What one test says of a cell.

    Args:
        cell: the judgement.
        test: the test's id.
        round: which of several repetitions it belongs to, from 1.
        attempt: which try of the test, from 1: another plugin may run a failed test again.
    """

    cell: Cell
    test: str = ""
    round: int = 1
    attempt: int = 1


class NotApplicable(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """A case that the project declares an agent has no part for."""

    agent: str
    case: str


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a verdict is made of, but for baseline and day.

    Args:
        version: of this package.
        catalogue_version: of the standard cases.
        catalogue: their ids.
        declared: agents that the project declares.
        planned: what was collected.
        judged: what was judged, in any order.
        rerun: tests that failed and were run again, by their ids.
        finished: tests whose body came to its end and was not skipped.
        failed: tests that failed in any part, and whose failure nothing excuses.
        rounds: how often each cell was to be tried.
        protection: what the project declares to be under test, if it does.
        not_applicable: cells that the project declares to have no part.
        problems: what else keeps a verdict from being good.
        root: the folder within its repository that ids of tests begin in; empty where that is the
            repository's own, or nobody knows.
    """

    version: str
    catalogue_version: int
    catalogue: tuple[str, ...]
    declared: tuple[str, ...] = ()
    planned: tuple[Planned, ...] = ()
    judged: tuple[Judged, ...] = ()
    rerun: tuple[str, ...] = ()
    finished: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    rounds: int = 1
    protection: str | None = None
    not_applicable: tuple[NotApplicable, ...] = ()
    problems: tuple[str, ...] = ()
    root: str = ""

    @property
    def agents(self) -> tuple[str, ...]:
        """Who is counted: those declared, else those that were collected or judged."""
        collected = [each.agent for each in self.planned if each.agent]
        seen = sorted({each.cell.agent for each in self.judged})
        return tuple(dict.fromkeys(self.declared or (*collected, *seen)))
