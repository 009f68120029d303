"""What `agent-tripwire init` says."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_tripwire.console.starting.evidence import Seen
from pytest_tripwire.console.starting.files import File, marks
from pytest_tripwire.console.starting.frameworks import PLAIN, Known
from pytest_tripwire.console.starting.settings import Config, missing
from pytest_tripwire.gate.text import flat


def found(chosen: Known, seen: Sequence[Seen], *, asked: bool) -> Iterator[str]:
    """Which framework is taken, and which others there are."""
    shown = [each for each in seen if each.known is not chosen]
    why = next((f" ({_why(each)})" for each in seen if each.known is chosen), "")
    if asked:
        yield f"taken: {chosen.title}, as you ask{why}"
        return
    if chosen is PLAIN and not seen:
        yield f"found no framework: taken is {chosen.title}"
        yield "  another: --framework NAME, see agent-tripwire init --help"
        return
    yield f"found: {chosen.title}{why}"
    for each in shown:
        yield f"  also: {each.known.title} ({_why(each)}); take it by --framework {each.known.name}"


def _why(seen: Seen) -> str:
    if seen.importing:
        more = len(seen.importing) - 1
        return f"imported by {_path(seen.importing[0])}" + (f" and {more} more" if more else "")
    if seen.naming:
        return f"named in {_path(seen.naming[0])}"
    return "installed here"


def _path(path: Path) -> str:
    return flat(str(path))


def wrote(file: File) -> Iterator[str]:
    """A file that was written."""
    yield f"wrote {_path(file.path)}"


def would_write(file: File) -> Iterator[str]:
    """A file that would be written, with what it would hold."""
    yield from (f"would write {_path(file.path)}:", "", file.text)


def left(file: File, *, done: bool) -> Iterator[str]:
    """A file that is there already."""
    yield f"left {_path(file.path)} as it is: it is there already"
    if done:
        yield f"  it has `{file.sign}`, so there is nothing to add"
    else:
        yield from ("  add this to it:", "", file.text)


def add(config: Config) -> Iterator[str]:
    """What a configuration that is there lacks."""
    lines, more = missing(config)
    if not lines and not more:
        yield f"left {_path(config.path)} as it is: it has all that the gate needs"
        return
    yield f"left {_path(config.path)} as it is; for the gate:"
    yield from (f"  - add {value} to its value `{key}`" for value, key in more)
    if lines:
        yield from (f"  - add to its section [{config.section}]:", "", *lines, "")


def lacks(known: Known) -> Iterator[str]:
    """What has to be installed first."""
    wanted = f"pytest-agent-tripwire[{known.extra}]"
    yield f"First install what it needs: pip install --upgrade '{wanted}'"


def to_change(file: File) -> Iterator[str]:
    """What a user has to put in the place of the example."""
    yield "It runs as it is, with an example for an agent. For your own, change:"
    yield from (f"  {_path(file.path)}:{number}: {told}" for number, told in marks(file))


def then(test: File) -> Iterator[str]:
    """What to run."""
    yield f"Run: pytest {shlex.quote(str(test.path))}"
    yield "Then, for one verdict over all cases, and in CI: pytest --tripwire-gate"
