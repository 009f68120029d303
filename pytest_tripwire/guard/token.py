"""What an operator's command hands to the application that takes a run up again, as one line.

It is no secret and grants nothing: it says which run is meant, and at which version of its record.
Who may take it up is asked when it is used.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re

import msgspec

#: Tells a token from other text, whatever its version.
_NAME = "tripwire-resume"
VERSION = 1
#: Characters; a token has some hundreds.
_MOST = 8192
_CHECK = 8
_VERSION = re.compile(r"[1-9][0-9]{0,8}")


class Token(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is meant.

    Args:
        run_id: the interrupted run.
        token_version: of its record, as whoever made this has seen it.
        read_only: whether it is to go on without writing.
        made_by: who made this, as they have called themselves: for logs, as nobody has checked it.
    """

    run_id: str
    token_version: int
    read_only: bool = False
    made_by: str = ""


def encode(token: Token) -> str:
    """One line without spaces: name, version, JSON in base64url, and a checksum of it."""
    body = base64.urlsafe_b64encode(msgspec.json.encode(token)).decode().rstrip("=")
    return f"{_NAME}.{VERSION}.{body}.{_check(body)}"


def decode(text: str) -> Token:
    """The token that `encode` has made; spaces and line ends in it are passed over.

    Raises:
        ValueError: it is damaged, is none, or was made by a later release.
    """
    if not isinstance(text, str):
        raise ValueError(f"a resume token is text, not {type(text).__name__}")  # noqa: TRY004 - one error for all that is no token
    name, *rest = _pieces(text)
    if name != _NAME or not rest:
        raise ValueError(
            "this is no resume token: hand in the line that `agent-tripwire records resume-token` "
            f"has printed, which begins with {_NAME}."
        )
    if not _VERSION.fullmatch(rest[0]):
        raise _damaged("its version is no number")
    if int(rest[0]) > VERSION:
        raise ValueError(
            f"this resume token has version {rest[0]}, and this release of pytest-agent-tripwire "
            f"reads versions up to {VERSION}. Install the release that made it, or a later one"
        )
    return _read(rest[1:])


def _pieces(text: str) -> list[str]:
    return "".join(text[: _MOST + 1].split()).split(".") if len(text) <= _MOST else [""]


def _read(pieces: list[str]) -> Token:
    if len(pieces) != 2 or _check(pieces[0]) != pieces[1]:  # noqa: PLR2004 - body and checksum
        raise _damaged("a part of it is missing, or was changed")
    try:
        data = base64.b64decode(f"{pieces[0]}{'=' * (-len(pieces[0]) % 4)}", "-_", validate=True)
        return msgspec.json.decode(data, type=Token)
    except (binascii.Error, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _damaged(str(error)) from None


def _check(body: str) -> str:
    """Tells a slip of the hand, not a forgery: there is nothing to forge."""
    return hashlib.sha256(body.encode("utf-8", "replace")).hexdigest()[:_CHECK]


def _damaged(why: str) -> ValueError:
    return ValueError(
        f"this resume token is damaged: {why}. Copy the whole line that was printed, or make it "
        "again with `agent-tripwire records resume-token`"
    )
