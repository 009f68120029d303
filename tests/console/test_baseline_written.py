"""Pruning a baseline that cannot be written: a clear error, and nothing of it is lost."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pytest_tripwire.gate import outputs
from pytest_tripwire.oracle import Broken, State

from .conftest import Command, Write, cell, evidence
from .test_baseline_command import BAD, entry

#: Somebody who owns none of the files, and is not root, whom no mode keeps from writing.
NOBODY = 65534
KEPT = entry("lost-write")
TEXT = entry("deadline") + KEPT


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """One that anybody may look into."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def prune(write: Write, open_folder: Path) -> list[str]:
    """The words that prune a baseline in that folder."""
    made = open_folder / "report.json"
    made.write_bytes(Path(write("r.json", evidence(BAD, cell("deadline")))).read_bytes())
    file = open_folder / "baseline.toml"
    file.write_text(TEXT, encoding="utf-8")
    return ["baseline", "--file", str(file), "--prune", str(made)]


@contextmanager
def somebody_else() -> Iterator[None]:
    """Root's modes mean nothing, so it becomes nobody for a while."""
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)


def kept_as_it_was(folder: Path) -> bool:
    found = {each.name for each in folder.iterdir()}
    text = (folder / "baseline.toml").read_text("utf-8")
    return text == TEXT and found == {"baseline.toml", "report.json"}


@pytest.mark.parametrize(
    ("folder", "file"), [(0o755, 0o666), (0o777, 0o444)], ids=["the folder", "the file"]
)
def test_what_must_not_be_written_stays_and_says_so(
    prune: list[str], command: Command, open_folder: Path, folder: int, file: int
) -> None:
    (open_folder / "baseline.toml").chmod(file)
    open_folder.chmod(folder if os.geteuid() == 0 or folder == 0o777 else 0o555)
    command("baseline", "--file", prune[2])  # so that all is loaded

    with somebody_else():
        status = command(*prune)

    assert status == 2
    assert "baseline.toml was not written: Permission denied" in command.err
    assert "taken out" not in command.out
    assert kept_as_it_was(open_folder)


def test_a_disk_that_is_full_loses_nothing(prune: list[str], open_folder: Path) -> None:
    # No file may get any longer, which is an error at the first byte.
    line = shlex.join([sys.executable, "-m", "pytest_tripwire", *prune])
    done = subprocess.run(
        ["bash", "-c", f"ulimit -f 0; exec {line}"],  # noqa: S607 - a shell's own command
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert "baseline.toml was not written: File too large" in done.stderr
    assert kept_as_it_was(open_folder)


def test_what_is_written_keeps_its_mode_and_its_link(
    write: Write, command: Command, tmp_path: Path
) -> None:
    real, link = tmp_path / "real.toml", tmp_path / "tripwire-baseline.toml"
    real.write_text(TEXT, encoding="utf-8")
    real.chmod(0o640)
    link.symlink_to(real)
    made = write("r.json", evidence(BAD, cell("deadline")))

    assert command("baseline", "--file", str(link), "--prune", made) == 0

    assert link.is_symlink()
    assert real.read_text("utf-8") == KEPT
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_folder_in_the_place_of_the_new_file_is_an_error(tmp_path: Path) -> None:
    assert outputs.replaced(tmp_path, b"x").startswith(f"{tmp_path} was not written: ")
    assert list(tmp_path.iterdir()) == []


def test_what_takes_nothing_out_leaves_the_file_alone(
    write: Write, command: Command, tmp_path: Path
) -> None:
    file = tmp_path / "tripwire-baseline.toml"
    file.write_text(KEPT, encoding="utf-8")
    before = file.stat()
    bad = cell("lost-write", state=State.ESCAPED, broken=(Broken(check="a good end", message="x"),))

    assert command("baseline", "--file", str(file), "--prune", write("r.json", evidence(bad))) == 0
    after = file.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
