"""What a replay says: for people, for programs, and on a terminal while it runs."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_tripwire.replay.problem import Problem
from pytest_tripwire.replay.progress import Progress
from pytest_tripwire.replay.report import JsonReport, Report, TextReport
from pytest_tripwire.replay.report.plain import flat
from pytest_tripwire.replay.run import Replayed
from pytest_tripwire.replay.score import Judgement
from pytest_tripwire.replay.spool import Spool
from pytest_tripwire.replay.summary import Summary
from pytest_tripwire.replay.trace import Trace, TraceVerdict
from pytest_tripwire.timeline import Decision, Reason

Make = Callable[..., Any]


def through(id: str = "good", **fields: Any) -> Replayed:  # noqa: A002
    verdict = TraceVerdict(id=id, steps=4, interrupted=False, executed_writes=2)
    return Replayed(trace=Trace(id=id, steps=()), verdict=verdict, **fields)


def stopped(id: str = "bad", **fields: Any) -> Replayed:  # noqa: A002
    own = {name: fields.pop(name) for name in ("evidence", "tool") if name in fields}
    verdict = TraceVerdict(
        id=id,
        steps=9,
        interrupted=True,
        step=7,
        decision=Decision.REFUSE,
        reason=Reason.DUPLICATE_WRITE,
        executed_writes=1,
        **{"evidence": (3, 5), "tool": "pay", **own},
    )
    return Replayed(trace=Trace(id=id, steps=()), verdict=verdict, **fields)


RIGHT = Judgement(hazard="lost_write", right=True)
WRONG = Judgement(hazard="lost_write", right=False, expected="a stop", happened="let through")
SPARED = Judgement(hazard="legit", right=True)
HIT = Judgement(hazard="legit", right=False, expected="to be let through", happened="stopped")
PROBLEM = Problem(file="runs.jsonl", line=3, column=9, reason="no JSON")


def reported(report: Report, items: list[Replayed | Problem]) -> None:
    summary = Summary()
    for item in items:
        summary.add(item)
        report.add(item)
    report.finish(summary)
    report.close()


def text_of(*items: Replayed | Problem) -> list[str]:
    lines: list[str] = []
    reported(TextReport(lines.append), list(items))
    return lines


def json_of(*items: Replayed | Problem) -> Any:
    out = io.BytesIO()
    reported(JsonReport(out.write), list(items))
    return json.loads(out.getvalue())


class TestText:
    """For people."""

    def test_a_stopped_run_has_a_line(self) -> None:
        assert text_of(through(), stopped()) == [
            (
                "bad: step 7 of 9: REFUSE, duplicate_write at pay, rests on steps 3, 5, "
                "1 write executed"
            ),
            "",
            "2 runs, 13 steps: 1 would have been stopped",
            "       1  duplicate_write",
        ]

    @pytest.mark.parametrize(
        ("evidence", "words"),
        [
            ((), ""),
            ((3,), "rests on step 3,"),
            (tuple(range(1, 9)), "on steps 1, 2, 3, 4, 5, 6, 7, 8,"),
            (tuple(range(1, 12)), "7, 8 and 3 more,"),
        ],
    )
    def test_evidence_is_told_as_far_as_it_helps(
        self, evidence: tuple[int, ...], words: str
    ) -> None:
        line = text_of(stopped(evidence=evidence))[0]

        assert words in line
        assert bool(evidence) == ("rests" in line)

    def test_what_is_wrong_comes_last(self) -> None:
        assert text_of(PROBLEM, through())[-3:] == [
            "",
            "1 problem:",
            "  runs.jsonl:3:9: no JSON",
        ]

    def test_one_is_told_as_one(self) -> None:
        assert text_of(through())[0] == "1 run, 4 steps: 0 would have been stopped"
        assert text_of(PROBLEM, PROBLEM)[2] == "2 problems:"

    def test_runs_of_one_kind_have_a_score_of_their_own(self) -> None:
        assert text_of(through("c", judgement=SPARED))[1:] == [
            "",
            "Score of the labelled runs:",
            "  legitimate  0 of 1 stopped",
        ]
        assert "legitimate" not in "".join(text_of(stopped("a", judgement=RIGHT)))

    def test_the_score_is_told_by_hazard(self) -> None:
        lines = text_of(
            stopped("a", judgement=RIGHT),
            through("b", judgement=WRONG),
            through("c", judgement=SPARED),
            stopped("d", judgement=HIT),
        )

        assert lines[lines.index("Score of the labelled runs:") :] == [
            "Score of the labelled runs:",
            "  lost_write                  1 of 2 right",
            "  all that had to be stopped  1 of 2 right",
            "  legitimate                  1 of 2 stopped",
            "",
            "Labelled runs that went another way:",
            "  b (lost_write): expected a stop; let through",
            "  d (legit): expected to be let through; stopped",
        ]

    def test_what_the_recording_left_out_is_told(self) -> None:
        lines = text_of(through(args_unknown=1, results_unknown=3))

        assert "1 step was recorded without arguments: what compares calls is blind there" in lines
        assert "3 steps were recorded without result: what compares results is blind there" in lines

    def test_the_words_of_strangers_stay_in_their_line(self) -> None:
        lines = text_of(stopped("a\x1b[2J\nb", tool="x\r\u202ey"))

        assert lines[0].startswith("a [2J b: step 7")
        assert "x y" in lines[0]


class TestJson:
    """For programs."""

    def test_has_exactly_this_shape(self) -> None:
        assert json_of(through(), stopped()) == {
            "schema_version": 1,
            "traces": [
                {
                    "id": "good",
                    "steps": 4,
                    "interrupted": False,
                    "step": None,
                    "decision": None,
                    "reason": None,
                    "executed_writes": 2,
                    "evidence": [],
                },
                {
                    "id": "bad",
                    "steps": 9,
                    "interrupted": True,
                    "step": 7,
                    "decision": "REFUSE",
                    "reason": "duplicate_write",
                    "executed_writes": 1,
                    "evidence": [3, 5],
                },
            ],
        }

    def test_of_nothing_is_a_list_of_nothing(self) -> None:
        assert json_of() == {"schema_version": 1, "traces": []}

    def test_tells_what_is_wrong_beside_the_traces(self) -> None:
        found = json_of(PROBLEM, through(), Problem(file="x", reason="empty"))

        assert found["problems"] == [
            {"file": "runs.jsonl", "line": 3, "reason": "no JSON"},
            {"file": "x", "line": None, "reason": "empty"},
        ]
        assert len(found["traces"]) == 1

    def test_tells_the_score_of_labelled_runs(self) -> None:
        found = json_of(stopped("a", judgement=RIGHT), stopped("d", judgement=HIT))

        assert found["score"] == {
            "hostile": {"lost_write": {"right": 1, "total": 1}},
            "legit": {"stopped": 1, "total": 1},
            "wrong": [
                {
                    "id": "d",
                    "hazard": "legit",
                    "expected": "to be let through",
                    "happened": "stopped",
                }
            ],
        }

    def test_is_whole_also_where_it_was_broken_off(self) -> None:
        out = io.BytesIO()
        report = JsonReport(out.write)
        report.add(through())
        report.add(PROBLEM)
        report.close()

        found = json.loads(out.getvalue())
        assert (len(found["traces"]), len(found["problems"])) == (1, 1)

    def test_writes_each_trace_as_it_comes(self) -> None:
        out = io.BytesIO()
        report = JsonReport(out.write)
        report.add(through("first"))

        assert b"first" in out.getvalue()
        report.close()


replayed = st.builds(through, st.text()) | st.builds(
    stopped, st.text(), judgement=st.sampled_from([None, RIGHT, WRONG, HIT])
)
problems = st.builds(Problem, file=st.text(), line=st.none() | st.integers(), reason=st.text())


@given(st.lists(replayed | problems, max_size=8))
def test_json_is_valid_and_text_is_in_lines_whatever_is_reported(items: list[Any]) -> None:
    found = json_of(*items)
    lines = text_of(*items)

    wrong = [item for item in items if isinstance(item, Problem)]
    assert [each["id"] for each in found["traces"]] == [
        item.verdict.id for item in items if isinstance(item, Replayed)
    ]
    assert [each["reason"] for each in found.get("problems", [])] == [item.reason for item in wrong]
    assert all(len(line.splitlines()) <= 1 for line in lines)


@given(st.text())
def test_flat_text_is_one_printable_line(text: str) -> None:
    line = flat(text, 20)

    assert line.isprintable()
    assert len(line) <= 20
    assert flat(line, 20) == line


@pytest.mark.parametrize(
    ("length", "shown"), [(19, "x" * 19), (20, "x" * 20), (21, "x" * 17 + "...")]
)
def test_flat_text_is_as_long_as_there_is_room(length: int, shown: str) -> None:
    assert flat("x" * length, 20) == shown


def test_a_summary_counts_what_went_another_way() -> None:
    summary = Summary()
    for item in (stopped("a", judgement=RIGHT), through("b", judgement=WRONG), PROBLEM):
        summary.add(item)

    assert (summary.traces, summary.interrupted, summary.problems, summary.wrong) == (2, 1, 1, 1)
    assert (summary.args_unknown, summary.results_unknown) == (0, 0)


@given(st.lists(st.binary().filter(lambda line: b"\n" not in line)))
def test_a_spool_gives_back_what_it_was_given(lines: list[bytes]) -> None:
    spool = Spool()
    for line in lines:
        spool.add(line)

    assert list(spool) == lines
    assert spool.count == len(lines)
    spool.close()


class Clock:
    """Time that tests make pass."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


class TestProgress:
    """The bar."""

    def test_is_drawn_ten_times_a_second_at_most(self) -> None:
        screen, clock = io.StringIO(), Clock()
        progress = Progress(screen, clock, 100)
        for _ in range(1000):
            clock.seconds += 0.001
            progress.read(0)

        assert 9 <= screen.getvalue().count("\r") <= 11

    def test_tells_how_far_it_is(self) -> None:
        screen, clock = io.StringIO(), Clock()
        progress = Progress(screen, clock, 200)
        progress.read(100)
        clock.seconds += 2
        progress.replayed(5000)

        assert screen.getvalue().endswith(
            f"[{'#' * 12}{'.' * 12}]  50%  1 traces, 5,000 steps, 2,500 steps/s"
        )

    def test_tells_how_much_was_read_where_nobody_knows_how_much_there_is(self) -> None:
        screen, clock = io.StringIO(), Clock()
        progress = Progress(screen, clock, 0)
        clock.seconds += 1
        progress.read(3 * 2**20)

        assert "3.0 MiB" in screen.getvalue()

    def test_never_tells_more_than_all(self) -> None:
        screen, clock = io.StringIO(), Clock()
        progress = Progress(screen, clock, 10)
        clock.seconds += 1
        progress.read(100)

        assert "100%" in screen.getvalue()

    def test_makes_room_for_a_line_once(self) -> None:
        screen, clock = io.StringIO(), Clock()
        progress = Progress(screen, clock, 10)
        clock.seconds += 1
        progress.read(1)
        progress.clear()
        cleared = screen.getvalue()
        progress.clear()

        assert cleared.endswith("\r\x1b[2K")
        assert screen.getvalue() == cleared

    def test_is_not_drawn_for_what_is_over_at_once(self) -> None:
        screen = io.StringIO()
        progress = Progress(screen, Clock(), 10)
        progress.read(10)
        progress.clear()

        assert screen.getvalue() == ""

    def test_is_drawn_nowhere_without_a_screen(self) -> None:
        clock = Clock()
        progress = Progress(None, clock, 10)

        clock.seconds += 1
        progress.read(1)
        progress.replayed(1)
        progress.clear()
