"""Saying the same thing in other words, as a model does, and so that it can be said again."""

from __future__ import annotations

import msgspec

from pytest_tripwire.cases.case import Case, Wordings
from pytest_tripwire.cases.rewriting import every_script
from pytest_tripwire.models import Calls, Move, Propose, Script, Seen
from pytest_tripwire.world import WORDING

#: Calls in one message that are sure to get words of their own; more may share some.
_ABREAST = 2


def reworded(case: Case, seed: int) -> Case:
    """The case with all that is said in other words, the same for the same seed. Nothing changes
    for the seed 0, and for roles of which the case does not tell how to word them.
    """
    if not seed:
        return case

    def rewrite(script: Script) -> Script:
        return lambda seen: otherwise(script(seen), seen, case.wordings, seed)

    return every_script(case, rewrite)


def otherwise(move: Move, seen: Seen, wordings: Wordings, seed: int) -> Move:
    """A move in other words: those of the seed for this turn."""
    if not isinstance(move, Calls):
        return move
    proposals = tuple(
        _worded(each, wordings, seed, _ABREAST * seen.turn + place)
        for place, each in enumerate(move.proposals)
    )
    spoken = [each.slots.get(WORDING) for each in move.proposals]
    says = move.says
    if says in spoken:
        says = proposals[spoken.index(says)].slots[WORDING]
    return msgspec.structs.replace(move, proposals=proposals, says=says)


def _worded(each: Propose, wordings: Wordings, seed: int, number: int) -> Propose:
    if WORDING not in each.slots or each.role not in wordings:
        return each
    words = wordings[each.role].phrase(seed, number)
    return msgspec.structs.replace(each, slots={**each.slots, WORDING: words})
