"""The line that an operator's command hands to the application."""

from __future__ import annotations

import base64
import hashlib
import json
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_tripwire.breaker import Resume
from pytest_tripwire.guard.token import Token, decode, encode
from pytest_tripwire.timeline import SafeAction

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
TOKEN = Token(run_id="run-7", token_version=3, read_only=True, made_by="ada")


def forged(body: bytes, *, version: str = "1") -> str:
    """A line of the right form, with any content."""
    text = base64.urlsafe_b64encode(body).decode().rstrip("=")
    return f"tripwire-resume.{version}.{text}.{hashlib.sha256(text.encode()).hexdigest()[:8]}"


@given(st.builds(Token, run_id=TEXT, token_version=st.integers(1, 2**53), made_by=TEXT))
def test_what_was_meant_is_read_again(token: Token) -> None:
    text = encode(token)

    assert text.isascii()
    assert text.isprintable()
    assert not set(text) & set(" '\"$`\\")
    assert decode(text) == token


def test_it_asks_for_what_it_says_and_whoever_hands_it_in_says_who_asks() -> None:
    wanted = Resume.from_token(
        encode(TOKEN), operator="grace", workflow="refunds@4", inputs="order@8"
    )

    assert wanted == Resume(
        run_id="run-7",
        token_version=3,
        operator="grace",
        workflow="refunds@4",
        inputs="order@8",
        read_only=True,
    )
    assert wanted.action is SafeAction.RESUME_READ_ONLY


def test_a_mail_that_breaks_it_into_lines_does_no_harm() -> None:
    assert decode("\n  ".join(textwrap.wrap(encode(TOKEN), 20)) + "\r\n") == TOKEN


def test_no_slip_of_the_hand_makes_another_token() -> None:
    text = encode(TOKEN)

    for number, character in enumerate(text):
        changed = text[:number] + ("A" if character != "A" else "B") + text[number + 1 :]
        for damaged in (changed, text[:number], text[:number] + text[number + 1 :]):
            with pytest.raises(ValueError, match="resume token"):
                decode(damaged)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "this is no resume token"),
        ("4711", "this is no resume token"),
        ("eyJhbGciOiJIUzI1NiJ9.e30.c2ln", "this is no resume token"),
        ("tripwire-resume", "this is no resume token"),
        ("x" * 100_000, "this is no resume token"),
        ("tripwire-resume.2.of.another.form", "has version 2, and this release"),
        ("tripwire-resume.999999999.x", "has version 999999999"),
        (f"tripwire-resume.{'9' * 5000}.x.y", "is damaged: its version is no number"),
        ("tripwire-resume.x.y.z", "is damaged: its version is no number"),
        ("tripwire-resume.1.y", "is damaged: a part of it is missing"),
        (forged(b"{}"), "is damaged: Object missing required field"),
        (forged(b"[1"), "is damaged"),
        (forged(b"\xff\xfe"), "is damaged"),
        (forged(b'{"run_id":"a","token_version":"1"}'), "is damaged: Expected `int`"),
        (forged(b'{"run_id":"a","token_version":1,"operator":"root"}'), "unknown field"),
        (forged(b"[" * 4000), "is damaged"),
    ],
)
def test_anything_else_is_told_apart(text: str, told: str) -> None:
    with pytest.raises(ValueError, match="resume token") as caught:
        Resume.from_token(text, operator="ada")

    assert told in str(caught.value)


@pytest.mark.parametrize("text", [None, 7, b"tripwire-resume"])
def test_what_is_no_text_is_a_value_error_too(text: object) -> None:
    with pytest.raises(ValueError, match="a resume token is text, not "):
        decode(text)  # type: ignore[arg-type]


def test_it_holds_nothing_but_what_it_says() -> None:
    body = encode(TOKEN).split(".")[2]

    assert json.loads(base64.urlsafe_b64decode(body + "===")) == {
        "run_id": "run-7", "token_version": 3, "read_only": True, "made_by": "ada",
    }  # fmt: skip
