"""The cassette of a test: where it lies, what the marker says of it, and how it ends.

Loaded by the first test that has one.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from pytest_tripwire.models.cassettes import Cassette, CassetteError, RecordMode, read_mode
from pytest_tripwire.models.cassettes.cassette import SHARED

if TYPE_CHECKING:
    from pytest_tripwire.plugin.transport import CallEnd

_OWNERS = pytest.StashKey[dict[Path, str]]()

MARKER = "tripwire_cassette"
FOLDER = "cassettes"

#: Characters of a file's name, before the part that keeps cut names apart.
_LONGEST = 100
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_WRITTEN = (
    '@pytest.mark.tripwire_cassette(path="cassettes/refund.yaml", record_mode="once", '
    'strict=True, ignore=["seed"])'
)


class Wanted(NamedTuple):
    """What a marker says.

    Args:
        path: the file, relative to the folder of the test module; by default one for each test.
        record_mode: what may be recorded; the command line outweighs it.
        strict: whether every recorded request has to be made.
        ignore: top-level fields of a request's body that may differ.
    """

    path: str | None = None
    record_mode: str | None = None
    strict: bool = False
    ignore: tuple[str, ...] = ()


def wanted(item: pytest.Item) -> Wanted:
    """What the marker of a test says. Raises CassetteError for one that is written wrongly."""
    marker = item.get_closest_marker(MARKER)
    if marker is None:
        return Wanted()
    try:
        if marker.args:
            raise TypeError("it takes names only")  # noqa: TRY301 - told as any other mistake
        return _checked(**marker.kwargs)
    except TypeError as error:
        said = str(error).replace("_checked()", "it")
        raise CassetteError(
            f"the marker of {item.nodeid} is wrong: {said}. It is written {_WRITTEN}, and every "
            "part of it may be left out"
        ) from None


def _checked(
    *,
    path: str | os.PathLike[str] | None = None,
    record_mode: str | None = None,
    strict: bool = False,
    ignore: Iterable[str] = (),
) -> Wanted:
    if path is not None and not isinstance(path, str | os.PathLike):
        raise TypeError("path is no path")
    if not isinstance(strict, bool):
        raise TypeError("strict is neither True nor False")
    names = (ignore,) if isinstance(ignore, str) else tuple(ignore)
    if not all(isinstance(name, str) for name in names):
        raise TypeError("ignore has more in it than names of fields")
    file = None if path is None else os.fspath(path)
    return Wanted(path=file, record_mode=record_mode, strict=strict, ignore=names)


def open_cassette(item: pytest.Item) -> Cassette:
    """The cassette of a test, opened. Raises CassetteError for what cannot be."""
    said = wanted(item)
    path = default_path(item) if said.path is None else item.path.parent / said.path
    mode = read_mode(item.config.getoption("tripwire_record_mode") or said.record_mode, os.environ)
    name = shown(item.config, path)
    if mode is RecordMode.ALL:
        _claim(item, path, name)
    return Cassette(path, mode=mode, environment=os.environ, shown=name, ignore=said.ignore).open()


def _claim(item: pytest.Item, path: Path, name: str) -> None:
    """See that no test replaces what another has just recorded."""
    owner = item.config.stash.setdefault(_OWNERS, {}).setdefault(path.absolute(), item.nodeid)
    if owner != item.nodeid:
        raise CassetteError(
            f"{name} is {owner}'s too, and record mode `all` would replace what that recorded: "
            f"{SHARED}"
        )


def close_cassette(item: pytest.Item, cassette: Cassette, ended: CallEnd | None) -> None:
    """End it with its test. What a test recorded is kept if it passed.

    Raises:
        CassetteError: for what was refused or left unplayed, also where the agent swallowed it.
            Not once more where the test failed by just that.
    """
    __tracebackhide__ = True
    passed = ended is not None and ended.error is None
    cassette.close(whole=passed)
    if ended is not None and not _stems_from(ended.error, cassette.problem):
        cassette.check(strict=passed and wanted(item).strict)


def _stems_from(error: BaseException | None, problem: BaseException | None) -> bool:
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        if error is problem:
            return True
        seen.append(error)
        error = error.__cause__ or error.__context__
    return False


def default_path(item: pytest.Item) -> Path:
    """`cassettes/<module>/<test>.yaml` beside the module of a test."""
    return _beside(item, _name(item))


def cell_path(item: pytest.Item, case_id: str, before: int) -> Path:
    """The same for a cell: the name of the test tells the case. `before`: how many handles of
    this case the test has taken before.
    """
    name = _name(item)
    callspec = getattr(item, "callspec", None)
    if callspec is None or callspec.params.get("tripwire") != case_id:
        name = f"{name[:-1]}-{case_id}]" if name.endswith("]") else f"{name}[{case_id}]"
    return _beside(item, f"{name[:-1]}-{before + 1}]" if before else name)


def _beside(item: pytest.Item, name: str) -> Path:
    return item.path.parent / FOLDER / item.path.stem / f"{file_name(name)}.yaml"


def _name(item: Any) -> str:
    """The test's name below its module, with its class and the ids of its parameters."""
    within = item.nodeid.partition("::")[2].replace("::", ".")
    return within or str(item.name)


def file_name(name: str) -> str:
    """A name that is a file's on every system. Tests whose parameters differ in odd characters or
    in capitals alone stay apart.
    """
    function, _, parameters = name.partition("[")
    safe = _UNSAFE.sub("-", name).strip("-.")
    plain = re.fullmatch(r"(?:[a-z0-9_.-]+\])?", parameters) and _UNSAFE.search(function) is None
    if plain and len(safe) <= _LONGEST:
        return safe
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{safe[:_LONGEST]}-{mark}"


def shown(config: pytest.Config, path: Path) -> str:
    """A file as messages call it, which other machines can make sense of."""
    try:
        return path.relative_to(config.rootpath).as_posix()
    except ValueError:
        return path.name
