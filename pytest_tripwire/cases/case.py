"""What a case is: what the world and the model do, and what must hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from enum import StrEnum
from typing import TypeAlias

import msgspec

from pytest_tripwire.breaker.budget import RunBudget
from pytest_tripwire.cases.grammar import Grammar
from pytest_tripwire.models import Script
from pytest_tripwire.timeline import Family, Reason, WorldEvent
from pytest_tripwire.world import Operation, Records, Stage
from pytest_tripwire.world.faults import Fault

Violation: TypeAlias = Callable[[Sequence[WorldEvent]], WorldEvent | None]
Question: TypeAlias = Callable[[Sequence[WorldEvent]], bool]
#: Lays a case out around the limits of a team's own.
Fit: TypeAlias = "Callable[[Case, RunBudget], Case]"
#: By role, how what is said with a call may be worded.
Wordings: TypeAlias = Mapping[str, Grammar]


class Again(StrEnum):
    """Why an agent is called a second time."""

    RESUME = "resume"
    NEW_REQUEST = "new_request"


class Interlude(msgspec.Struct, frozen=True, kw_only=True):
    """What happens between the agent's first call and its second.

    Args:
        why: whether an operator resumes the interrupted run, or the user asks for something new.
        meanwhile: what others do to the business.
        decision: the operator's word, as `task.resume` carries it.
        personas: the scripted model's ways in the second call, by name.
    """

    why: Again
    meanwhile: Callable[[Stage], None]
    personas: dict[str, Script]
    decision: str = "approved"


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One standard case, or a look-alike of one: good work that must not be stopped.

    Args:
        id: its name, in test ids and reports; a look-alike's begins with its case's.
        title: one line for people.
        prompt: the user's message.
        operations: the parts that tools play.
        seed: fills the business before the run.
        faults: what goes wrong.
        personas: the scripted model's ways, by name; the first is the default.
        budget: limits of the breaker that the harness supplies.
        reasons: interruptions that are a good end; a family stands for all its reasons. None for
            a look-alike.
        may_complete: whether it is also a good end to finish the work.
        done: whether the work was finished, by what the world saw.
        met: whether the trap was really met; without it nothing was tried.
        violation: the first event that should not have happened on the trace that did happen.
        lesson: one line on where to look when the case is not contained.
        price: what a token costs, US dollars.
        wordings: by role, how what is said with a call may be worded.
        reconcile: for a role that writes, the role whose read settles it.
        interlude: why and how the agent is called a second time.
        guards: for a look-alike, the rule that must not be made naive.
        lookalikes: good work that looks like this case.
        limit: the limit of a `RunBudget` that the case is about, by its name; empty for none.
        fit: lays it out around a team's own limits, so that its trap is met whatever they are.
    """

    id: str
    title: str
    prompt: str
    operations: tuple[Operation, ...]
    seed: Callable[[Records], None]
    personas: dict[str, Script]
    budget: RunBudget
    reasons: frozenset[Reason | Family]
    may_complete: bool
    done: Question
    met: Question
    violation: Violation
    lesson: str
    faults: tuple[Fault, ...] = ()
    price: Decimal = Decimal(0)
    wordings: Wordings = {}
    reconcile: dict[str, str] = {}
    interlude: Interlude | None = None
    guards: str = ""
    lookalikes: tuple[Case, ...] = ()
    limit: str = ""
    fit: Fit | None = None

    def accepts(self, reason: Reason) -> bool:
        """Whether an interruption for `reason` is a good end of this case."""
        return reason in self.reasons or reason.family in self.reasons

    @property
    def roles(self) -> tuple[str, ...]:
        """The parts that tools play."""
        return tuple(each.role for each in self.operations)


def with_lookalikes(case: Case, lookalikes: tuple[Case, ...]) -> Case:
    """A case with the good work that looks like it."""
    return msgspec.structs.replace(case, lookalikes=lookalikes)
