"""Which script the model follows, and whether the tools can take what it will propose."""

from __future__ import annotations

import json
from collections.abc import Mapping

from pytest_tripwire.breaker.budget import RunBudget
from pytest_tripwire.cases import load_case
from pytest_tripwire.cases.case import Case
from pytest_tripwire.cases.fitting import fitted
from pytest_tripwire.cases.rewording import reworded
from pytest_tripwire.cases.variants import UnknownVariantError, turns_of, varied
from pytest_tripwire.harness.failures import HarnessError
from pytest_tripwire.models import Calls, Move, Script, Seen
from pytest_tripwire.world import BindingError, Toolset

#: Turns that are tried before a run; a script repeats its last move after its end.
TURNS = 40


def played(
    case: Case | str, variant: str | None, seed: int = 0, budget: RunBudget | None = None
) -> Case:
    """The case, by its id or as it is, around a team's own `budget`, in a variant, in the words of
    a seed. Raises HarnessError if it has no such variant.
    """
    whole = load_case(case) if isinstance(case, str) else case
    if budget is not None:
        whole = fitted(whole, budget, turns_of(variant))
    try:
        return varied(reworded(whole, seed), variant)
    except UnknownVariantError as error:
        raise HarnessError(str(error)) from None


def script_of(personas: Mapping[str, Script], case: Case, persona: str | None) -> Script:
    """The script of a persona, the first one by default. Raises HarnessError with the names."""
    name = persona or next(iter(personas))
    if name not in personas:
        known = ", ".join(personas)
        raise HarnessError(f"the case {case.id} has no persona {name!r}; it has {known}")
    return personas[name]


def check(script: Script, toolset: Toolset) -> None:
    """Try every proposal of a script on the tools' schemas, before anything runs.

    Raises:
        HarnessError: for arguments that a tool cannot take.
    """
    before: Move | None = None
    for turn in range(TURNS):
        move = script(Seen(turn=turn))
        if move is before:
            continue
        before = move
        for each in move.proposals if isinstance(move, Calls) else ():
            try:
                toolset.check(each.role, each.slots)
                for tool in toolset.tools_of(each.role):
                    json.dumps(toolset.arguments_for(each.role, each.slots, tool))
            except (BindingError, TypeError) as error:
                raise HarnessError(f"the role {each.role!r} cannot be played: {error}") from error
