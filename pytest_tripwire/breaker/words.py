"""Whether two texts ask for one thing in other words.

Rewording changes order, number and form of words; enumerating fills one slot of one sentence with
one thing after another. The first is a loop, the second is good work.
"""

from __future__ import annotations

import re
import unicodedata

import msgspec

_TOKEN = re.compile(r"[^\W_]+")
#: Seconds or milliseconds since 1970, of today: a cache buster, never a name.
_EPOCH = re.compile(r"(?<!\d)1[4-9]\d{8}(\d{3})?(?!\d)")
_EDGE = "\"'`.,;:!?()[]{}<>"
#: Longer texts are compared by their beginning.
_MOST = 400
_FUNCTION = frozenset(
    {
        *("a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "has", "have", "i", "in"),
        *("into", "is", "it", "its", "me", "my", "of", "on", "or", "our", "please", "that", "the"),
        *("their", "this", "to", "was", "were", "what", "when", "where", "which", "who", "will"),
        *("with", "you", "your"),
    }
)
_STEM = 4
#: Bits of a number that somebody may have written.
_BITS = 256
#: Characters of a name that stands in two texts by no accident.
_NAME = 6
#: Characters of several short flags in one.
_SHORT = 5


class Wording(msgspec.Struct, frozen=True):
    """A text as its pieces in order and its words without order. Flags of a command are neither."""

    pieces: tuple[str, ...]
    tokens: frozenset[str]
    flags: frozenset[str] = frozenset()


def printable(value: object) -> str:
    """A text or a number as text; anything else, and a number of more digits than Python prints,
    as an empty one.
    """
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int) and int.bit_length(value) < _BITS:
        return int.__repr__(value)
    return ""


def is_wordy(value: object) -> bool:
    """Whether a value is free text: several words, no path and no JSON."""
    if not isinstance(value, str):
        return False
    text = value.strip()
    return len(text.split(None, 2)) > 1 and not text.startswith(("{", "["))


_RANDOM = re.compile(
    r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}"
    r"|(?=[^\W_]*\d)(?=[^\W_]*[A-Za-z])[A-Za-z0-9_-]{20,}",
    re.IGNORECASE,
)
#: Shorter values may be names.
_DRAWN = 20


def is_random(value: object) -> bool:
    """Whether a value looks as if it was drawn by lot: a UUID, or long and without any word."""
    return isinstance(value, str) and len(value) >= _DRAWN and bool(_RANDOM.fullmatch(value))


def wording(text: str) -> Wording:
    """`text` as it is compared."""
    plain = _EPOCH.sub("", unicodedata.normalize("NFKC", text[: _MOST * 4]))
    pieces = tuple(each.strip(_EDGE) for each in plain.split()[:_MOST])
    said = [each for each in pieces if each and not each.startswith("-")]
    tokens = frozenset(_stem(token) for each in set(said) for token in _TOKEN.findall(each.lower()))
    meant = tokens - _FUNCTION
    flags = frozenset(flag for each in pieces if each[:1] == "-" for flag in _flags(each))
    return Wording(tuple(said), meant or tokens, flags)


def _flags(piece: str) -> tuple[str, ...]:
    """The flags in a piece of a command that begins with a dash: `-rf` is `-r` and `-f`."""
    if piece.startswith("--") or len(piece) > _SHORT:
        return (piece,)
    return tuple(piece[1:])


def is_reference(piece: str) -> bool:
    """Whether a piece names one certain thing: `A`, `o-17`, `src/app.py`, `UserService`, `a@b`."""
    if len(piece) == 1 or any(each.isdigit() for each in piece):
        return True
    inner = piece[1:]
    return any(each in "_./\\@:#" for each in inner) or any(each.isupper() for each in inner)


_FILE = re.compile(r"\S*[\w*]\.[A-Za-z][A-Za-z0-9]{0,7}|\S*/\S+|[A-Za-z]:\\\\\S+")
_ID = re.compile(r"[A-Za-z][\w-]*|\d{5,}|[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}")
#: Characters of an id, and of a path; what is longer is neither.
_LONGEST_ID = 64
_LONGEST_PATH = 1024


def is_file(value: object) -> bool:
    """Whether a value is a path, or the name of a file."""
    if not isinstance(value, str) or len(value) > _LONGEST_PATH or "@" in value:
        return False
    return bool(_FILE.fullmatch(value))


def is_id(piece: str) -> bool:
    """Whether a piece of text is the id of one thing: `o-17`, `R-7`, `pay_29Q`, a UUID."""
    if len(piece) > _LONGEST_ID:
        return False
    plain = piece.strip(_EDGE)
    return bool(_ID.fullmatch(plain)) and any(each.isdigit() for each in plain)


def enumerates(one: Wording, other: Wording) -> bool:
    """Whether two texts are one sentence with one slot filled differently."""
    slot = _slot(one, other)
    return slot is not None


def names_another(one: Wording, other: Wording) -> bool:
    """Whether what differs between two texts of one shape are two certain things."""
    slot = _slot(one, other)
    return slot is not None and all(is_reference(each) for each in slot)


def is_reworded(one: Wording, other: Wording) -> bool:
    """Whether two texts ask for one thing: the same words in another order or form, or most of the
    words of the shorter one. Two that hold different numbers, or that fill one slot differently,
    do not.
    """
    if one.tokens == other.tokens:
        return bool(one.tokens) or one.pieces == other.pieces
    if enumerates(one, other) or (
        _numbers(one.tokens - other.tokens) and _numbers(other.tokens - one.tokens)
    ):
        return False
    shared = len(one.tokens & other.tokens)
    fewest, most = sorted((len(one.tokens), len(other.tokens)))
    return shared * 2 >= fewest and shared * 3 >= most and shared > 0


def restates(one: Wording, other: Wording) -> bool:
    """Whether a text asks again for what `one` was denied: much the same, and not less. Leaving out
    the flag or the word that was objected to is a new question.
    """
    before, now = one.tokens | one.flags, other.tokens | other.flags
    if before == now:
        return bool(before)
    shared = len(before & now)
    return not now < before and shared * 3 >= max(len(before), len(now)) * 2


_BETWEEN = re.compile(r"[\s\"'`,;()\[\]{}<>|&=]+")
_SLASHES = re.compile(r"/{2,}")


def references(text: str) -> frozenset[str]:
    """The certain things that a text names, long enough to be no accident."""
    plain = unicodedata.normalize("NFKC", text[: _MOST * 10])
    found = {each.strip(_EDGE) for each in _BETWEEN.split(plain)}
    long = (each for each in found if len(each) >= _NAME)
    names = (part for each in long for part in _SLASHES.split(each))
    whole = {each for each in names if _is_name(each)}
    parts = {part for each in whole for part in each.split("/") if _is_name(part)}
    return frozenset(whole | parts)


def _is_name(piece: str) -> bool:
    return len(piece) >= _NAME and (is_reference(piece) or "-" in piece[1:])


def _slot(one: Wording, other: Wording) -> tuple[str, str] | None:
    """The two fillings, where all other pieces are equal and in order."""
    if len(one.pieces) != len(other.pieces) or len(one.pieces) < 2:  # noqa: PLR2004
        return None
    differing = [(a, b) for a, b in zip(one.pieces, other.pieces, strict=True) if a != b]
    if len(differing) != 1:
        return None
    first, second = differing[0]
    return None if _stem(first.lower()) == _stem(second.lower()) else (first, second)


def _numbers(tokens: frozenset[str]) -> bool:
    return any(each[0].isdigit() for each in tokens)


def _stem(token: str) -> str:
    return token[:-1] if len(token) >= _STEM and token.endswith("s") else token
