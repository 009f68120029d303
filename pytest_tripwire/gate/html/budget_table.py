"""Budgets in numbers. It is also what tells the lines of the drawing apart."""

from __future__ import annotations

from pytest_tripwire.gate.html.budgets import Falling, falling
from pytest_tripwire.gate.html.markup import Markup, el, named
from pytest_tripwire.gate.html.words import BUDGETS, amount
from pytest_tripwire.oracle.cell import Cell

_HEAD = ("budget", "limit", "spent", "left")


def budget_table(cell: Cell) -> Markup | None:
    """Every budget of a cell as it stood at the end; None without any."""
    if not cell.budgets:
        return None
    lines = [_line(at, each) for at, each in enumerate(falling(cell))]
    return el(
        "table",
        el("caption", "Budgets at the end"),
        el("thead", el("tr", [el("th", name, scope="col") for name in _HEAD])),
        el("tbody", lines),
        class_="budgets",
    )


def _line(at: int, each: Falling) -> Markup:
    budget = each.budget
    name = BUDGETS.get(budget.name, budget.name)
    numbers = (budget.limit, budget.spent, budget.remaining)
    undrawn = None if each.shares else el("small", " not drawn: the events do not tell")
    return el(
        "tr",
        el("th", _swatch(at) if each.shares else None, named(name), undrawn, scope="row"),
        [el("td", amount(number)) for number in numbers],
    )


def _swatch(at: int) -> Markup:
    line = el("path", d="M0 5H22", class_=f"b b{at % 6}")
    return el("svg", line, width=22, height=10, aria_hidden="true")
