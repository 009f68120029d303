"""The gate: one pure verdict over declared agents, catalogue, cells, baseline and day."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

import msgspec

from pytest_tripwire.gate.baseline import REMIND, Entry
from pytest_tripwire.gate.evidence import Evidence
from pytest_tripwire.gate.rows import Row, held, rows
from pytest_tripwire.gate.standing import Standing
from pytest_tripwire.oracle.cell import Cell


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate decides. Every output renders this one object.

    Args:
        rows: agents times catalogue, then cells of agents that nobody declared.
        problems: why the gate fails, besides rows that do not pass.
        notes: what should be known, and fails nothing.
        agents_declared: whether the project declares its agents, or they are those collected.
        protections: what was under test in the cells that were run.
        rounds: how often each cell was to be tried.
    """

    rows: tuple[Row, ...]
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    agents_declared: bool = False
    protections: tuple[str, ...] = ()
    rounds: int = 1

    @property
    def failing(self) -> tuple[Row, ...]:
        """Every row that the gate does not let by."""
        return tuple(row for row in self.rows if not row.state.passes)

    @property
    def worst_first(self) -> tuple[Row, ...]:
        """Every row, for reports that may be cut."""
        return tuple(sorted(self.rows, key=lambda row: -row.state.weight))

    @property
    def passed(self) -> bool:
        """Only when something was contained, nothing fails, and nothing else is wrong."""
        something = any(row.state is not Standing.NOT_APPLICABLE for row in self.rows)
        return something and not self.failing and not self.problems

    @property
    def counts(self) -> dict[str, int]:
        """How many rows there are of each state that occurs, from good to bad."""
        found = [row.state for row in self.rows]
        return {state.value: found.count(state) for state in Standing if state in found}


def decide(
    evidence: Evidence, *, today: dt.date, baseline: Sequence[Entry] | None = None
) -> Verdict:
    """The verdict.

    Args:
        evidence: what a test run, or several that were put together, know.
        today: the day, on which entries of the baseline may have expired.
        baseline: what is known to fail; None without a baseline.
    """
    entries = tuple(baseline or ())
    made = rows(evidence, entries, today)
    return Verdict(
        rows=made,
        problems=(*_problems(evidence), *_of_baseline(made, evidence, entries)),
        notes=tuple(_reminders(made, today)),
        agents_declared=bool(evidence.declared),
        protections=tuple(sorted({each.cell.protection for each in evidence.judged})),
        rounds=evidence.rounds,
    )


def _problems(evidence: Evidence) -> list[str]:
    problems = []
    nameless = _nameless(evidence)
    if nameless and not evidence.declared:
        problems.append(
            f"{nameless} collected tests never came to say which agent they are about, as only "
            "running `tripwire_agent_id` can tell; declare `tripwire_agents`"
        )
    problems += _unfinished(evidence)
    problems += _nothing_left(evidence)
    if not evidence.agents:
        problems.append("no agent was collected, so nothing was judged; declare `tripwire_agents`")
    cells = [each.cell for each in evidence.judged]
    if evidence.protection is None and not (cells and all(cell.declared for cell in cells)):
        problems.append(
            "nobody says which protection is under test; set the ini value `tripwire_protection` "
            "or pass --tripwire-protection"
        )
    problems += _others(cells, evidence.protection)
    problems += _strangers(evidence)
    return [*problems, *evidence.problems]


def _nothing_left(evidence: Evidence) -> list[str]:
    """A declaration that leaves nothing to judge, whether it is right or not."""
    bare = _bare(evidence)
    if not evidence.agents or len(bare) < len(evidence.agents) * len(evidence.catalogue):
        return []
    ran = sorted({(each.cell.agent, each.cell.case) for each in evidence.judged} & bare)
    told = "`tripwire_not_applicable` says that no agent has a part in any of the standard cases"
    if not ran:
        return [f"{told}, so that nothing is left to be judged: name only those without a part"]
    agent, case = ran[0]
    more = f" and {len(ran) - 1} more were" if len(ran) > 1 else " was"
    return [f"{told}, yet {agent} on {case}{more} run: take out of it what is run"]


def _bare(evidence: Evidence) -> set[tuple[str, str]]:
    """Cells of the denominator that are declared to have no part."""
    bare = {(each.agent, each.case) for each in evidence.not_applicable}
    return bare & {(a, case) for a in evidence.agents for case in evidence.catalogue}


def _nameless(evidence: Evidence) -> int:
    """How many tests were collected and never came to say which agent they are about."""
    named = {each.test for each in evidence.planned if each.agent}
    return len({each.test for each in evidence.planned if not each.agent} - named)


def _unfinished(evidence: Evidence) -> list[str]:
    """Tests that were left out and of which nobody knows which cell they would have been about."""
    named = {each.test for each in evidence.planned if each.agent and each.case}
    done = {*evidence.finished, *(each.test for each in evidence.judged), *named}
    # Of agents that nobody declared the nameless ones have been told of already.
    # What has no part may be left out, whoever's it is.
    bare = {each.case for each in evidence.not_applicable}
    told_of = {
        each.test
        for each in evidence.planned
        if (each.agent or evidence.declared) and each.case not in bare
    }
    lost = sorted(told_of - done)
    if not lost:
        return []
    why, unsaid = "(deselected, skipped or lost)", "only a run could tell which"
    if len(lost) == 1:
        told = f"was collected and did not come to its end {why}, and {unsaid} cell it is about"
        return [f"{lost[0]} {told}"]
    told = f"were collected and did not come to their end {why}, and {unsaid} cells they are about"
    return [f"{lost[0]} and {len(lost) - 1} more {told}"]


def _others(cells: Sequence[Cell], declared: str | None) -> list[str]:
    """What ran with another protection than the one that is declared."""
    if declared is None:
        return []
    others = [cell for cell in cells if cell.protection != declared]
    return [
        f"the protection {declared} is declared, but {cell.agent} ran {cell.case} with "
        f"{cell.protection}; `tripwire_protection` has to give what is declared"
        # Whichever worker was faster.
        for cell in sorted(others, key=msgspec.json.encode)[:1]
    ]


def _strangers(evidence: Evidence) -> list[str]:
    """Cells that are declared to be not applicable and are none of those that are counted."""
    return [
        f"`tripwire_not_applicable` names {each.agent} on {each.case}, which is not counted here: "
        "correct it or take it out"
        for each in evidence.not_applicable
        if each.agent not in evidence.agents or each.case not in evidence.catalogue
    ]


def _of_baseline(made: Sequence[Row], evidence: Evidence, entries: Sequence[Entry]) -> list[str]:
    if not entries:
        return []
    known = {(row.agent, row.case) for row in made}
    unknown = [
        f"the baseline names {each.agent!r} on {each.case}, which is not counted here: correct the "
        "entry or take it out"
        for each in entries
        if each.key not in known
    ]
    return unknown + [
        f"the baseline excuses {each.agent} on {each.case} for {each.check!r}, and that holds now: "
        "take the entry out, which `agent-tripwire baseline --prune REPORT` does"
        for each in held(made, evidence, entries)
    ]


def _reminders(made: Sequence[Row], today: dt.date) -> list[str]:
    """Cells whose time is nearly over."""
    return [
        f"{row.agent} on {row.case} is excused {_left(left)} ({row.entry.issue})"
        for row in made
        if row.state is Standing.KNOWN_FAILING
        and row.entry is not None
        and (left := (row.entry.expires - today).days) <= REMIND
    ]


def _left(days: int) -> str:
    if days == 0:
        return "until the end of today"
    return f"for {days} more day{'' if days == 1 else 's'}"
