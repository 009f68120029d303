"""The budgets of a run as falling lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_tripwire.gate.html.budgets import Falling
from pytest_tripwire.gate.html.fit import CHARACTER
from pytest_tripwire.gate.html.frame import PLOT, STEP, Frame, x_of
from pytest_tripwire.gate.html.markup import Markup, el
from pytest_tripwire.gate.html.words import BUDGETS

_APART = 11.0
_LONGEST = 22


def plot(budgets: Sequence[Falling], frame: Frame) -> Iterator[Markup]:
    """The lines, and at the end of each what it is and what was left."""
    top, length = frame.plot_top, max(len(each.shares) for each in budgets)
    ends = f"M0 {top:g}H{x_of(length):g}M0 {top + PLOT:g}H{x_of(length):g}"
    yield el("path", d=ends, class_="scale")
    drawn = [(at, each) for at, each in enumerate(budgets) if each.shares]
    for at, each in drawn:
        yield el("path", d=_falling(each.shares, top), class_=f"b b{at % 6}")
    lowest = float("-inf")
    for at, each in sorted(drawn, key=lambda one: -one[1].shares[-1]):
        lowest = max(lowest + _APART, _y(each.shares[-1], top) + 4)
        name = BUDGETS.get(each.budget.name, each.budget.name)
        told = f"{name} {each.shares[-1]:.0%}"
        yield el("text", told, x=x_of(length) - 10, y=lowest, class_=f"end b{at % 6}")


def plot_end(events: int) -> float:
    """Where the texts at the lines' ends are over, for so many events."""
    return x_of(events) + _LONGEST * CHARACTER


def _falling(shares: Sequence[float], top: float) -> str:
    """Level from event to event, and down where something was spent."""
    steps = [f"M{x_of(0) - STEP / 2:g} {_y(1.0, top):g}"]
    before = 1.0
    for at, share in enumerate(shares):
        if share != before:
            steps.append(f"H{x_of(at):g}V{_y(share, top):.4g}")
        before = share
    return "".join([*steps, f"H{x_of(len(shares)) - STEP / 2:g}"])


def _y(share: float, top: float) -> float:
    return top + (1.0 - share) * PLOT
