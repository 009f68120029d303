"""`agent-tripwire serve` in this process: what can be asked for, and what is said of the rest."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_tripwire import cli
from pytest_tripwire.cases import CASE_IDS
from pytest_tripwire.serve import options

Make = Callable[..., Any]

WRONG = {
    (): "CASE",
    ("lost-writ",): "Did you mean 'lost-write'?",
    ("lost-write", "--mcp", "smoke"): "invalid choice: 'smoke'",
    ("lost-write", "--protection", "prayer"): "invalid choice: 'prayer'",
    ("lost-write", "--protection", "production"): "the fixture tripwire_breaker in a test",
    ("lost-write", "--persona", "polite"): "no persona 'polite'",
    ("lost-write", "--variant", "upside-down"): "no variant 'upside-down'",
    ("lost-write", "--seed", "-1"): "-1",
    ("lost-write", "--seed", "x"): "invalid int value: 'x'",
    ("lost-write", "--port", "65536"): "--port 65536: ports are 0 to 65535",
    ("lost-write", "--port", "-1"): "--port -1: ports are 0 to 65535",
    ("lost-write", "--mcp", "--mcp-port", "70000"): "--mcp-port 70000: ports are",
    ("lost-write", "--mcp", "--port", "8000", "--mcp-port", "8000"): "have to differ",
    ("lost-write", "--mcp-port", "8000"): "--mcp-port is for --mcp http",
    ("lost-write", "--mcp", "stdio", "--mcp-port", "8000"): "--mcp-port is for --mcp http",
    ("lost-write", "--max-seconds", "0"): "--max-seconds 0: give a number of seconds above 0",
    ("lost-write", "--max-seconds", "nan"): "--max-seconds nan",
    ("lost-write", "--max-seconds", "inf"): "--max-seconds inf",
    ("lost-write", "--agent", ""): "--agent wants a name",
    ("lost-write", "--report", "no/such/folder.json"): "--report no/such/folder.json",
    ("lost-write", "--env-file", "."): "--env-file .",
    ("lost-write", "--"): "behind -- comes the agent's program",
    ("lost-write", "--mcp", "stdio", "--", "true"): "with a COMMAND use --mcp http",
    ("lost-write", "--", "no-such-program"): "no-such-program cannot be run",
    ("lost-write", "extra"): "unrecognized arguments: extra",
    ("lost-write", "node", "agent.mjs"): "an agent's command stands behind --: -- node agent.mjs",
    ("lost-write", "--max-sec", "3"): "unrecognized arguments: --max-sec",
}


@pytest.mark.parametrize("args", WRONG, ids=" ".join)
def test_wrong_usage_says_what_would_do(
    args: tuple[str, ...],
    typed: Make,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(SystemExit) as caught:
        typed(*args)

    assert caught.value.code == 2
    assert WRONG[args] in capsys.readouterr().err


def test_help_has_examples_and_the_cases(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(["serve", "--help"])

    said = capsys.readouterr().out
    assert caught.value.code == 0
    assert "agent-tripwire serve lost-write --mcp http -- node agent.mjs" in said
    assert all(case in said for case in CASE_IDS)


def test_what_stands_behind_the_dashes_is_the_agents_own() -> None:
    ours, theirs = options.cut(["lost-write", "--port", "1", "--", "node", "--", "--port", "2"])

    assert ours == ["lost-write", "--port", "1"]
    assert theirs == ["node", "--", "--port", "2"]
    assert options.cut(["lost-write"]) == (["lost-write"], None)


def test_dashes_of_replay_are_none_of_serves(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    status = cli.main(["replay", "--", str(tmp_path / "runs.jsonl")])

    assert status == 1  # it has its PATH, which cannot be read
    assert b"runs.jsonl" in capsysbinary.readouterr().out


@pytest.mark.parametrize("module", ["mcp_types", "mcp.server.lowlevel.server"])
@pytest.mark.parametrize("how", ["http", "stdio"])
def test_the_protocol_without_its_package_names_the_extra(
    how: str,
    module: str,
    typed: Make,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, module, None)

    with pytest.raises(SystemExit) as caught:
        typed("lost-write", "--mcp", how)

    assert caught.value.code == 2
    assert "pip install 'pytest-agent-tripwire[mcp]'" in capsys.readouterr().err


def test_without_a_way_to_tell_the_calls_apart_a_case_with_two_is_refused(
    typed: Make, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("signal.SIGUSR1")

    with pytest.raises(SystemExit) as caught:
        typed("stale-resume")

    assert caught.value.code == 2
    assert "calls the agent twice" in capsys.readouterr().err


def test_a_file_that_somebody_else_wrote_is_left_alone(
    typed: Make, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / ".env"
    file.write_text("SECRET=1\n", encoding="utf-8")

    with pytest.raises(SystemExit) as caught:
        typed("lost-write", "--env-file", file, "--", "true")

    assert caught.value.code == 2
    assert "agent-tripwire has not written it" in capsys.readouterr().err
    assert file.read_text(encoding="utf-8") == "SECRET=1\n"


def test_the_time_ends_a_wait_and_judges(typed: Make) -> None:
    done = typed("lost-write", "--max-seconds", "0.01")

    assert done.status == 1
    assert done.out.startswith("OPENAI_BASE_URL=http://127.0.0.1:")
    assert "judged after 0.01 s" in done.err
    assert done.err.rstrip().endswith("lost-write: inconclusive, answered")
    assert "the trap was not met" in done.err


def test_an_agent_elsewhere_is_not_asked_for_what_only_python_has(
    typed: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example:3128")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)

    done = typed("lost-write", "--max-seconds", "0.01")

    assert "does its model use OPENAI_BASE_URL or ANTHROPIC_BASE_URL?" in done.err
    assert "task." not in done.err
    assert "HTTP_PROXY" not in done.err  # what serve sets spares the model server


def test_without_tools_it_says_so(typed: Make) -> None:
    assert "without --mcp" in typed("lost-write", "--max-seconds", "0.01").err


def test_nobody_at_a_keyboard_is_no_keyboard() -> None:
    from pytest_tripwire.serve.waiting import has_keyboard

    assert not has_keyboard(io.BytesIO())
