"""`agent-tripwire init`: what it writes and says, and that nothing which is there is changed."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .conftest import Command, RunPytest

PLUGGED, TEST, INI = "conftest.py", "test_tripwire.py", "pytest.ini"
TABLE = "[tool.pytest.ini_options]\n"


def contents(folder: Path) -> dict[str, bytes | str | None]:
    """All that is in a folder: files by their bytes, links by where they lead."""
    return {
        path.relative_to(folder).as_posix(): str(path.readlink())
        if path.is_symlink()
        else None
        if path.is_dir()
        else path.read_bytes()
        for path in folder.rglob("*")
    }


def test_an_empty_project_gets_all_that_it_needs(tmp_path: Path, command: Command) -> None:
    assert command("init", str(tmp_path)) == 0

    assert set(contents(tmp_path)) == {PLUGGED, TEST, INI}
    for name in (PLUGGED, TEST, INI):
        assert f"wrote {tmp_path / name}\n" in command.out
    assert f"Run: pytest {tmp_path / TEST}\n" in command.out


def test_it_says_each_line_that_has_to_be_changed(tmp_path: Path, command: Command) -> None:
    command("init", str(tmp_path))

    lines = (tmp_path / PLUGGED).read_text("utf-8").splitlines()
    marked = [number for number, line in enumerate(lines, 1) if "TODO" in line]
    told = [int(each) for each in re.findall(rf"{PLUGGED}:(\d+): \w", command.out)]
    assert told == marked
    assert len(marked) == 3


def test_the_second_time_changes_nothing(tmp_path: Path, command: Command) -> None:
    command("init", str(tmp_path))
    before = contents(tmp_path)

    assert command("init", str(tmp_path)) == 1

    assert contents(tmp_path) == before
    assert command.out.count("as it is") == 3
    assert command.out.count("nothing to add") == 2
    assert "def " not in command.out


#: What may be where a file would be written.
THERE: dict[str, Callable[[Path], object]] = {
    "nothing": lambda path: None,
    "empty": lambda path: path.touch(),
    "a user's": lambda path: path.write_bytes(b"# mine\r\nimport os \xff"),
    "a link": lambda path: path.symlink_to("nowhere.py"),
    "a folder": lambda path: path.mkdir(),
}


@pytest.fixture
def folders(tmp_path: Path) -> Iterator[Path]:
    return (tmp_path / str(number) for number in itertools.count())


def each_beside_each() -> Iterator[tuple[str, str, str]]:
    """What may be in three places, so that in any two of them everything is once beside everything:
    what becomes of one file hangs on no more than one other."""
    whats = list(THERE)
    for one, other in itertools.product(range(len(whats)), repeat=2):
        yield whats[one], whats[other], whats[(one + other) % len(whats)]


def test_nothing_that_is_there_is_ever_changed(folders: Iterator[Path], command: Command) -> None:
    for there in each_beside_each():
        folder = next(folders)
        folder.mkdir()
        for name, what in zip((PLUGGED, TEST, INI), there, strict=True):
            THERE[what](folder / name)
        before = contents(folder)

        status = command("init", "--framework", "plain", str(folder))

        after = contents(folder)
        assert {name: after[name] for name in before} == before, there
        assert status == (there[:2] != ("nothing", "nothing")), there
        assert set(after) == {PLUGGED, TEST, INI}, there


def test_what_has_to_be_added_is_printed(tmp_path: Path, command: Command) -> None:
    (tmp_path / PLUGGED).write_text("import os\n", "utf-8")
    (tmp_path / "other").mkdir()
    command("init", "--framework", "plain", str(tmp_path / "other"))

    assert command("init", "--framework", "plain", str(tmp_path)) == 1

    assert (tmp_path / "other" / PLUGGED).read_text("utf-8") in command.out
    assert (tmp_path / TEST).is_file()


def test_a_dry_run_writes_nothing_and_prints_all_of_it(tmp_path: Path, command: Command) -> None:
    (tmp_path / "dry").mkdir()
    (tmp_path / "wet").mkdir()

    assert command("init", "--dry-run", "--framework", "plain", str(tmp_path / "dry")) == 0
    told = command.out
    assert command("init", "--framework", "plain", str(tmp_path / "wet")) == 0

    assert contents(tmp_path / "dry") == {}
    for path in (tmp_path / "wet").iterdir():
        assert path.read_text("utf-8") in told


def test_a_dry_run_sees_what_is_there(tmp_path: Path, command: Command) -> None:
    (tmp_path / TEST).symlink_to("nowhere.py")

    assert command("init", "--dry-run", str(tmp_path)) == 1


@pytest.mark.parametrize("name", ["tests", "test"])
def test_a_project_that_has_tests_gets_them_there(
    tmp_path: Path, command: Command, name: str
) -> None:
    (tmp_path / name).mkdir()

    assert command("init", str(tmp_path)) == 0

    written = {path for path, content in contents(tmp_path).items() if content is not None}
    assert written == {f"{name}/{PLUGGED}", f"{name}/{TEST}", INI}


def test_a_source_folder_can_be_imported_from(
    tmp_path: Path, command: Command, run_pytest: RunPytest
) -> None:
    package = tmp_path / "src" / "acme"
    package.mkdir(parents=True)
    (tmp_path / "tests").mkdir()
    (package / "support.py").write_text("make_agent = 'import openai'\nimport openai\n", "utf-8")
    command("init", "--framework", "openai", str(tmp_path))
    line = next(
        line
        for line in (tmp_path / "tests" / PLUGGED).read_text("utf-8").splitlines()
        if "acme" in line
    )

    (tmp_path / "tests" / "test_it.py").write_text(
        line.partition("your agent: ")[2] + "\ndef test_it(): assert make_agent\n", "utf-8"
    )

    done = run_pytest("-q", tmp_path / "tests" / "test_it.py")
    done.assert_outcomes(passed=1)


CONFIGS = {
    "pyproject.toml": "[project]\nname = 'x'\nversion = '1'\n",
    "pyproject.toml with options": f"{TABLE}addopts = '-ra'\ntripwire_agents = ['billing']\n",
    "pyproject.toml of plain values": "[tool.pytest]\nminversion = '9.0'\n",
    "pytest.toml": "[pytest]\nminversion = '9.0'\n",
    "pytest.ini": "[pytest]\naddopts = -ra\n",
    ".pytest.ini": "",
    "tox.ini": "[tox]\n[pytest]\naddopts = -ra\n",
    "setup.cfg": "[metadata]\n[tool:pytest]\naddopts = -ra\n",
}


#: Before pytest 9 these are no configuration of pytest's.
PLAIN_TOML = {"pyproject.toml of plain values", "pytest.toml"}


@pytest.mark.parametrize(
    "which",
    [each for each in CONFIGS if pytest.version_tuple >= (9,) or each not in PLAIN_TOML],
)
def test_lines_for_a_configuration_make_the_gate_of_it(
    tmp_path: Path, command: Command, run_pytest: RunPytest, which: str
) -> None:
    path = tmp_path / which.split(maxsplit=1)[0]
    path.write_text(CONFIGS[which], "utf-8")

    assert command("init", "--framework", "plain", str(tmp_path)) == 0

    assert path.read_text("utf-8") == CONFIGS[which]
    assert not (tmp_path / INI).exists() or which == INI
    path.write_text(followed(command.out, CONFIGS[which]), "utf-8")
    # What nothing collects is not run: the gate says for which agent.
    done = run_pytest("--strict-config", "--tripwire-gate", "--co", tmp_path)
    done.stdout.fnmatch_lines(
        ["plugins: *tripwire*", "tripwire gate FAILED: 0 of *", "  not run: support on *"]
    )
    done.stdout.no_fnmatch_line("*protection is under test*")
    assert "-p tripwire" in path.read_text("utf-8").replace('", "', " ")
    command("init", str(tmp_path))
    assert f"{path} as it is: it has all that the gate needs" in command.out


def followed(told: str, text: str) -> str:
    """A configuration to which a user has added what the command has told."""
    for value, key in re.findall(r"- add (.*) to its value `(\w+)`", told):
        text = re.sub(
            rf"^({key} = )(\[?)('?)", rf"\1\2\3{value}" + (" " if key == "addopts" else "', '"),
            text, flags=re.MULTILINE,
        )  # fmt: skip
    section, lines = re.findall(r"to its section (\[.*\]):\n\n(.*?)\n\n", told, re.DOTALL)[0]
    head = f"{section}\n"
    return text.replace(head, f"{head}{lines}\n") if head in text else f"{text}{head}{lines}\n"


def test_a_configuration_further_up_is_the_one(tmp_path: Path, command: Command) -> None:
    (tmp_path / "pyproject.toml").write_text(TABLE, "utf-8")
    # Each part of a project has a test, and pytest wants a name of its own for each.
    for part, name in (("billing", "billing"), ("a-b", "a_b")):
        (tmp_path / part).mkdir()
        for status in (0, 1):
            assert command("init", str(tmp_path / part)) == status
            assert set(contents(tmp_path / part)) == {PLUGGED, f"test_tripwire_{name}.py"}
    assert f"left {tmp_path / 'pyproject.toml'} as it is; for the gate:" in command.out


@pytest.mark.parametrize(
    ("argv", "complaint"),
    [
        (["nowhere"], "nowhere: there is no such folder"),
        (["a.py"], "a.py: it is no folder"),
        (["a" * 999], "File name too long"),
        (["--framework", "moon", "."], "there is no such framework here; there are openai-agents,"),
    ],
)
def test_wrong_usage(
    tmp_path: Path,
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
    argv: list[str],
    complaint: str,
) -> None:
    (tmp_path / "a.py").touch()
    monkeypatch.chdir(tmp_path)

    assert command("init", *argv) == 2

    assert complaint in command.err
    assert set(contents(tmp_path)) == {"a.py"}


#: All is loaded before it gets narrow.
PROCESS = """
import os, resource, sys
from pytest_tripwire.cli import main
main(["init", "--dry-run", sys.argv[1]])
{narrow}
main(["init", sys.argv[1]])
"""


def in_a_process(narrow: str, folder: Path) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-c", PROCESS.format(narrow=narrow), str(folder)]
    return subprocess.run(argv, check=False, capture_output=True, text=True)


def test_a_folder_that_cannot_be_written_to() -> None:
    # A superuser may write anywhere, and a folder of pytest's is not open to another user.
    nobody = "os.seteuid(65534)" if os.geteuid() == 0 else ""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o555)

        done = in_a_process(nobody, Path(name))

        assert contents(Path(name)) == {}
    assert done.returncode == 2
    assert f"{PLUGGED} cannot be written: Permission denied" in done.stderr
    assert "Traceback" not in done.stderr


def test_half_a_file_is_not_left_behind(tmp_path: Path) -> None:
    done = in_a_process("resource.setrlimit(resource.RLIMIT_FSIZE, (99, 99))", tmp_path)

    assert contents(tmp_path) == {}
    assert done.returncode == 2
    assert f"{PLUGGED} cannot be written: File too large" in done.stderr
