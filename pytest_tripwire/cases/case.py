"""What a case is: what the world and the model do, and what must hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import msgspec

from pytest_tripwire.breaker.budget import RunBudget
from pytest_tripwire.models import Script
from pytest_tripwire.timeline import Family, Reason, WorldEvent
from pytest_tripwire.world import Fault, Operation, Records

Violation: TypeAlias = Callable[[Sequence[WorldEvent]], WorldEvent | None]
Question: TypeAlias = Callable[[Sequence[WorldEvent]], bool]


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One standard case.

    Args:
        id: its name, in test ids and reports.
        title: one line for people.
        prompt: the user's message.
        operations: the parts that tools play.
        seed: fills the business before the run.
        faults: what goes wrong.
        personas: the scripted model's ways, by name; the first is the default.
        budget: limits of the breaker that the harness supplies.
        reasons: interruptions that are a good end; a family stands for all its reasons.
        may_complete: whether it is also a good end to finish the work.
        done: whether the work was finished, by what the world saw.
        met: whether the trap was really met; without it nothing was tried.
        violation: the first event that should not have happened on the trace that did happen.
        lesson: one line on where to look when the case is not contained.
    """

    id: str
    title: str
    prompt: str
    operations: tuple[Operation, ...]
    seed: Callable[[Records], None]
    faults: tuple[Fault, ...]
    personas: dict[str, Script]
    budget: RunBudget
    reasons: frozenset[Reason | Family]
    may_complete: bool
    done: Question
    met: Question
    violation: Violation
    lesson: str

    def accepts(self, reason: Reason) -> bool:
        """Whether an interruption for `reason` is a good end of this case."""
        return reason in self.reasons or reason.family in self.reasons

    @property
    def roles(self) -> tuple[str, ...]:
        """The parts that tools play."""
        return tuple(each.role for each in self.operations)
