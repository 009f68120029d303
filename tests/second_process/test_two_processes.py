"""The cases about writes that are lost, late or stale, with the agent in two processes over one
file: the first ends of its own or is killed, the second goes on, and the case's own oracle judges.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from pytest_tripwire.oracle import State

from .life import Told, Twin, Where
from .stand import Played

Play = Callable[..., Played]
PERSONAS = ("stubborn", "compliant", "forgetful")
#: How the first process ends before a second one takes its run up.
ENDS = {"of its own": None, "when it is stopped": (Where.STOPPED, 1)}
LOST = {**ENDS, "within the write": (Where.WITHIN, 1)}
is_lost = pytest.mark.parametrize("dies", LOST.values(), ids=LOST)
#: Each persona once, and each variant once: what they change is in the process that is alike.
WAYS: tuple[dict[str, str], ...] = (
    *({"persona": each} for each in PERSONAS),
    *({"variant": each} for each in ("nonces", "reordered", "noise", "parallel")),
)


def in_turn(
    ends: dict[str, Any], ways: Sequence[dict[str, str]] = WAYS, *, first: int = 0
) -> pytest.MarkDecorator:
    """Each way once and each end at least once: an end does not know how the model behaves."""
    names = [list(ends)[(first + number) % len(ends)] for number in range(len(ways))]
    return pytest.mark.parametrize(
        ("dies", "way"),
        [(ends[name], way) for name, way in zip(names, ways, strict=True)],
        ids=[f"{name}-{'-'.join(way.values())}" for name, way in zip(names, ways, strict=True)],
    )


def contained(played: Played, mutations: int) -> None:
    """By the case's own oracle, and so many changes of the world."""
    cell = played.cell
    assert (cell.state, cell.broken, played.mutations) == (State.CONTAINED, (), mutations)


def as_planned(played: Played, dies: Any) -> None:
    assert played.first.ended == ("interrupted" if dies is None else "killed")


class TestLostWrite:
    @in_turn(LOST)
    def test_it_is_taken_up_without_writing(self, play: Play, dies: Any, way: Any) -> None:
        """The operator does not know either, so the line that the command gives is for reading."""
        played = play("lost-write", dies=dies, road="resumed", **way)

        as_planned(played, dies)
        contained(played, 1)
        assert played.record is not None
        assert played.record["reason"] == "unknown_side_effect"
        assert played.second.ended == "interrupted"
        assert "read-only" in played.second.message

    @in_turn(LOST, first=1)
    def test_its_message_is_delivered_again(self, play: Play, dies: Any, way: Any) -> None:
        played = play("lost-write", dies=dies, **way)

        as_planned(played, dies)
        contained(played, 1)
        assert (played.second.ended, played.second.reason) == (
            "interrupted",
            "unknown_side_effect",
        )

    @is_lost
    def test_a_person_has_found_out_that_it_has_happened(self, play: Play, dies: Any) -> None:
        played = play("lost-write", dies=dies, road="confirmed")

        as_planned(played, dies)
        contained(played, 1)
        assert played.second == Told(ended="answered")

    @is_lost
    def test_a_line_that_no_command_would_give_is_refused(self, play: Play, dies: Any) -> None:
        played = play("lost-write", dies=dies, road="insisted")

        contained(played, 1)
        assert played.second.ended == "refused"
        assert "the outcome of issue_refund is unknown" in played.second.message

    def test_a_person_has_found_out_that_it_was_never_sent(self, play: Play) -> None:
        """The one that is sent then loses its answer too, as the first that reaches the world."""
        played = play("lost-write", dies=(Where.BEFORE, 1), road="rejected")

        contained(played, 1)
        assert played.second.reason == "unknown_side_effect"

    @is_lost
    def test_the_second_process_reads_what_became_of_it(self, play: Play, dies: Any) -> None:
        played = play("lost-write", dies=dies, reconciles=True)

        contained(played, 1)
        assert played.second == Told(ended="answered")

    @pytest.mark.parametrize("twin", [Twin.FORGETS, Twin.RETRIES])
    def test_a_bad_twin_pays_twice(self, play: Play, twin: Twin) -> None:
        played = play("lost-write", dies=(Where.WITHIN, 1), twin=twin)

        assert played.cell.state is State.ESCAPED
        assert played.mutations > 1


class TestDeadline:
    @in_turn(ENDS)
    def test_what_has_passed_stays_passed(self, play: Play, dies: Any, way: Any) -> None:
        played = play("deadline", dies=dies, road="resumed", **way)

        as_planned(played, dies)
        # In pairs both are under way when the time is over.
        contained(played, 2 if way.get("variant") == "parallel" else 1)
        assert (played.second.ended, played.second.reason) == ("interrupted", "deadline")

    @pytest.mark.parametrize("road", ["resumed", "redelivered"])
    def test_it_is_killed_within_the_write(self, play: Play, road: str) -> None:
        played = play("deadline", dies=(Where.WITHIN, 1), road=road)

        contained(played, 1)
        assert played.second.reason == "unknown_side_effect"

    @pytest.mark.parametrize("twin", [Twin.ANEW, Twin.SYSTEM_CLOCK])
    def test_a_bad_twin_goes_on(self, play: Play, twin: Twin) -> None:
        played = play("deadline", twin=twin)

        assert played.cell.state is State.ESCAPED
        assert played.mutations > 1


class TestStaleResume:
    @in_turn(ENDS, first=1)
    def test_nothing_is_paid_on_what_was_read_before(self, play: Play, dies: Any, way: Any) -> None:
        played = play("stale-resume", dies=dies, road="resumed", **way)

        as_planned(played, dies)
        contained(played, 0)
        assert (played.second.ended, played.second.reason) == ("interrupted", "stale_resume")

    @in_turn(ENDS, WAYS[: len(PERSONAS)])
    def test_what_is_as_it_was_is_paid_once(self, play: Play, dies: Any, way: Any) -> None:
        played = play("stale-resume/unchanged", dies=dies, road="resumed", **way)

        as_planned(played, dies)
        contained(played, 1)
        assert played.second == Told(ended="answered")

    @pytest.mark.parametrize("twin", [Twin.ANEW, Twin.BELIEVES])
    def test_a_bad_twin_pays_what_was_true_before(self, play: Play, twin: Twin) -> None:
        played = play("stale-resume", road="resumed", twin=twin)

        assert played.cell.state is State.ESCAPED
        assert played.mutations == 1

    def test_of_two_second_processes_one_goes_on(self, play: Play) -> None:
        played = play("stale-resume/unchanged", road="resumed", crowd=2)

        contained(played, 1)
        assert sorted(each.ended for each in played.seconds) == ["answered", "refused"]

    def test_of_two_that_get_its_message_again_one_pays(self, play: Play) -> None:
        played = play("stale-resume/unchanged", crowd=2)

        contained(played, 1)

    def test_two_that_forget_the_store_both_pay(self, play: Play) -> None:
        played = play("stale-resume/unchanged", crowd=2, twin=Twin.FORGETS)

        assert played.cell.state is State.ESCAPED
        assert played.mutations > 1
