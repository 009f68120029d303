"""Cuts a file into JSON values, without looking at what they mean.

A file holds one value, an array of values, or a value on each line. How it is called says little:
the file exporter of the OpenTelemetry collector writes lines into `*.json`. So the first line
decides: if it is a value of its own, the file is read by lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import BinaryIO, TypeVar

import msgspec

from pytest_tripwire.replay.problem import Problem

T = TypeVar("T")

_MARK = b"\xef\xbb\xbf"
_AT_BYTE = re.compile(r" \(byte (\d+)\)$")
_MIB = 2**20
_PIECE = 64 * 1024
_FIRST = re.compile(rb"[^ \t\r\n]")


class Sizes(msgspec.Struct, frozen=True, kw_only=True):
    """Beyond what nothing is held in memory, in bytes."""

    line: int = 64 * _MIB
    document: int = 512 * _MIB


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """One JSON value as it stands in a file.

    Args:
        file: the file's name.
        line: the line on which it begins, counted from 1.
        data: its text, which may span several lines.
    """

    file: str
    line: int
    data: bytes

    def problem(self, reason: str, offset: int | None = None) -> Problem:
        """What is wrong with it; `offset` is the byte of `data` where."""
        if offset is None:
            return Problem(file=self.file, line=self.line, reason=reason)
        before = self.data[:offset]
        return Problem(
            file=self.file,
            line=self.line + before.count(b"\n"),
            column=offset - before.rfind(b"\n"),
            reason=reason,
        )


def values(
    name: str,
    stream: BinaryIO,
    *,
    by_line: bool,
    sizes: Sizes,
    on_bytes: Callable[[int], None],
) -> Iterator[Value | Problem]:
    """The JSON values of a file, in order.

    Args:
        name: the file's name, for reports.
        stream: its content.
        by_line: whether its name says that each line is a value.
        sizes: how much of it may be held at a time.
        on_bytes: is told of bytes that were read.
    """
    lines = _lines(name, stream, sizes.line if by_line else sizes.document, on_bytes)
    first = next((line for line in lines if not _is_blank(line)), None)
    if first is None:
        yield Problem(file=name, reason="the file is empty")
    elif isinstance(first, Problem):
        yield first
        yield from _each(lines) if by_line else ()
    elif b"\0" in first.data:
        yield first.problem("this is no text: a byte 0 stands in its first line")
    elif by_line or _is_whole(first.data):
        yield from _elements(first)
        yield from _each(lines)
    else:
        yield from _document(first, stream, sizes.document, on_bytes)


def _each(lines: Iterator[Value | Problem]) -> Iterator[Value | Problem]:
    for line in lines:
        if isinstance(line, Problem):
            yield line
        elif not _is_blank(line):
            yield from _elements(line)


def _document(
    first: Value, stream: BinaryIO, limit: int, on_bytes: Callable[[int], None]
) -> Iterator[Value | Problem]:
    """A file that is one value over several lines."""
    rest = stream.read(limit + 1)
    on_bytes(len(rest))
    if len(first.data) + len(rest) > limit:
        yield first.problem(
            f"one JSON value of more than {limit // _MIB} MiB; write one trace per line instead"
        )
        return
    yield from _elements(Value(file=first.file, line=first.line, data=first.data + rest))


def _lines(
    name: str, stream: BinaryIO, limit: int, on_bytes: Callable[[int], None]
) -> Iterator[Value | Problem]:
    """Each line; one that is too long is passed over without being held."""
    number = 0
    while data := stream.readline(limit + 1):
        number += 1
        on_bytes(len(data))
        whole = data.endswith(b"\n")
        if len(data) > limit and not whole:
            _pass_over(stream, on_bytes)
            yield Problem(
                file=name, line=number, reason=f"the line has more than {limit / _MIB:g} MiB"
            )
            continue
        yield Value(file=name, line=number, data=data.removeprefix(_MARK) if number == 1 else data)


def _pass_over(stream: BinaryIO, on_bytes: Callable[[int], None]) -> None:
    while piece := stream.readline(_PIECE):
        on_bytes(len(piece))
        if piece.endswith(b"\n"):
            return


def _elements(value: Value) -> Iterator[Value | Problem]:
    """The value itself, or the elements of an array, each with the line where it begins."""
    first = _FIRST.search(value.data)
    if first is None or first[0] != b"[":
        yield value
        return
    elements = decoded(value, list[msgspec.Raw])
    if isinstance(elements, Problem):
        yield elements
        return
    end, line = 0, value.line
    for element in elements:
        data = bytes(element)
        start = value.data.index(data, end)
        line += value.data.count(b"\n", end, start)
        yield Value(file=value.file, line=line, data=data)
        end = start + len(data)
        line += data.count(b"\n")


def decoded(value: Value, kind: type[T]) -> T | Problem:
    """`value` as a `kind`, or the problem with it."""
    try:
        return msgspec.json.decode(value.data, type=kind)
    except msgspec.ValidationError as error:
        return value.problem(str(error))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return _malformed(value, error)


def _malformed(value: Value, error: Exception) -> Problem:
    if isinstance(error, RecursionError):
        return value.problem("the JSON is nested too deeply")
    text = str(error)
    at = _AT_BYTE.search(text)
    if at is not None:
        # What trails has been passed already when it is told of.
        offset = int(at[1]) - ("trailing" in text)
        return value.problem(f"no JSON: {_AT_BYTE.sub('', text)}", offset)
    if "truncated" in text:
        return value.problem("no JSON: it ends in the middle, or has half of a surrogate pair")
    return value.problem(f"no JSON: {text}")


def _is_whole(data: bytes) -> bool:
    """Whether a line is a value of its own."""
    try:
        msgspec.json.decode(data, type=msgspec.Raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _is_blank(line: Value | Problem) -> bool:
    return isinstance(line, Value) and _FIRST.search(line.data) is None
