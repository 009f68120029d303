"""Lines for a terminal, made of what models, tools and users may have written."""

from __future__ import annotations

import datetime as dt
import shlex
from collections.abc import Sequence
from urllib.parse import unquote_plus, urlsplit

from pytest_tripwire.gate.text import flat, inert
from pytest_tripwire.replay.command import Streams

_WIDEST = 60


def cell(text: str, widest: int = _WIDEST) -> str:
    """Any text as a part of a line; `-` for none."""
    line = flat(text)
    return (line if len(line) <= widest else f"{line[: widest - 3]}...") or "-"


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]], *, indent: str = "") -> list[str]:
    """A table as lines; its cells are as `cell` makes them."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in (head, *rows)
    ]
    return [f"{indent}{line}" for line in lines]


def say(streams: Streams, lines: Sequence[str]) -> None:
    """Write lines of a table or a text, in UTF-8 whatever the locale says."""
    streams.stdout.write("".join(f"{inert(line)}\n" for line in lines).encode())


def note(streams: Streams, text: str) -> None:
    """Tell the user something that was not asked for, one line for each of it."""
    for line in text.split("\n"):
        # What begins with a name begins with no command of a CI service.
        print(inert(f"agent-tripwire: {flat(line)}"), file=streams.stderr)


def quoted(text: str) -> str:
    """A word for a shell. What a terminal cannot show as it is, is written in the escapes of bash,
    ksh and zsh, so that the line can be copied and moves no cursor.
    """
    if flat(text) == text and inert(text) == text:
        return shlex.quote(text)
    return f"$'{''.join(map(_escaped, text))}'"


def _escaped(character: str) -> str:
    if character.isascii() and character.isalnum():
        return character
    number = ord(character)
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"  # noqa: PLR2004 - four digits hold no more


def hushed(text: str, url: str) -> str:
    """A message without the password of the address that it may tell of."""
    for each in _secrets(url):
        text = text.replace(each, "***")
    return text


def _secrets(url: str) -> set[str]:
    """What is a password in an address, as it is written and as it is meant."""
    try:
        parts = urlsplit(url)
        options = [part.partition("=") for part in parts.query.split("&")]
        found = {parts.password or "", *(value for name, _, value in options if "pass" in name)}
    except ValueError:
        return set()
    return {each for secret in found for each in (secret, unquote_plus(secret)) if each}


def moment(at: float) -> str:
    """Seconds since the epoch of Unix, as a day and a time."""
    try:
        when = dt.datetime.fromtimestamp(at, tz=dt.UTC)
    except (ValueError, OverflowError, OSError):
        return "-"
    return f"{when:%Y-%m-%d %H:%M:%S}Z"
