"""The environment that points an agent at the run: as values, as lines, and as a file.

A line has to mean the same to a shell, which expands what stands in double quotes, and to readers
of `.env` files, which know single and double quotes and nothing of a shell's concatenation.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

import msgspec

from pytest_tripwire.harness import HarnessError, Task
from pytest_tripwire.serve.files import written

#: The first line of a file of ours; no other file is ever replaced.
MARK = "# written by agent-tripwire serve; deleted when it ends"

_LOOPBACK = "127.0.0.1"

#: Some programs read the one, some the other, and some let the lower case win.
_SPARED = ("NO_PROXY", "no_proxy")

#: What means something between double quotes, to a shell or to a reader of `.env` files.
_ACTIVE = frozenset('"$`\\!')


class EnvironmentFileError(HarnessError):
    """The file cannot be written, or somebody else has written one that is in the way."""


def variables(
    task: Task,
    *,
    case_id: str,
    mcp_url: str | None,
    inherited: Mapping[str, str],
    world_url: str | None = None,
) -> dict[str, str]:
    """What the agent's process has to find in its environment.

    Args:
        task: what the agent is given.
        case_id: the case that is played.
        mcp_url: where its tools are, if they are served over HTTP.
        inherited: the environment that it has anyway.
        world_url: where its application learns what time it is in the world.
    """
    found = dict(task.model.env)
    found |= {name: _with_loopback(inherited.get(name, "")) for name in _SPARED}
    found["TRIPWIRE_CASE"] = case_id
    if world_url is not None:
        found["TRIPWIRE_WORLD_URL"] = world_url
    found["TRIPWIRE_PROMPT"] = task.prompt
    found["TRIPWIRE_MODEL"] = task.model.name
    if mcp_url is not None:
        found["TRIPWIRE_MCP_URL"] = mcp_url
    if task.resume is not None:
        found["TRIPWIRE_RESUME"] = msgspec.json.encode(task.resume).decode()
    return found


def lines(found: Mapping[str, str]) -> str:
    """`NAME=value` for each, quoted where that is needed."""
    return "".join(f"{name}={quoted(value)}\n" for name, value in found.items())


def quoted(value: str) -> str:
    """A value as a shell and a reader of `.env` files read it alike. One that has both an
    apostrophe and what is active in double quotes is written for the shell alone.
    """
    if "'" in value and _ACTIVE.isdisjoint(value):
        return f'"{value}"'
    return shlex.quote(value)


class EnvironmentFile:
    """A file with the environment, from when the run is ready until it ends.

    Args:
        path: where it lies.

    Raises:
        EnvironmentFileError: if something lies there that is none of ours.
    """

    def __init__(self, path: Path) -> None:
        # Of a link the file that it leads to: that one is written, and taken away again.
        self._path = path.resolve() if path.is_symlink() else path
        self._check()

    def write(self, found: Mapping[str, str]) -> None:
        """Put it there, whole at any moment. Raises EnvironmentFileError if that cannot be."""
        self._check()
        try:
            written(self._path, f"{MARK}\n{lines(found)}")
        except OSError as error:
            raise EnvironmentFileError(f"{self._path} cannot be written: {error}") from error

    def remove(self) -> None:
        """Take it away: what it says is true no longer. Somebody else's stays."""
        if self._is_ours():
            self._path.unlink(missing_ok=True)

    def _is_ours(self) -> bool:
        if self._path.exists() and not self._path.is_file():
            return False  # reading a pipe or a terminal would wait for somebody to write
        try:
            with self._path.open(encoding="utf-8", errors="replace") as file:
                return file.readline().rstrip("\n") == MARK
        except FileNotFoundError:
            return True

    def _check(self) -> None:
        if not self._is_ours():
            raise EnvironmentFileError(
                f"{self._path} is there already, and agent-tripwire has not written it: name "
                "another file"
            )


def _with_loopback(spared: str) -> str:
    """The hosts that no proxy is asked for, and ours among them."""
    hosts = [host for host in spared.split(",") if host]
    return ",".join(hosts if _LOOPBACK in hosts else [*hosts, _LOOPBACK])
