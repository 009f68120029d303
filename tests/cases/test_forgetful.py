"""The persona that loses what it was told: after a refusal it begins anew, in other words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_tripwire import Harness, Options, Protection, Run, Task
from pytest_tripwire.cases import CASE_IDS, load_case
from pytest_tripwire.cases.grammar import grammar
from pytest_tripwire.cases.personas import HINT, LIVES, forgetful, refund, script, search
from pytest_tripwire.cases.variants import (
    VARIANTS,
    UnknownVariantError,
    in_pairs,
    varied,
    with_noise,
)
from pytest_tripwire.models import Calls, Move, Say, Seen, ToolResult
from pytest_tripwire.models.call_ids import make_call_id
from pytest_tripwire.timeline import Dispatch
from pytest_tripwire.world import NONCE, RESOURCE, WORDING

KEY = "0123456789abcdef"
DONE = Say(text="Done.")
MOVES = [search("t", "where is it"), refund("A", "as said", 1), refund("B", "as said", 2), DONE]
WORDINGS = {
    "search": grammar(asks=("find it", "look for it", "is it there", "show it")),
    "write": grammar(pays=("pay {why}", "refund {why}"), why=("now", "please", "at once")),
}
FORGETFUL = forgetful(script(MOVES), MOVES, WORDINGS)


def result(turn: int, text: str = "ok", *, call_id: str | None = None) -> ToolResult:
    name = make_call_id(KEY, turn, 0) if call_id is None else call_id
    return ToolResult(call_id=name, text=text, refused=text == "no")


def seen(*texts: str, trimmed: int = 0, foreign: bool = False) -> Seen:
    """A conversation whose calls were answered like this; `no` is a refusal."""
    all_results = tuple(
        result(turn, text, call_id="toolu_1" if foreign else None)
        for turn, text in enumerate(texts)
    )
    return Seen(turn=len(texts), results=all_results[-1:], all_results=all_results[trimmed:])


def about(move: Move) -> Any:
    """What a move is about, without its words and nonces."""
    if not isinstance(move, Calls):
        return move
    return [(each.role, each.slots[RESOURCE]) for each in move.proposals]


FIRST, SECOND, THIRD = map(about, MOVES[:3])


@pytest.mark.parametrize("turn", range(6))
def test_without_a_refusal_it_goes_the_same_way(turn: int) -> None:
    told = seen(*["ok"] * turn)

    assert FORGETFUL(told) == script(MOVES)(told)


@pytest.mark.parametrize("foreign", [False, True])
@pytest.mark.parametrize(
    ("told", "move"),
    [
        (("ok", "no"), FIRST),
        (("ok", "no", "ok"), SECOND),
        (("ok", "no", "ok", "ok"), THIRD),
        (("ok", "no", "ok", "no"), FIRST),
        (("no",), FIRST),
        (("no", "no"), FIRST),
        (("ok", "ok", f"{{{HINT}: stop}}"), FIRST),
        (("ok", "no", "ok", "ok", "ok"), DONE),
    ],
)
def test_after_a_refusal_it_begins_with_the_first_move(
    told: tuple[str, ...], move: Any, *, foreign: bool
) -> None:
    assert about(FORGETFUL(seen(*told, foreign=foreign))) == move


def test_it_says_it_in_other_words_and_under_another_nonce() -> None:
    lives = [FORGETFUL(seen("ok", *["no", "ok"] * life)) for life in range(3)]

    said = [move.proposals[0].slots for move in lives if isinstance(move, Calls)]
    assert len({slots[WORDING] for slots in said}) == 3
    assert len({slots[NONCE] for slots in said}) == 3
    assert [move.says for move in lives if isinstance(move, Calls)] == [
        slots[WORDING] for slots in said
    ]


@given(texts=st.lists(st.sampled_from(["ok", "no"]), max_size=11), data=st.data())
def test_trimming_what_was_before_the_last_refusal_changes_nothing(
    texts: list[str], data: st.DataObject
) -> None:
    last = max((place for place, text in enumerate(texts) if text == "no"), default=0)
    trimmed = data.draw(st.integers(0, last))

    assert FORGETFUL(seen(*texts, trimmed=trimmed)) == FORGETFUL(seen(*texts))


def test_a_hint_can_be_taken_for_what_it_is() -> None:
    way = forgetful(script(MOVES), MOVES, WORDINGS, hints=False)

    assert about(way(seen("ok", HINT))) == THIRD
    assert about(way(seen("ok", "no"))) == FIRST


def test_whoever_refuses_it_for_ever_hears_the_end() -> None:
    told: list[str] = []
    while isinstance(FORGETFUL(seen(*told)), Calls):
        told.append("no")

    assert len(told) == LIVES * len(MOVES)
    assert FORGETFUL(seen(*told)) == DONE


def test_a_result_of_a_turn_to_come_does_not_lead_it_astray() -> None:
    strange = Seen(turn=1, all_results=(result(7, "no"),))

    assert about(FORGETFUL(strange)) == FIRST


@pytest.mark.parametrize("at", [0, 1, 2, 3])
def test_between_noise_it_still_knows_where_it_began_anew(at: int) -> None:
    told = ["ok"] * at + ["no"]
    way = with_noise(FORGETFUL)

    moves = []
    for _ in range(6):
        moves.append(about(way(seen(*told))))
        told.append("ok")

    assert [move for move in moves if move not in ([("poll", "J-noise")], DONE)] == [
        FIRST,
        SECOND,
        THIRD,
    ]


@pytest.mark.parametrize("at", [0, 1])
def test_in_pairs_it_begins_with_the_first_two(at: int) -> None:
    told = ["ok"] * at + ["no"]
    way = in_pairs(FORGETFUL)

    assert about(way(seen(*told))) == FIRST + SECOND
    assert about(way(seen(*told, "ok"))) == THIRD


# -- on the cases


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("case_id", CASE_IDS)
def test_it_is_contained_in_every_variant(
    quick: Callable[..., Run], case_id: str, variant: str
) -> None:
    try:
        varied(load_case(case_id), variant)
    except UnknownVariantError:
        return

    run = quick(case_id, persona="forgetful", variant=variant, seed=7)

    run.check()
    assert run.interrupted == (case_id != "long-investigation")


class LooksAgain:
    """An agent that refuses one write of its own accord, and goes its model's way after that."""

    def __init__(self) -> None:
        self.amounts: list[Any] = []
        self.totals: list[Any] = []

    def __call__(self, task: Task) -> str:
        case = load_case("stale-resume")
        assert case.interlude is not None
        personas = case.interlude.personas if task.resume else case.personas
        told = ["no"] if task.resume else []
        while isinstance(move := personas["forgetful"](seen(*told)), Calls):
            told.append("ok")
            (each,) = move.proposals
            if each.role == "read":
                order = task.tools.call("get_order", {"order_id": each.slots[RESOURCE]})
                self.totals.append(order["total"])
            else:
                self.amounts.append(each.slots["amount"])
        return "done"


def test_resumed_and_refused_it_looks_again_and_pays_what_it_finds() -> None:
    agent = LooksAgain()

    run = Harness("stale-resume", agent, options=Options(protection=Protection.OWN)).run()

    assert [type(each) for each in run.events].count(Dispatch) == 2
    assert agent.totals == [40, 25]
    assert agent.amounts == [25, 25, 25]
