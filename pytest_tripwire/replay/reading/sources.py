"""Which files are read: those that were named, and those under the folders that were named."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from pytest_tripwire.replay.problem import Problem

#: Stands for standard input.
STDIN = "-"
#: What is looked for in a folder. A file that is named is read whatever it is called.
SUFFIXES = (".json", ".jsonl", ".ndjson")


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """One file to read.

    Args:
        name: as reports show it.
        path: as the system knows it; `-` for standard input.
        size: in bytes; 0 where that is unknown.
    """

    name: str
    path: str
    size: int = 0

    @property
    def is_stdin(self) -> bool:
        """Whether it is standard input."""
        return self.path == STDIN

    @property
    def has_lines(self) -> bool:
        """Whether its name says that each line is a value of its own."""
        return self.path.lower().endswith(SUFFIXES[1:])


def sources(paths: Iterable[str]) -> Iterator[Source | Problem]:
    """The files of `paths`, each once, those of a folder sorted by name.

    Links are followed, and a folder that was seen before is not entered again.
    """
    seen: set[tuple[int, int]] = set()
    for path in paths:
        if path == STDIN:
            yield Source(name="<stdin>", path=STDIN)
        elif Path(path).is_dir():
            yield from _of_folder(path, seen)
        else:
            yield from _of_file(path, seen)


def _of_file(path: str, seen: set[tuple[int, int]]) -> Iterator[Source | Problem]:
    try:
        status = Path(path).stat()
    except (OSError, ValueError) as error:
        yield Problem(file=printable(path), reason=f"cannot be read: {said(error)}")
        return
    if _is_new(status, seen):
        yield Source(name=printable(path), path=path, size=status.st_size)


def _of_folder(folder: str, seen: set[tuple[int, int]]) -> Iterator[Source | Problem]:
    found = False
    for item in _walked(folder, seen):
        found = True
        if isinstance(item, Problem):
            yield item
        else:
            yield from _of_file(item, seen)
    if not found:
        kinds = ", ".join(f"*{suffix}" for suffix in SUFFIXES)
        yield Problem(file=printable(folder), reason=f"there is no file {kinds} in this folder")


def _walked(folder: str, seen: set[tuple[int, int]]) -> Iterator[str | Problem]:
    """The files with one of the suffixes below `folder`, and what cannot be looked into."""
    failed: list[OSError] = []
    for here, folders, names in os.walk(folder, followlinks=True, onerror=failed.append):
        if not _is_new(Path(here).stat(), seen):
            folders.clear()
            continue
        folders.sort()
        for name in sorted(names):
            if name.lower().endswith(SUFFIXES):
                yield os.path.join(here, name)  # noqa: PTH118 - as text, as the user wrote it
    for error in failed:
        yield Problem(file=printable(str(error.filename)), reason=f"cannot be read: {said(error)}")


def _is_new(status: os.stat_result, seen: set[tuple[int, int]]) -> bool:
    key = (status.st_dev, status.st_ino)
    new = key not in seen
    seen.add(key)
    return new


def printable(path: str) -> str:
    """`path` as text that can be encoded, also where its bytes are no UTF-8."""
    return os.fsencode(path).decode("utf-8", "replace")


def said(error: Exception) -> str:
    """What the system says about `error`, without the path that is shown anyway."""
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)
