"""Changing what scripts propose, and every script of a case at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import msgspec

from pytest_tripwire.cases.case import Case
from pytest_tripwire.models import Calls, Move, Propose, Script, Seen
from pytest_tripwire.models.call_ids import make_call_id, read_call_id
from pytest_tripwire.models.script import ToolResult

Rewrite: TypeAlias = Callable[[Script], Script]
#: From what is seen, a proposal's place in its message, and the proposal.
Change: TypeAlias = Callable[[Seen, int, Propose], Propose]


def changed(move: Move, seen: Seen, change: Change) -> Move:
    """A move with every proposal changed."""
    if not isinstance(move, Calls):
        return move
    proposals = tuple(change(seen, place, each) for place, each in enumerate(move.proposals))
    return msgspec.structs.replace(move, proposals=proposals)


def each_proposal(script: Script, change: Change) -> Script:
    """A script with every proposal changed."""
    return lambda seen: changed(script(seen), seen, change)


def every_script(case: Case, rewrite: Rewrite) -> Case:
    """A case with every script rewritten, those of the second call too."""
    interlude = case.interlude
    if interlude is not None:
        interlude = msgspec.structs.replace(interlude, personas=_all(interlude.personas, rewrite))
    personas = _all(case.personas, rewrite)
    return msgspec.structs.replace(case, personas=personas, interlude=interlude)


def retimed(seen: Seen, turn: int, own: Callable[[int], int]) -> Seen:
    """What a script within another one sees: at its own `turn`, and with results of its own turns.

    Args:
        seen: what the outer script sees.
        turn: the inner script's turn.
        own: from a turn that has been to the inner script's.
    """

    def renamed(result: ToolResult) -> ToolResult:
        found = read_call_id(result.call_id)
        if found is None:
            return result
        name = make_call_id(found.key, own(found.turn), 0)
        return msgspec.structs.replace(result, call_id=name)

    return msgspec.structs.replace(
        seen,
        turn=turn,
        results=tuple(map(renamed, seen.results)),
        all_results=tuple(map(renamed, seen.all_results)),
    )


def _all(personas: dict[str, Script], rewrite: Rewrite) -> dict[str, Script]:
    return {name: rewrite(script) for name, script in personas.items()}
