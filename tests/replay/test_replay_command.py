"""`agent-tripwire replay` in this process: what it prints, and how it ends."""

from __future__ import annotations

import io
import json
import tomllib
from collections.abc import Callable
from typing import Any

import pytest

from pytest_tripwire import __version__, cli
from pytest_tripwire.replay.command import Streams
from pytest_tripwire.replay.settings import Settings
from pytest_tripwire.replay.trace import TraceVerdict
from pytest_tripwire.timeline import Effect, Reason

Make = Callable[..., Any]

LOOP = {"repeat": 2}


@pytest.fixture
def looping(recorded: Make, call: Make) -> Make:
    """A run that the predictable breaker stops at its second step."""

    def make(id: str = "loop", **fields: Any) -> dict[str, Any]:  # noqa: A002
        return recorded(id, trace=[call(**LOOP)], **fields)

    return make


@pytest.fixture
def replay_of(looping: Make, written: Make, typed: Make) -> Make:
    """The command over one run that loops and is labelled like this."""

    def run(kind: str | None, *args: str) -> Any:
        return typed(*args, written("a.jsonl", [looping(kind=kind)]))

    return run


class TestStatus:
    """How it ends."""

    def test_well_if_all_was_replayed(self, looping: Make, written: Make, typed: Make) -> None:
        done = typed(written("a.jsonl", [looping()]))

        assert done.status == 0
        assert "loop: step 2 of 2" in done.out
        assert done.err == ""

    def test_badly_if_something_could_not_be_read(
        self, looping: Make, written: Make, typed: Make
    ) -> None:
        done = typed(written("a.jsonl", json.dumps(looping()) + "\noops"))

        assert done.status == 1
        assert "a.jsonl:2:1: no JSON" in done.out
        assert "loop: step 2 of 2" in done.out

    @pytest.mark.parametrize(
        ("kind", "args", "status"),
        [
            ("legit", (), 0),
            ("legit", ("--check",), 1),
            ("legit", ("--check", "--json"), 1),
            ("hostile", ("--check",), 0),
            (None, ("--check",), 1),
            (None, (), 0),
        ],
    )
    def test_badly_if_a_check_finds_a_run_that_went_another_way(
        self, kind: str | None, args: tuple[str, ...], status: int, replay_of: Make
    ) -> None:
        assert replay_of(kind, *args).status == status

    def test_a_check_of_nothing_says_so(self, replay_of: Make) -> None:
        assert "nothing was checked" in replay_of(None, "--check").err
        assert replay_of("hostile", "--check").err == ""

    @pytest.mark.parametrize(
        ("args", "complaint"),
        [
            ((), "PATH"),
            (("--json", "--suggest", "x"), "--suggest prints TOML"),
            (("--check", "--suggest", "x"), "leave --check out"),
            (("--suggest", "--budget", "b", "x"), "leave --budget out"),
            (("--margin", "0.5", "x"), "--margin is for --suggest"),
            (("--suggest", "--margin", "wide", "x"), "--margin wide: this is no share"),
            (("--suggest", "--margin", "-1", "x"), "--margin -1"),
            (("--suggest", "--margin", "nan", "x"), "--margin nan"),
            (("--class", "a", "x"), "--class is for --budget"),
            (("--suggest", "--class", "", "x"), "--class wants a name"),
            (("-", "-"), "only once"),
            (("--default-effect", "delete", "x"), "'delete'"),
            (("--budget", "no.toml", "x"), "no.toml: cannot be read"),
            (("--specs", "no.toml", "x"), "no.toml: cannot be read"),
            (("--jso", "x"), "unrecognized"),
        ],
    )
    def test_wrong_usage_says_what_would_do(
        self,
        args: tuple[str, ...],
        complaint: str,
        typed: Make,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        with pytest.raises(SystemExit) as caught:
            typed(*args)

        assert caught.value.code == 2
        assert complaint in capsys.readouterr().err

    def test_a_command_is_wanted(self, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit) as caught:
            cli.main([])

        assert caught.value.code == 2
        assert "COMMAND" in capsys.readouterr().err

    def test_the_keyboard_ends_it_without_a_word_and_json_stays_whole(
        self, looping: Make, written: Make
    ) -> None:
        def interrupted(one: Any, settings: Settings) -> TraceVerdict:
            if one.id == "b":
                raise KeyboardInterrupt
            return TraceVerdict(id=one.id, steps=1, interrupted=False)

        out, err = io.BytesIO(), io.StringIO()
        within = Streams(stdin=io.BytesIO(), stdout=out, stderr=err, clock=lambda: 0.0)
        path = written("a.jsonl", [looping("a"), looping("b")])

        status = cli.main(["replay", "--json", str(path)], replay=interrupted, within=within)

        assert status == 130
        assert [each["id"] for each in json.loads(out.getvalue())["traces"]] == ["a"]
        assert err.getvalue() == ""


class TestHelp:
    """What it says about itself."""

    def said(self, capsys: pytest.CaptureFixture[str], *args: str) -> str:
        with pytest.raises(SystemExit) as caught:
            cli.main(args)
        assert caught.value.code == 0
        return capsys.readouterr().out

    def test_names_its_version(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert self.said(capsys, "--version") == f"agent-tripwire {__version__}\n"

    def test_shows_formats_examples_and_exit_status(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("COLUMNS", "100")
        text = self.said(capsys, "replay", "--help")

        for heading in ("formats", "examples:", "files:", "exit status:"):
            assert heading in text
        assert "0.25 (default) or 25%" in " ".join(text.split())
        assert max(map(len, text.splitlines())) <= 100


class TestOptions:
    """What they change."""

    def seen(self, typed: Make, *args: Any) -> list[tuple[Any, Settings]]:
        found: list[tuple[Any, Settings]] = []

        def notes(one: Any, settings: Settings) -> TraceVerdict:
            found.append((one, settings))
            return TraceVerdict(id=one.id, steps=one.length, interrupted=False)

        typed(*args, replay=notes)
        return found

    def test_hints_count_unless_they_are_left_out(
        self, recorded: Make, written: Make, typed: Make
    ) -> None:
        path = written("a.json", recorded())

        assert self.seen(typed, path)[0][1].hints
        assert not self.seen(typed, "--no-hints", path)[0][1].hints

    def test_one_file_may_hold_declarations_and_budgets(
        self, recorded: Make, written: Make, typed: Make
    ) -> None:
        path = written("a.jsonl", [recorded("a"), recorded("b", workflow="research")])
        file = written(
            "t.toml",
            "[tools.look]\neffect = 'write'\n[budget]\nmax_turns = 1\n"
            "[classes.research]\nmax_turns = 2\n",
        )

        found = self.seen(typed, "--specs", file, "--budget", file, path)

        assert [one.steps[0].effect for one, _ in found] == [Effect.WRITE] * 2
        assert [settings.budget.max_turns for _, settings in found] == [1, 2]
        picked = self.seen(typed, "--budget", file, "--class", "research", path)
        assert [settings.budget.max_turns for _, settings in picked] == [2, 2]

    def test_a_class_that_is_not_there_is_wrong_usage(
        self, written: Make, typed: Make, capsys: pytest.CaptureFixture[str]
    ) -> None:
        file = written("t.toml", "[classes.research]\nmax_turns = 2")

        with pytest.raises(SystemExit):
            typed("--budget", file, "--class", "x", "runs")

        assert "no class 'x' among the budgets (research)" in capsys.readouterr().err

    def test_a_default_effect_lets_undeclared_tools_through(
        self, recorded: Make, call: Make, written: Make, typed: Make
    ) -> None:
        path = written("a.json", recorded(trace=[call(effect=None)]))

        refused = typed(path)
        assert (refused.status, "tools.look.effect" in refused.out) == (1, True)
        assert typed("--default-effect", "read", path).status == 0

    def test_spans_are_grouped_as_is_asked_for(self, written: Make, typed: Make) -> None:
        spans = [
            {
                "traceId": trace,
                "spanId": trace,
                "startTimeUnixNano": "5",
                "attributes": [
                    {"key": name, "value": {"stringValue": said}}
                    for name, said in (
                        ("gen_ai.operation.name", "execute_tool"),
                        ("gen_ai.tool.name", "look"),
                        ("gen_ai.conversation.id", "talk"),
                    )
                ],
            }
            for trace in ("t1", "t2")
        ]
        path = written("s.json", {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})
        args = ("--json", "--default-effect", "read", path)

        assert [each["id"] for each in typed(*args).json["traces"]] == ["talk"]
        by_trace = typed("--group-by", "trace", *args)
        assert [each["id"] for each in by_trace.json["traces"]] == ["t1", "t2"]
        assert "2 steps were recorded without arguments" in by_trace.err

    def test_a_bar_is_drawn_for_who_watches(
        self, recorded: Make, written: Make, typed: Make
    ) -> None:
        path = written("a.jsonl", [recorded(str(n)) for n in range(5)])
        ticks = iter(range(1000))

        def clock() -> float:
            return float(next(ticks))

        drawn = typed(path, watched=True, clock=clock).err
        assert "] 100%  5 traces, 5 steps, " in drawn
        twice = typed("--suggest", path, watched=True, clock=clock).err
        assert all(share in twice for share in (" 10%", " 50%", "100%"))
        assert typed(path, watched=True, clock=clock).err.endswith("\x1b[2K")
        assert typed("--no-progress", path, watched=True, clock=clock).err == ""
        assert typed(path, clock=clock).err == ""

    def test_standard_input_is_read_for_a_dash(self, looping: Make, typed: Make) -> None:
        done = typed("-", stdin=json.dumps(looping()).encode())

        assert (done.status, "loop: step 2" in done.out) == (0, True)

    def test_output_is_utf_8(self, looping: Make, written: Make, typed: Make) -> None:
        done = typed("--json", written("a.json", looping("schön\U0001f600")))

        assert done.json["traces"][0]["id"] == "schön\U0001f600"


class TestSuggest:
    """Budgets from good runs."""

    def test_what_is_printed_can_be_given_to_budget(
        self, recorded: Make, written: Make, typed: Make
    ) -> None:
        runs = written(
            "a.jsonl",
            [
                recorded("a", calls=14, workflow="research"),
                recorded("b", calls=3),
                recorded("c", calls=99, kind="hostile"),
            ],
        )

        done = typed("--suggest", runs)

        assert done.status == 0
        classes = tomllib.loads(done.out)["classes"]
        assert classes["research"]["max_tool_calls"] == 18
        assert classes["default"]["max_tool_calls"] == 4
        assert "# Verified: 2 runs were replayed with these budgets, none was stopped" in done.out
        assert "1 labelled hostile were left out" in done.err
        assert typed("--budget", written("b.toml", done.out), runs).status == 0

    def test_the_margin_is_what_was_asked_for(
        self, recorded: Make, written: Make, typed: Make
    ) -> None:
        runs = written("a.jsonl", [recorded("a", calls=10)])

        for margin, calls in (("0", 10), ("0.5", 15), ("10%", 11), ("100", 1010)):
            done = typed("--suggest", "--margin", margin, "--class", "x", runs)
            assert done.status == 0
            assert tomllib.loads(done.out)["classes"]["x"]["max_tool_calls"] == calls

    def test_what_is_stopped_whatever_the_budget_is_told(
        self, looping: Make, written: Make, typed: Make
    ) -> None:
        done = typed("--suggest", written("a.jsonl", [looping("a"), looping("b")]))

        assert done.status == 0
        assert "# 2 would be stopped whatever the budget" in done.out
        assert "#   2 x identical_call at look: first in a, step 2" in done.out

    def test_a_budget_that_stops_its_own_run_is_a_failure(
        self, recorded: Make, written: Make, typed: Make
    ) -> None:
        def strict(one: Any, settings: Settings) -> TraceVerdict:
            assert settings.budget is not None
            return TraceVerdict(
                id=one.id, steps=1, interrupted=True, step=1, reason=Reason.DEADLINE, tool="look"
            )

        done = typed("--suggest", written("a.jsonl", [recorded()]), replay=strict)

        assert done.status == 1
        assert "1 WERE stopped for a budget" in done.out

    def test_what_stops_for_a_budget_and_what_does_not_are_told_apart(
        self, recorded: Make, written: Make, typed: Make
    ) -> None:
        def odd(one: Any, settings: Settings) -> TraceVerdict:
            reason = Reason.DEADLINE if one.id == "a" else Reason.EMPTY_RESULTS
            return TraceVerdict(
                id=one.id, steps=1, interrupted=True, step=1, reason=reason, tool="look"
            )

        runs = [recorded(each) for each in "abc"]
        done = typed("--suggest", written("a.jsonl", runs), replay=odd)

        assert "3 runs were replayed with these budgets, 1 WERE stopped" in done.out
        assert "# 2 would be stopped whatever the budget" in done.out

    def test_a_run_that_cannot_be_verified_is_a_failure(
        self, recorded: Make, written: Make, typed: Make
    ) -> None:
        def breaks(one: Any, settings: Settings) -> TraceVerdict:
            raise ValueError(one.id)

        done = typed("--suggest", written("a.jsonl", [recorded()]), replay=breaks)

        assert (done.status, "# Verified: 0 runs were" in done.out) == (1, True)

    def test_standard_input_is_left_alone_if_nobody_asks_for_it(
        self, recorded: Make, written: Make
    ) -> None:
        class Silent(io.BytesIO):
            def read(self, size: int | None = -1) -> bytes:
                raise AssertionError(f"nobody asked for {size}")

        within = Streams(
            stdin=Silent(), stdout=io.BytesIO(), stderr=io.StringIO(), clock=lambda: 0.0
        )
        path = written("a.json", recorded())

        assert cli.main(["replay", "--suggest", str(path)], within=within) == 0

    def test_standard_input_is_read_twice(self, recorded: Make, typed: Make) -> None:
        done = typed("--suggest", "-", stdin=json.dumps(recorded()).encode())

        assert (done.status, "# Verified: 1 run was replayed" in done.out) == (0, True)

    def test_what_cannot_be_read_is_told_and_left_out(
        self, recorded: Make, written: Make, typed: Make
    ) -> None:
        done = typed("--suggest", written("a.jsonl", json.dumps(recorded()) + "\noops"))

        assert done.status == 1
        assert "a.jsonl:2:1: no JSON" in done.err
        assert "max_tool_calls = 2" in done.out

    def test_without_a_good_run_there_is_nothing_to_suggest(
        self, recorded: Make, written: Make, typed: Make
    ) -> None:
        done = typed("--suggest", written("a.jsonl", [recorded(kind="hostile")]))

        assert (done.status, done.out) == (1, "")
        assert "no good run" in done.err
