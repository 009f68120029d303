"""What `agent-tripwire init` writes, and how: never over anything that is there."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import msgspec

from pytest_tripwire.console.starting.frameworks import Known

_TEMPLATES = files("pytest_tripwire.console.starting") / "templates"
_SOMEWHERE = "your_project.agents"
_WIDEST = 88


class File(msgspec.Struct, frozen=True, kw_only=True):
    """A file that is to be there.

    Args:
        path: where.
        text: what it holds, if it is written.
        sign: a word that is in it, where somebody has written it before.
    """

    path: Path
    text: str
    sign: str


def tests_folder(folder: Path) -> Path:
    """Where a project has its tests."""
    return next((each for each in (folder / "tests", folder / "test") if each.is_dir()), folder)


def starting(known: Known, folder: Path, *, module: str, part: str) -> tuple[File, File]:
    """What plugs an agent in, and its test.

    Args:
        known: which framework the agent is written in.
        folder: where the tests are.
        module: where the project seems to have its agent; empty if nobody knows.
        part: the name of a part of a larger project, whose other parts may have such a test too;
            empty for a whole one.
    """
    end = re.sub(r"\W", "_", f"_{part}" if part else "")
    plugged = _template(known.name)
    if module:
        line = next(each for each in plugged.splitlines() if _SOMEWHERE in each)
        better = line.replace(_SOMEWHERE, module)
        plugged = plugged.replace(line, better) if len(better) <= _WIDEST else plugged
    return (
        File(path=folder / "conftest.py", text=plugged, sign="tripwire_agent"),
        File(path=folder / f"test_tripwire{end}.py", text=_template("test"), sign="tripwire"),
    )


def _template(name: str) -> str:
    return (_TEMPLATES / f"{name}.py.txt").read_text(encoding="utf-8")


def written(file: File) -> bool:
    """Write a file, unless there is one of its name; whether it was written. Raises OSError if it
    cannot be.
    """
    try:
        # By the system, in one step: nothing that is made meanwhile is lost, links included.
        target = file.path.open("x", encoding="utf-8", newline="\n")
    except FileExistsError:
        return False
    try:
        with target:
            target.write(file.text)
    except OSError:
        # Half of a file would be taken for the user's own the next time.
        file.path.unlink()
        raise
    return True


def is_there(file: File) -> bool:
    """Say whether there is anything of that name, a link that leads nowhere included."""
    return file.path.exists() or file.path.is_symlink()


def has_sign(file: File) -> bool:
    """Say whether what is there has been written for this purpose before."""
    try:
        text = file.path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return re.search(rf"\b{file.sign}\b", text) is not None


def marks(file: File) -> list[tuple[int, str]]:
    """What a user has to change in a file: the lines, and what each says."""
    lines = enumerate(file.text.splitlines(), 1)
    found = ((number, line.partition("# TODO: ")[2]) for number, line in lines)
    return [(number, told.partition(". ")[0].removesuffix(".")) for number, told in found if told]
