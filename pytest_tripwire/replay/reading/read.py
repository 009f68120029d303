"""All the traces of some files, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

import msgspec

from pytest_tripwire.replay.problem import Item, Problem
from pytest_tripwire.replay.reading.formats import Format
from pytest_tripwire.replay.reading.otlp import OtlpSpans
from pytest_tripwire.replay.reading.recorded import RecordedRuns
from pytest_tripwire.replay.reading.sources import Source, said
from pytest_tripwire.replay.reading.values import Sizes, Value, decoded, values


class Grouping(StrEnum):
    """Which spans make one run."""

    CONVERSATION = "conversation"
    TRACE = "trace"


def formats(grouping: Grouping) -> tuple[Format, ...]:
    """A reader for each format; it knows its own by the names at the top of a value."""
    return (RecordedRuns(), OtlpSpans(conversations=grouping is Grouping.CONVERSATION))


def read(
    sources: Iterable[Source | Problem],
    *,
    stdin: BinaryIO,
    grouping: Grouping = Grouping.CONVERSATION,
    sizes: Sizes = Sizes(),  # noqa: B008 - frozen
    on_bytes: Callable[[int], None] = lambda _: None,
) -> Iterator[Item]:
    """The traces of `sources`. What is wrong is yielded as it is met, and the rest goes on.

    Args:
        sources: the files, and what is wrong with what the user named.
        stdin: standard input, for `-`.
        grouping: which spans of telemetry make one run.
        sizes: how much of a file is held at a time.
        on_bytes: is told of bytes that were read.
    """
    readers = formats(grouping)
    try:
        for source in sources:
            if isinstance(source, Problem):
                yield source
            else:
                yield from _of_source(source, stdin, readers, sizes, on_bytes)
        for reader in readers:
            yield from reader.finish()
    finally:
        for reader in readers:
            reader.close()


def _of_source(
    source: Source,
    stdin: BinaryIO,
    readers: Sequence[Format],
    sizes: Sizes,
    on_bytes: Callable[[int], None],
) -> Iterator[Item]:
    met = False
    try:
        with _opened(source, stdin) as stream:
            for value in values(
                source.name, stream, by_line=source.has_lines, sizes=sizes, on_bytes=on_bytes
            ):
                met = True
                yield from [value] if isinstance(value, Problem) else _of_value(value, readers)
    except OSError as error:
        yield Problem(file=source.name, reason=f"cannot be read: {said(error)}")
        return
    if not met:
        yield Problem(file=source.name, reason="there is no trace in it")


def _opened(source: Source, stdin: BinaryIO) -> AbstractContextManager[BinaryIO]:
    """The content of a file; standard input stays open, it is not ours."""
    return nullcontext(stdin) if source.is_stdin else Path(source.path).open("rb")


def _of_value(value: Value, readers: Sequence[Format]) -> Iterator[Item]:
    """Hand a value to the format whose names stand at its top."""
    top = decoded(value, dict[str, msgspec.Raw])
    if isinstance(top, Problem):
        yield top
        return
    reader = next((each for each in readers if each.keys & top.keys()), None)
    if reader is None:
        yield value.problem(
            "neither a recorded run, with `id` and `trace`, nor an export of OpenTelemetry spans, "
            "with `resourceSpans`"
        )
        return
    yield from reader.add(value)
