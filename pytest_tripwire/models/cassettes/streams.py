"""Takes secrets out of events, one a line, also those that were cut in pieces."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from pytest_tripwire.models.cassettes.secrets import FILTERED, Secrets
from pytest_tripwire.models.cassettes.trees import Trees, sure_texts

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_DATA = re.compile(r"(data:\s*|)([{\[].*?)(\s*)", re.DOTALL)
_MARKS = ("type", "index", "output_index", "content_index", "item_id")

#: Where a text stands in an event: names and places from the event's root.
_Path = tuple[str | int, ...]


def is_stream(text: str) -> bool:
    """Whether a body is a stream of server-sent events."""
    return text.lstrip().startswith(("data:", "event:", "id:", "retry:", ":"))


def filtered_stream(text: str, secrets: Secrets, *, answer: bool) -> str:
    """The stream without secrets: server-sent events, or JSON in lines. Lines that held none stay
    as they were.
    """
    lines = _LINE.findall(text)
    before: dict[int, Any] = {}
    for number, line in enumerate(lines):
        event = _event(line)
        if event is not None:
            before[number] = event
    trees = Trees(secrets, answers=answer)
    after = {number: trees.filtered(event) for number, event in before.items()}
    _join(list(after.values()), secrets)
    return "".join(
        _line(line, after[number])
        if number in after and after[number] != before[number]
        else secrets.hide(line)
        for number, line in enumerate(lines)
    )


def _event(line: str) -> Any:
    found = _DATA.fullmatch(line)
    try:
        return json.loads(found[2]) if found else None
    except (ValueError, RecursionError):
        return None


def _line(line: str, event: Any) -> str:
    found = _DATA.fullmatch(line)
    return f"{found[1]}{json.dumps(event)}{found[3]}" if found else line


class _Piece:
    """A text in an event, which can be replaced there."""

    def __init__(self, holder: Any, place: str | int) -> None:
        self._holder, self._place = holder, place

    @property
    def text(self) -> str:
        return str(self._holder[self._place])

    def cut(self, start: int, end: int, filler: str) -> None:
        self._holder[self._place] = self.text[: max(start, 0)] + filler + self.text[end:]


def _join(events: list[Any], secrets: Secrets) -> None:
    """Hide what is a secret only once the pieces of a text are put together."""
    texts: dict[Any, list[_Piece]] = {}
    for event in events:
        marks = _marks(event)
        for path, piece in _pieces(event):
            texts.setdefault((marks, path), []).append(piece)
    for pieces in texts.values():
        if len(pieces) > 1:
            _hide_across(pieces, secrets)


def _marks(event: Any) -> tuple[str, ...]:
    """What tells apart the texts that are sent by turns."""
    if not isinstance(event, dict):
        return ()
    choices = event.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    choice = first.get("index") if isinstance(first, dict) else None
    return (*(str(event.get(mark)) for mark in _MARKS), str(choice))


def _pieces(value: Any, path: _Path = ()) -> Iterator[tuple[_Path, _Piece]]:
    places: Any = ()
    if isinstance(value, dict):
        places = value.items()
    elif isinstance(value, list):
        places = enumerate(value)
    for place, each in places:
        if isinstance(each, str):
            yield (*path, place), _Piece(value, place)
        else:
            yield from _pieces(each, (*path, place))


def _hide_across(pieces: list[_Piece], secrets: Secrets) -> None:
    whole = "".join(piece.text for piece in pieces)
    for start, end in reversed(_merged([*secrets.spans(whole), *_named(whole)])):
        offset, filler = 0, FILTERED
        for piece in pieces:
            length = len(piece.text)
            if offset < end and offset + length > start:
                piece.cut(start - offset, min(end - offset, length), filler)
                filler = ""
            offset += length


def _named(whole: str) -> Iterator[tuple[int, int]]:
    """Where the values of surely secret names stand, in a text that is JSON."""
    if not whole.startswith("{"):
        return
    try:
        found = set(sure_texts(json.loads(whole)))
    except (ValueError, RecursionError):
        return
    for text in found - {FILTERED}:
        for form in {json.dumps(text), json.dumps(text, ensure_ascii=False)}:
            for match in re.finditer(re.escape(form), whole):
                yield match.start() + 1, match.end() - 1


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
