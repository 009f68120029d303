"""The calls of a run that were let through and have not come back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from pytest_tripwire.breaker.bound_key import Act
from pytest_tripwire.breaker.budget import Dimension
from pytest_tripwire.breaker.circuit import CircuitTicket
from pytest_tripwire.breaker.finding import Proposal
from pytest_tripwire.breaker.fingerprint import intent_of
from pytest_tripwire.timeline import Mode, ToolCall


@dataclass(slots=True, kw_only=True)
class Admitted:
    """A call that was let through, in the mode that the run had then, and has not come back.
    `act` is what it does, if it writes. `counted`: an enforced run would have let it through too.
    `approval`: the id of the call under which a person has said yes to it. `asked`: the event at
    which it was let through.
    """

    proposal: Proposal
    needs: Mapping[Dimension, Decimal]
    mode: Mode
    at: float
    key: str | None = None
    ticket: CircuitTicket | None = None
    stamp: float | None = None
    act: Act | None = None
    counted: bool = True
    approval: str = ""
    asked: int = 0


@dataclass(slots=True, kw_only=True)
class Admissions:
    """Kept in the order in which they were let through. Models give one id to several calls, so
    the id alone tells little; whoever settles may hand in a call made anew.
    """

    tenant: str = ""
    waiting: list[Admitted] = field(default_factory=list)

    def add(self, admitted: Admitted) -> None:
        """Let one through."""
        self.waiting.append(admitted)

    def of(self, call: ToolCall) -> Admitted:
        """The admission of `call`: that very call, else one that means the same, else the latest
        of its id. Raises KeyError when none is under way.
        """
        same = [each for each in reversed(self.waiting) if _is_named(each.proposal.call, call)]
        if not same:
            message = f"settle({call.tool}, {call.call_id}): no such call is under way"
            raise KeyError(f"{message}; settle each allowed call once")
        exact = [each for each in same if each.proposal.call is call]
        if not exact and len(same) > 1:
            meant = intent_of(call, same[0].proposal.spec, self.tenant)
            exact = [each for each in same if each.proposal.intent == meant]
        return (exact or same)[0]

    def take(self, call: ToolCall) -> Admitted:
        """Take the admission of `call` out. Raises KeyError as `of` does."""
        admitted = self.of(call)
        self.waiting[:] = [each for each in self.waiting if each is not admitted]
        return admitted

    def of_turn(self, turn: int) -> int:
        """How many calls of one turn are under way."""
        return sum(each.proposal.turn == turn for each in self.waiting)

    def count(self, intent: str, speaker: str | None = None) -> int:
        """How many calls of one intent are under way, of one speaker or of all."""
        same = (each.proposal for each in self.waiting if each.proposal.intent.digest == intent)
        return sum(speaker is None or each.speaker == speaker for each in same)


def _is_named(known: ToolCall, call: ToolCall) -> bool:
    return known.call_id == call.call_id and known.tool == call.tool
