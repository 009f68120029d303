"""Every case in the words of a seed: the same calls, said otherwise, and as well contained."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
import pytest

from pytest_tripwire import HarnessError, Run
from pytest_tripwire.cases import CASE_IDS, load_case
from pytest_tripwire.cases.case import Case
from pytest_tripwire.cases.personas import PERSONAS, call, refund
from pytest_tripwire.cases.rewording import reworded
from pytest_tripwire.harness.failures import explain
from pytest_tripwire.harness.script import played
from pytest_tripwire.models import Calls, Move, Propose, Say, Script, Seen, ToolResult
from pytest_tripwire.world import WORDING

from ..dealing import dealt  # noqa: TID252 - no package to import from

CASES = {name: load_case(name) for name in CASE_IDS}
EVERY = {each.id: each for case in CASES.values() for each in (case, *case.lookalikes)}
#: Who is told nothing says most.
SEEDS = {"stubborn": range(1, 9), "compliant": range(1, 4), "forgetful": range(1, 4)}
#: Good work that is stopped all the same, as it ignores that its last answer is asked for.
STOPPED = {("cost-budget/prompt-ceiling", persona) for persona in ("stubborn", "forgetful")}
#: Turns of the longest script.
LONGEST = 32


def scripts(case: Case) -> Iterator[tuple[str, Script]]:
    """Every script of a case, those of the second call too."""
    second = case.interlude.personas if case.interlude else {}
    for name, script in case.personas.items():
        yield name, script
    for name, script in second.items():
        yield f"second {name}", script


def moves(script: Script) -> list[Move]:
    paid = ToolResult(call_id="c", text='{"refund_id": "R-1"}', refused=False)
    return [
        script(Seen(turn=turn, results=(paid,) * (turn > 0), all_results=(paid,) * turn))
        for turn in range(LONGEST)
    ]


def proposals(script: Script) -> list[Propose]:
    return [each for move in moves(script) if isinstance(move, Calls) for each in move.proposals]


def without_words(each: Propose) -> Propose:
    slots = {name: value for name, value in each.slots.items() if name != WORDING}
    return msgspec.structs.replace(each, slots=slots)


# -- what is proposed


@pytest.mark.parametrize("name", EVERY)
def test_words_as_written_are_those_of_seed_zero(name: str) -> None:
    assert reworded(EVERY[name], 0) is EVERY[name]


@pytest.mark.parametrize("name", EVERY)
def test_every_wording_is_another_and_all_else_is_as_it_was(name: str) -> None:
    written = dict(scripts(EVERY[name]))
    for persona, script in scripts(reworded(EVERY[name], 7)):
        before, after = proposals(written[persona]), proposals(script)

        assert list(map(without_words, after)) == list(map(without_words, before))
        for old, new in zip(before, after, strict=True):
            assert (WORDING in new.slots) == (WORDING in old.slots)
            if WORDING in new.slots:
                assert new.slots[WORDING] != old.slots[WORDING]
                assert new.slots[WORDING] in EVERY[name].wordings[new.role].texts


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_words_are_used_twice_in_a_conversation(name: str, seed: int) -> None:
    for _, script in scripts(reworded(EVERY[name], seed)):
        last = next(n for n, move in enumerate(moves(script)) if isinstance(move, Say))
        said = [
            (each.role, each.slots[WORDING])
            for move in moves(script)[:last]
            if isinstance(move, Calls)
            for each in move.proposals
            if WORDING in each.slots
        ]

        assert len(said) == len(set(said))


def test_what_is_said_beside_a_call_is_said_in_the_same_words() -> None:
    move = reworded(CASES["lost-write"], 7).personas["stubborn"](Seen(turn=0))

    assert isinstance(move, Calls)
    assert move.says == move.proposals[0].slots[WORDING]


def test_what_is_no_wording_of_a_call_is_left() -> None:
    beside = msgspec.structs.replace(refund("A-1001", "Sent back.", 1), says="One moment.")
    strange = call("edit", "Strange.", wording="Strange.")
    case = msgspec.structs.replace(
        CASES["lost-write"],
        personas={"stubborn": lambda seen: (beside, strange, Say(text="Done."))[seen.turn]},
    )

    script = reworded(case, 7).personas["stubborn"]

    first, second, last = (script(Seen(turn=turn)) for turn in range(3))
    assert isinstance(first, Calls)
    assert first.says == "One moment."
    assert first.proposals[0].slots[WORDING] != "Sent back."
    assert second == strange, "nobody told how this role may be worded"
    assert last == Say(text="Done.")


def test_the_words_of_a_seed_are_the_same_for_ever() -> None:
    script = reworded(CASES["lost-write"], 7).personas["stubborn"]

    assert [each.slots[WORDING] for each in proposals(script)][:3] == [
        "refund, the first attempt timed out.",
        "retrying the refund, the first attempt timed out.",
        "the parcel came back; the first attempt timed out.",
    ]


def test_another_seed_has_other_words() -> None:
    said = {
        proposals(reworded(case, seed).personas["stubborn"])[0].slots[WORDING]
        for case in [CASES["empty-search"]]
        for seed in range(1, 21)
    }

    assert len(said) > 10


@pytest.mark.parametrize("variant", ["nonces", "noise", "parallel", "reordered"])
def test_variants_are_played_in_the_words_of_the_seed(variant: str) -> None:
    case = CASES["lost-write"]

    script = played(case, variant, 7).personas["stubborn"]

    words = [each.slots[WORDING] for each in proposals(script) if WORDING in each.slots]
    assert words == [
        each.slots[WORDING] for each in proposals(reworded(case, 7).personas["stubborn"])
    ]


# -- what comes of it


@pytest.mark.parametrize("persona", PERSONAS)
@pytest.mark.parametrize("case_id", CASE_IDS)
def test_case_is_contained_in_all_words(
    quick: Callable[..., Run], case_id: str, persona: str
) -> None:
    written = quick(case_id, persona=persona)
    for seed in SEEDS[persona]:
        run = quick(case_id, persona=persona, seed=seed)

        run.check()
        assert run.cell.ending == written.cell.ending, f"seed {seed}"


@pytest.mark.parametrize(
    ("name", "persona", "seed"), dealt([name for name in EVERY if "/" in name], PERSONAS, (1, 2))
)
def test_look_alike_completes_in_all_words(
    quick: Callable[..., Run], name: str, persona: str, seed: int
) -> None:
    run = quick(name, persona=persona, seed=seed)

    run.check()
    assert run.interrupted == ((name, persona) in STOPPED)


@pytest.mark.parametrize("case_id", [name for name in CASE_IDS if name != "long-investigation"])
def test_case_escapes_in_all_words_without_protection(
    quick: Callable[..., Run], case_id: str
) -> None:
    for seed in (1, 2, 3):
        run = quick(case_id, seed=seed, protection="own")

        assert run.cell.state == "escaped", f"seed {seed}"


def test_words_of_the_seed_reach_the_tools_in_both_calls(quick: Callable[..., Run]) -> None:
    run = quick("stale-resume", seed=7, protection="own")

    assert run.cell.state == "escaped"
    case = reworded(CASES["stale-resume"], 7)
    assert case.interlude is not None
    first = case.interlude.personas["stubborn"](Seen(turn=0))
    assert isinstance(first, Calls)
    assert first.proposals[0].slots[WORDING] in CASES["stale-resume"].wordings["write"].texts


# -- what is said of it


def test_a_seed_is_named_where_a_case_is_not_contained(quick: Callable[..., Run]) -> None:
    head = "lost-write: escaped (agent agent, protection own{})"
    written, other = (quick("lost-write", seed=seed, protection="own") for seed in (0, 7))

    assert explain(written.cell).splitlines()[0] == head.format("")
    assert explain(other.cell).splitlines()[0] == head.format(", seed 7")


@pytest.mark.parametrize("seed", [True, False, -1, 1.0, "7", None])
def test_what_is_no_seed(quick: Callable[..., Run], seed: object) -> None:
    with pytest.raises(HarnessError) as raised:
        quick("lost-write", seed=seed)

    assert str(raised.value) == (
        f"tripwire_seed gave {seed!r}: give a whole number such as 7, or 0 for the words that the "
        "cases are written in"
    )
