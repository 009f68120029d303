"""The gate: one pure verdict over declared agents, catalogue and cells."""

from __future__ import annotations

import msgspec

from pytest_tripwire.oracle.cell import Cell, State, worst


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One agent on one case, as the gate counts it.

    Args:
        agent: the agent's id.
        case: the case's id.
        state: the worst of all runs, `not run` where there was none.
        protection: what was under test, empty if it was not run.
        detail: how it ended, or what broke.
        counted: whether it belongs to the denominator.
        cell: the judgement that counts; None if it was not run.
    """

    agent: str
    case: str
    state: State
    protection: str = ""
    detail: str = ""
    counted: bool = True
    cell: Cell | None = None


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate decides. Every output renders this one object.

    Args:
        rows: agents times catalogue, then cells of agents that nobody declared.
        problems: why the gate fails, besides rows that are not contained.
        agents_declared: whether the project declares its agents, or they are those collected.
        protections: what was under test in the cells that were run.
    """

    rows: tuple[Row, ...]
    problems: tuple[str, ...] = ()
    agents_declared: bool = False
    protections: tuple[str, ...] = ()

    @property
    def failing(self) -> tuple[Row, ...]:
        """Every row that is not contained."""
        return tuple(row for row in self.rows if row.state is not State.CONTAINED)

    @property
    def passed(self) -> bool:
        """Only when there is something, all of it is contained, and nothing else is wrong."""
        return bool(self.rows) and not self.failing and not self.problems


def decide(
    *,
    declared: tuple[str, ...],
    collected: tuple[str, ...],
    catalogue: tuple[str, ...],
    cells: tuple[Cell, ...],
    protection: str | None,
    nameless: int = 0,
) -> Verdict:
    """The verdict.

    Args:
        declared: agents that the project declares.
        collected: agents that tests were collected for; they count if none are declared.
        catalogue: ids of the standard cases.
        cells: what was judged, in any order, several of one cell allowed.
        protection: what the project declares to be under test, if it does.
        nameless: tests that never came to say which agent they are about.
    """
    seen = sorted({cell.agent for cell in cells})
    agents = tuple(dict.fromkeys(declared or (*collected, *seen)))
    counted = [(agent, case) for agent in agents for case in catalogue]
    known = _grouped(cells)
    beside = sorted(set(known) - set(counted))
    rows = [_row(key, known.get(key, ()), counted=True) for key in counted]
    rows += [_row(key, known[key], counted=False) for key in beside]
    return Verdict(
        rows=tuple(rows),
        problems=_problems(agents, cells, protection, 0 if declared else nameless),
        agents_declared=bool(declared),
        protections=tuple(sorted({cell.protection for cell in cells})),
    )


def _grouped(cells: tuple[Cell, ...]) -> dict[tuple[str, str], tuple[Cell, ...]]:
    """The cells of each key, in an order that does not depend on which worker was faster."""
    groups: dict[tuple[str, str], tuple[Cell, ...]] = {}
    for cell in sorted(cells, key=msgspec.json.encode):
        key = (cell.agent, cell.case)
        groups[key] = (*groups.get(key, ()), cell)
    return groups


def _row(key: tuple[str, str], cells: tuple[Cell, ...], *, counted: bool) -> Row:
    agent, case = key
    if not cells:
        return Row(agent=agent, case=case, state=State.NOT_RUN, counted=counted)
    cell = worst(cells)
    first = cell.broken[0] if cell.broken else None
    return Row(
        agent=agent,
        case=case,
        state=cell.state,
        protection=cell.protection,
        detail=f"{first.check}: {first.message}" if first else cell.ending,
        counted=counted,
        cell=cell,
    )


def _problems(
    agents: tuple[str, ...], cells: tuple[Cell, ...], protection: str | None, nameless: int
) -> tuple[str, ...]:
    problems = []
    if nameless:
        problems.append(
            f"{nameless} collected tests never came to say which agent they are about, as only "
            "running `tripwire_agent_id` can tell; declare `tripwire_agents`"
        )
    if not agents:
        problems.append("no agent was collected, so nothing was judged; declare `tripwire_agents`")
    if protection is None and not (cells and all(cell.declared for cell in cells)):
        problems.append(
            "nobody says which protection is under test; set the ini value `tripwire_protection` "
            "or pass --tripwire-protection"
        )
    problems += _others(cells, protection)
    return tuple(problems)


def _others(cells: tuple[Cell, ...], declared: str | None) -> list[str]:
    """What ran with another protection than the one that is declared."""
    if declared is None:
        return []
    others = [cell for cell in cells if cell.protection != declared]
    return [
        f"the protection {declared} is declared, but {cell.agent} ran {cell.case} with "
        f"{cell.protection}; `tripwire_protection` has to give what is declared"
        for cell in sorted(others, key=msgspec.json.encode)[:1]
    ]
