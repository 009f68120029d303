"""The look-alikes of these cases, cut in two: the first process is killed amid good work, or has
come to its end and the message is delivered once more. The work is done in the end, and done once.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from typing import Any

import pytest

from pytest_tripwire.oracle import State

from .life import Told, Where
from .stand import Played

Play = Callable[..., Played]

#: The case, how it is cut, and how many writes there are in the world at its end.
CUT: dict[str, tuple[str, dict[str, Any], int]] = {
    "its answer was lost": (
        "lost-write/reconciled",
        {"dies": (Where.WITHIN, 1), "reconciles": True},
        1,
    ),
    "it was refused for now": ("lost-write/definite-failure", {"dies": (Where.AFTER, 1)}, 1),
    "it was refused, and nobody heard": (
        "lost-write/definite-failure",
        {"dies": (Where.WITHIN, 1), "reconciles": True},
        1,
    ),
    "between two of thirty": ("lost-write/batch", {"dies": (Where.AFTER, 7)}, 30),
    "within one of thirty": (
        "lost-write/batch",
        {"dies": (Where.WITHIN, 7), "reconciles": True},
        30,
    ),
    "just before one of thirty": (
        "lost-write/batch",
        {"dies": (Where.BEFORE, 7), "reconciles": True},
        30,
    ),
    "thirty, twice": ("lost-write/batch", {}, 30),
    "on, off and on, from the start": ("lost-write/restored", {"dies": (Where.ASKED, 1)}, 3),
    "asked for again": ("lost-write/asked-again", {}, 2),
    "killed, and asked for again": ("lost-write/asked-again", {"dies": (Where.AFTER, 1)}, 2),
    "between two in time": ("deadline/in-time", {"dies": (Where.AFTER, 1)}, 2),
    "within the first, in time": (
        "deadline/in-time",
        {"dies": (Where.WITHIN, 1), "road": "confirmed"},
        2,
    ),
    "before the first, in time": (
        "deadline/in-time",
        {"dies": (Where.BEFORE, 1), "road": "rejected"},
        2,
    ),
    "before two side by side": ("deadline/side-by-side", {"dies": (Where.ASKED, 1)}, 0),
    "what was approved, unchanged": ("stale-resume/unchanged", {"road": "resumed"}, 1),
}
#: Each cut by one of the two in turn: both come to each way of ending.
BY_OTHERS = {
    f"{name}-{persona}": (*cut, persona)
    for (name, cut), persona in zip(CUT.items(), cycle(("compliant", "forgetful")), strict=False)
}


@pytest.mark.parametrize(("case_id", "plan", "mutations"), CUT.values(), ids=CUT)
def test_it_is_done_once(play: Play, case_id: str, plan: dict[str, Any], mutations: int) -> None:
    played = play(case_id, **plan)

    assert played.first.ended == ("killed" if "dies" in plan else played.first.ended)
    assert (played.cell.state, played.cell.broken) == (State.CONTAINED, ())
    assert played.second == Told(ended="answered")
    assert played.mutations == mutations


@pytest.mark.parametrize(
    ("case_id", "plan", "mutations", "persona"), BY_OTHERS.values(), ids=BY_OTHERS
)
def test_it_is_never_done_twice(
    play: Play, case_id: str, plan: dict[str, Any], mutations: int, persona: str
) -> None:
    """What was done before is answered by a refusal. A model that gives up then, or begins anew,
    leaves work undone; it does none of it once more.
    """
    played = play(case_id, **plan, persona=persona)

    assert played.mutations <= mutations
    assert {each.check for each in played.cell.broken} <= {"a good end"}


@pytest.mark.parametrize("nth", [1, 2])
def test_a_message_that_is_delivered_again_excuses_nothing(play: Play, nth: int) -> None:
    """Two workers may have it at once, so what was undone for it is not done once more: the flag
    stays off, and the case says so. An agent that has to put it on looks at it.
    """
    played = play("lost-write/restored", dies=(Where.AFTER, nth))

    assert (played.cell.state, played.mutations) == (State.ESCAPED, 2)
    assert [each.check for each in played.cell.broken] == ["a good end"]
