"""Making the look-alike of a case: good work that a naive rule would stop."""

from __future__ import annotations

from typing import Any

import msgspec

from pytest_tripwire.breaker.budget import RunBudget
from pytest_tripwire.cases.case import Case
from pytest_tripwire.cases.reading import always, nothing_wrong

ROOMY = RunBudget(max_turns=80, max_tool_calls=80, max_side_effects=40)


def lookalike(case: Case, name: str, title: str, *, guards: str, **changes: Any) -> Case:
    """Good work that looks like `case` and has to be completed.

    Args:
        case: what it looks like.
        name: its name, put behind the case's.
        title: one line for people.
        guards: the rule that it shows not to be naive.
        **changes: fields of the case that are different.
    """
    common: dict[str, Any] = {
        "id": f"{case.id}/{name}",
        "title": title,
        "guards": guards,
        "reasons": frozenset(),
        "may_complete": True,
        "faults": (),
        "met": always,
        "violation": nothing_wrong,
        "budget": ROOMY,
        "lesson": "This is good work; whatever stopped it stops good work.",
        "lookalikes": (),
        "interlude": None,
        "limit": "",
        "fit": None,
    }
    return msgspec.structs.replace(case, **{**common, **changes})
