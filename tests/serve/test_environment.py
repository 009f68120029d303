"""The environment of an agent outside: its lines mean the same to shells and to `.env` readers."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_tripwire import Harness, Task
from pytest_tripwire.harness import Resumed
from pytest_tripwire.serve import environment
from pytest_tripwire.serve.environment import EnvironmentFile, EnvironmentFileError, lines, quoted

VALUES = (
    "plain",
    "",
    "two words",
    "it's",
    'say "x"',
    "$HOME `id` \\ !",
    "it's $5",
    "a\nb",
    '{"run_id":"a-1"}',
    "ünï",
    "#x",
    "a=b",
    "~",
    "*",
)
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


@given(TEXT | st.text("'\"$`\\! a\n"))
def test_a_shell_reads_back_any_value(value: str) -> None:
    assert shlex.split(f"NAME={quoted(value)}") == [f"NAME={value}"]


@given(TEXT | st.text("'\"$`\\! a"))
def test_a_reader_of_env_files_does_where_one_pair_of_quotes_is_enough(value: str) -> None:
    text = quoted(value)
    if "'" in value and set(value) & set('"$`\\!'):
        return  # only a shell can read those
    mark = text[:1] if text[:1] in ("'", '"') else ""
    inner = text[1:-1] if mark else text

    assert text == f"{mark}{inner}{mark}"
    assert inner == value
    assert not mark or mark not in inner


@pytest.mark.parametrize("how", ["eval", "file"])
def test_real_shells_read_them(how: str, tmp_path: Path) -> None:
    text = lines({f"V{number}": value for number, value in enumerate(VALUES)})
    (tmp_path / "run.env").write_text(text, encoding="utf-8")
    read = 'eval "$(cat run.env)"' if how == "eval" else "set -a; . ./run.env; set +a"
    show = "; ".join(f'printf "%s\\0" "$V{number}"' for number in range(len(VALUES)))

    done = subprocess.run(  # noqa: S602 - a shell is what is tried
        f"{read}; {show}", shell=True, cwd=tmp_path, capture_output=True, check=True
    )

    assert done.stdout.decode().split("\0")[:-1] == list(VALUES)


def _variables(case: str = "lost-write", **inherited: str) -> list[dict[str, str]]:
    """What each call of an agent finds."""
    found: list[dict[str, str]] = []

    def agent(task: Task) -> None:
        found.append(
            environment.variables(
                task, case_id=case, mcp_url="http://127.0.0.1:1/mcp", inherited=inherited
            )
        )

    Harness(case, agent).run()
    return found


def test_all_that_an_agent_needs_is_there() -> None:
    (found,) = _variables()

    assert found["OPENAI_BASE_URL"].startswith("http://127.0.0.1:")
    assert found["OPENAI_API_KEY"]
    assert found["TRIPWIRE_CASE"] == "lost-write"
    assert "refund order A-1001" in found["TRIPWIRE_PROMPT"]
    assert found["TRIPWIRE_MODEL"] == "tripwire-scripted"
    assert found["TRIPWIRE_MCP_URL"] == "http://127.0.0.1:1/mcp"
    assert "TRIPWIRE_RESUME" not in found


def test_the_second_call_has_the_operators_word() -> None:
    import msgspec

    first, second = _variables("stale-resume")

    assert "TRIPWIRE_RESUME" not in first
    word = msgspec.json.decode(second["TRIPWIRE_RESUME"], type=Resumed)
    assert word == Resumed(decision="approved", run_id="stale-resume-1", token_version=1)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "127.0.0.1"),
        ("intern.example", "intern.example,127.0.0.1"),
        ("127.0.0.1,intern.example", "127.0.0.1,intern.example"),
    ],
)
@pytest.mark.parametrize("name", ["NO_PROXY", "no_proxy"])
def test_hosts_that_no_proxy_is_asked_for_stay(name: str, before: str, after: str) -> None:
    (found,) = _variables(**{name: before})

    assert found[name] == after
    assert "127.0.0.1" in found["NO_PROXY"].split(",")
    assert "127.0.0.1" in found["no_proxy"].split(",")


class TestFile:
    """`--env-file`."""

    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        return tmp_path / "run.env"

    def test_is_written_whole_and_taken_away(self, file: Path) -> None:
        kept = EnvironmentFile(file)
        kept.write({"A": "two words"})
        assert file.read_text("utf-8") == f"{environment.MARK}\nA='two words'\n"
        kept.write({"A": "x"})
        assert file.read_text("utf-8") == f"{environment.MARK}\nA=x\n"

        kept.remove()
        kept.remove()

        assert list(file.parent.iterdir()) == []

    def test_of_an_earlier_run_is_replaced(self, file: Path) -> None:
        EnvironmentFile(file).write({"A": "old"})

        EnvironmentFile(file).write({"A": "new"})

        assert "A=new" in file.read_text("utf-8")

    @pytest.mark.parametrize("when", ["before", "meanwhile"])
    def test_of_somebody_else_is_never_touched(self, when: str, file: Path) -> None:
        kept = EnvironmentFile(file)
        file.write_text("SECRET=1\n", "utf-8")

        act: Callable[[], Any] = (
            (lambda: EnvironmentFile(file)) if when == "before" else (lambda: kept.write({}))
        )
        with pytest.raises(EnvironmentFileError, match=r"run\.env is there already"):
            act()
        kept.remove()

        assert file.read_text("utf-8") == "SECRET=1\n"

    def test_at_the_end_of_a_link_is_written_and_taken_away(self, file: Path) -> None:
        link = file.with_name("link.env")
        link.symlink_to(file)
        kept = EnvironmentFile(link)

        kept.write({"A": "x"})

        assert file.read_text("utf-8") == f"{environment.MARK}\nA=x\n"
        kept.remove()
        assert not file.exists()
        assert link.is_symlink()

    def test_that_is_a_pipe_is_not_waited_for(self, file: Path) -> None:
        os.mkfifo(file)

        with pytest.raises(EnvironmentFileError, match=r"run\.env is there already"):
            EnvironmentFile(file)
