"""One line of the table."""

from __future__ import annotations

import msgspec


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """What was compared and how it came out.

    Args:
        benchmark: the benchmark's name, as `--only` takes it.
        what: the two that are compared.
        value: the ratio, or the number of `unit`; None if it could not be measured.
        goal: the most that is wanted; None where nothing is.
        unit: what is counted, empty for a ratio.
        note: why there is no value, or what else to know.
    """

    benchmark: str
    what: str
    value: float | None = None
    goal: float | None = None
    unit: str = ""
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None if there is nothing to tell."""
        if self.value is None or self.goal is None:
            return None
        return self.value <= self.goal


def table(lines: list[Line]) -> str:
    """The lines as people read them."""
    heading = ("benchmark", "what", "measured", "goal", "")
    rows = [heading, *map(_cells, lines)]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return "\n".join(_row(row, widths) for row in rows)


def as_json(lines: list[Line]) -> str:
    """The lines as JSON."""
    told = [{**msgspec.structs.asdict(line), "met": line.met} for line in lines]
    return msgspec.json.format(msgspec.json.encode(told), indent=2).decode()


def _row(row: tuple[str, ...], widths: list[int]) -> str:
    name, what, measured, goal = (
        cell.ljust(width) for cell, width in zip(row, widths, strict=False)
    )
    return f"{name}  {what}  {measured.strip():>{widths[2]}}  {goal}  {row[4]}".rstrip()


def _cells(line: Line) -> tuple[str, ...]:
    measured = "-" if line.value is None else _number(line.value, line.unit)
    goal = "" if line.goal is None else f"at most {_number(line.goal, line.unit)}"
    verdict = {True: "met", False: "NOT MET", None: ""}[line.met]
    return line.benchmark, line.what, measured, goal, " ".join(filter(None, (verdict, line.note)))


def _number(value: float, unit: str) -> str:
    return f"{value:.0f} {unit}" if unit else f"{value:.2f}"
