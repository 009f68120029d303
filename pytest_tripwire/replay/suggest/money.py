"""How much money a budget has to hold so that nothing of a run is refused for want of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, TypeAlias

from pytest_tripwire.breaker.learning import COST_FIELDS
from pytest_tripwire.breaker.limits import read_dollars
from pytest_tripwire.replay.suggest.turn import Turn
from pytest_tripwire.replay.trace import TraceStep
from pytest_tripwire.timeline import ToolSpec

#: What is declared about the tool that a step calls.
SpecOf: TypeAlias = Callable[[TraceStep], ToolSpec]

_NOTHING = Decimal(0)


def needed_usd(turns: Sequence[Turn], spec_of: SpecOf) -> Decimal | None:
    """US dollars that have to be there: what is spent, and with it what is reserved before a
    request or a call, which is the least that one like it has cost so far. None if some request
    does not tell its cost.
    """
    purse = _Purse(spec_of)
    for turn in turns:
        if not purse.pays(turn):
            return None
        if turn.times > 1:
            purse.again(turn)
    return purse.needed if turns else None


class _Purse:
    """Owner of what is spent along one run."""

    def __init__(self, spec_of: SpecOf) -> None:
        self._spec_of = spec_of
        self._spent = _NOTHING
        self._request = _NOTHING
        self._tools: dict[str, Decimal] = {}
        self.needed = _NOTHING

    def pays(self, turn: Turn) -> bool:
        """Pay for one request and its calls; false if it does not tell what they cost."""
        costs = [(step, often, self._cost(step)) for step, often in turn.steps]
        if all(cost is None for _, _, cost in costs):
            return False
        self._reserve(turn)
        total = sum((often * cost for _, often, cost in costs if cost is not None), _NOTHING)
        for step, _, cost in costs:
            if cost:
                tool = self._spec_of(step).name
                self._tools[tool] = min(self._tools.get(tool, cost), cost)
        # A request that was free says nothing about the next one.
        self._request = min(self._request or total, total)
        self._spend(total)
        return True

    def again(self, turn: Turn) -> None:
        """Pay for all the requests like the one that was just paid for."""
        before = self._spent
        self.pays(turn)
        each = self._spent - before
        self._spend(each * (turn.times - 2))
        self._reserve(turn, already=each)

    def _reserve(self, turn: Turn, *, already: Decimal = _NOTHING) -> None:
        calls = sum((self._price(step) * often for step, often in turn.steps), _NOTHING)
        spent = self._spent - already
        self.needed = max(self.needed, spent + max(calls, self._request))

    def _spend(self, amount: Decimal) -> None:
        self._spent += amount
        self.needed = max(self.needed, self._spent)

    def _price(self, step: TraceStep) -> Decimal:
        """What is reserved for a call."""
        spec = self._spec_of(step)
        return spec.cost or self._tools.get(spec.name, _NOTHING)

    def _cost(self, step: TraceStep) -> Decimal | None:
        """What a call has cost, with what its result says."""
        spec = self._spec_of(step)
        said = _said(step.outcome.result, spec)
        if step.cost_usd is None and said is None:
            return spec.cost
        return (step.cost_usd or _NOTHING) + (said or _NOTHING)


def _said(result: Any, spec: ToolSpec) -> Decimal | None:
    names = COST_FIELDS if spec.cost_field is None else (spec.cost_field,)
    values = [result[name] for name in names if name in result] if isinstance(result, dict) else []
    return next((cost for each in values if (cost := read_dollars(each)) is not None), None)
