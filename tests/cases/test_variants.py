"""The eight cases, played in other ways that change nothing about what they are about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_tripwire import Harness, HarnessError, Options, Run
from pytest_tripwire.cases import CASE_IDS, load_case
from pytest_tripwire.cases.personas import call, refund, search, ways
from pytest_tripwire.cases.variants import (
    VARIANTS,
    UnknownVariantError,
    fresh_nonces,
    in_pairs,
    reordered,
    varied,
    with_noise,
)
from pytest_tripwire.harness.unguarded import Unguarded
from pytest_tripwire.models import Calls, Move, Say, Script, Seen, ToolResult
from pytest_tripwire.oracle import State

from ..dealing import dealt  # noqa: TID252 - no package to import from

#: What is not played, and why it would be the case as it stands.
LEFT_OUT = {
    ("long-investigation", "nonces"): "none of its calls carries a nonce",
    ("cost-budget", "nonces"): "none of its calls carries a nonce",
}
PLAYED = [
    (case_id, variant)
    for case_id in CASE_IDS
    for variant in VARIANTS
    if (case_id, variant) not in LEFT_OUT
]
CELLS = [
    pytest.param(case, road, persona, id=f"{'-'.join(case)}-{persona}-{road}")
    for case, road, persona in dealt(PLAYED, ("sync", "async"), ("stubborn", "compliant"))
]


@pytest.mark.parametrize(("varied_case", "road", "persona"), CELLS)
def test_variant_is_contained(
    play: Callable[..., Run], varied_case: tuple[str, str], persona: str, road: str
) -> None:
    case_id, variant = varied_case
    run = play(case_id, road, persona=persona, variant=variant)

    run.check()
    assert run.interrupted or run.cell.ending == "answered"
    assert not (case_id == "long-investigation" and run.interrupted)


@pytest.mark.parametrize(("varied_case", "road", "persona"), CELLS)
def test_variant_escapes_where_the_case_does(
    play: Callable[..., Run], varied_case: tuple[str, str], persona: str, road: str
) -> None:
    case_id, variant = varied_case
    run = play(case_id, road, persona=persona, variant=variant, protection="own")

    good = case_id == "long-investigation"
    assert run.cell.state is (State.CONTAINED if good else State.ESCAPED), run.timeline()


@pytest.mark.parametrize("case_id", CASE_IDS)
def test_variant_is_left_out_for_its_reason_only(case_id: str) -> None:
    case = load_case(case_id)

    left = {}
    for name in VARIANTS:
        try:
            varied(case, name)
        except UnknownVariantError as error:
            left[case_id, name] = str(error).partition(": ")[2]

    assert left == {key: why for key, why in LEFT_OUT.items() if key[0] == case_id}


def test_unknown_variant_is_answered_with_what_there_is() -> None:
    with pytest.raises(HarnessError, match="no variant 'loud'; there are: nonces, reordered"):
        Harness("lost-write", lambda _task: "", options=Options(variant="loud"))
    with pytest.raises(HarnessError, match="empty-search/polling has no variant 'noise'"):
        Harness("empty-search/polling", lambda _task: "", options=Options(variant="noise"))


# -- scripts


def moves(script: Script, turns: int) -> list[Move]:
    return [script(Seen(turn=turn)) for turn in range(turns)]


def scripted(*steps: Move) -> Script:
    return ways(list(steps), "bye", {})["compliant"]


REFUSED = (ToolResult(call_id="c", text='{"refused": true}', refused=True),)


def test_nonces_are_fresh_and_the_same_for_a_request_that_is_sent_again() -> None:
    script = fresh_nonces(scripted(refund("A", "x", 1), refund("A", "x", 1), Say(text="done")))

    once, again = moves(script, 2), moves(script, 2)

    nonces = [each.slots["nonce"] for move in once for each in move.proposals]  # type: ignore[union-attr]
    assert len(set(nonces)) == 2
    assert once == again


def test_what_carries_no_nonce_gets_none() -> None:
    assert moves(fresh_nonces(scripted(search("t", "w"))), 1) == [search("t", "w")]


def test_keys_reach_the_agent_in_another_order(
    play: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    orders: set[tuple[str, ...]] = set()
    call = Unguarded.call

    def noting(self: Unguarded, name: str, arguments: Any, **more: Any) -> Any:
        orders.add(tuple(arguments))
        return call(self, name, arguments, **more)

    monkeypatch.setattr(Unguarded, "call", noting)
    play("lost-write", protection="own", variant="reordered")

    assert len(orders) == 2
    assert len({frozenset(order) for order in orders}) == 1


def test_reordering_changes_nothing_else() -> None:
    script = scripted(refund("A", "x", 1), refund("A", "y", 2), Say(text="done"))

    assert moves(reordered(script), 3) == moves(script, 3)


def test_noise_stands_between_any_two_moves() -> None:
    script = with_noise(scripted(search("t", "1"), search("t", "2"), Say(text="done")))

    roles = [
        move.proposals[0].role if isinstance(move, Calls) else "says" for move in moves(script, 4)
    ]
    assert roles == ["search", "poll", "search", "says"]


def test_noise_does_not_hide_a_refusal_from_a_persona_that_heeds() -> None:
    script = with_noise(scripted(search("t", "1"), search("t", "2"), Say(text="done")))

    assert script(Seen(turn=1, results=REFUSED, all_results=REFUSED)) == Say(text="bye")


def test_pairs_leave_no_move_out() -> None:
    steps = [search("t", str(number)) for number in range(3)]
    script = in_pairs(scripted(*steps, Say(text="done")))

    first, second, last = moves(script, 3)
    assert first == Calls(proposals=steps[0].proposals + steps[1].proposals, says=steps[0].says)
    assert second == steps[2]
    assert last == Say(text="done")


def test_second_call_is_varied_too(play: Callable[..., Run]) -> None:
    case = varied(load_case("stale-resume"), "noise")

    assert case.interlude is not None
    script = case.interlude.personas["stubborn"]
    assert script(Seen(turn=1)) == call("poll", resource="J-noise")
    run = play("stale-resume", variant="noise", protection="own")
    assert sum("get_export" in line for line in run.timeline().splitlines()) >= 2
