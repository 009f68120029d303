"""What the text of an error proves, and when two texts tell of one error."""

from __future__ import annotations

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_tripwire.breaker.failures import (
    is_doubtful,
    names,
    proves_nothing_happened,
    same_error,
)

#: Refusals before the work began, as tools really word them.
PROOFS = (
    "Validation failed: amount must be positive",
    "400 Bad Request: field 'to' is required",
    "Invalid argument: unknown currency EUX",
    "404 Not Found",
    "No such file: notes.txt",
    "Order O-17 does not exist",
    "The order doesn't exist",
    "403 Forbidden",
    "Permission denied",
    "401 Unauthorized: token expired",
    "Rate limit exceeded, retry later",
    "429 Too Many Requests",
    "Quota exhausted for today",
    "409: already exists",
    "The ticket is already closed",
    "String to replace not found in file",
    "Found 0 matches for the old text",
    "old_str is not unique in the file",
    "Missing required parameter: path",
    "Unknown tool: frobnicate",
    "Unsupported option --frob",
    "Malformed JSON in arguments",
    "Syntax error in query near FROM",
    "expected number but got string",
    "The message was not sent: no recipient",
    "Nothing was written",
    "Transaction rolled back",
    "Insufficient funds",
    "The file is read-only",
    "Value out of range",
    "The name is too long",
    "could not resolve account 'anna'",
)
DOUBTS = (
    "Request timed out",
    "timeout",
    "Deadline exceeded",
    "Connection reset by peer",
    "connection closed before the answer",
    "socket hang up",
    "unexpected EOF",
    "Broken pipe",
    "Network is down",
    "fetch failed",
    "503 Service Unavailable",
    "502 Bad Gateway",
    "504",
    "Internal Server Error",
    "The operation was aborted",
    "lost the answer",
    "no response from upstream",
    "worker crashed",
    "killed by signal 9",
    "partial write",
    "failed after 30 s",
)
NEITHER = ("Something went wrong", "Error", "", "oops: 17", "unexpected failure", "fatal")


# -- what proves that nothing happened


@pytest.mark.parametrize("text", PROOFS)
def test_refusal_before_the_work_is_a_proof(text: str) -> None:
    assert proves_nothing_happened(text)
    assert proves_nothing_happened(text.upper())


@pytest.mark.parametrize("text", DOUBTS)
def test_lost_time_and_broken_connections_are_doubt(text: str) -> None:
    assert is_doubtful(text)
    assert not proves_nothing_happened(text)


@pytest.mark.parametrize("text", NEITHER)
def test_what_says_nothing_proves_nothing(text: str) -> None:
    assert not proves_nothing_happened(text)
    assert not is_doubtful(text)


@given(st.sampled_from(PROOFS), st.sampled_from(DOUBTS), st.sampled_from([": ", ". ", "\n"]))
def test_doubt_outweighs_proof(proof: str, doubt: str, between: str) -> None:
    assert not proves_nothing_happened(f"{proof}{between}{doubt}")
    assert not proves_nothing_happened(f"{doubt}{between}{proof}")


@pytest.mark.parametrize(
    "text",
    ["429 too many requests, retry after 30", "Rate limit: try again after 5 s"],
)
def test_when_to_come_again_is_no_doubt(text: str) -> None:
    assert proves_nothing_happened(text)


@given(st.text(max_size=50), st.sampled_from(DOUBTS))
def test_no_text_around_it_takes_doubt_away(around: str, doubt: str) -> None:
    assert not proves_nothing_happened(f"{around} {doubt} {around}")


# -- one error


def variants(number: int) -> list[str]:
    """One error each, with all that changes from one time to the next."""
    mark = uuid.UUID(int=(number + 1) * 7919**6)
    hexadecimal = f"0bad{number:06x}"
    return [
        f"Request {mark} failed",
        f"failed at 2026-01-{number % 28 + 1:02}T10:{number % 60:02}:00Z",
        f"broken at 10:{number % 60:02}:0{number % 10}",
        f"took {number}.5 seconds and failed",
        f"waited {number} ms and failed",
        f"object at 0x{number + 4096:x} failed",
        f"commit {hexadecimal} failed",
        f"attempt {number} of 5 failed",
        f"try #{number} failed",
        f"request_id=req-{number} failed",
        f"trace id: t{number} failed",
        f"record {1000000 + number} failed",
        f"FAILED:   record {1000000 + number}",
    ]


@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_what_passes_makes_no_other_error(one: int, other: int) -> None:
    assert [same_error(text) for text in variants(one)] == [
        same_error(text) for text in variants(other)
    ]


def test_those_are_errors_of_their_own() -> None:
    kinds = {same_error(text) for text in variants(7)}

    assert len(kinds) == len(variants(7))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("field name is required", "field mail is required"),
        ("404 not found", "403 forbidden"),
        ("order O-17 not found", "order O-18 not found"),
        ("line 10: expected ;", "line 12: expected ;"),
        ("3 failed, 5 passed", "2 failed, 6 passed"),
        ("cannot open a.txt", "cannot open b.txt"),
    ],
)
def test_what_matters_makes_another_error(one: str, other: str) -> None:
    assert same_error(one) != same_error(other)


def test_letter_case_space_and_width_make_no_other_error() -> None:
    assert same_error("Not  Found:\t\uff58") == same_error("not found: x")


@given(st.text(max_size=5_000))
def test_class_of_an_error_is_short(text: str) -> None:
    assert len(same_error(text)) <= 300


@given(st.text(alphabet="ab cde\n", max_size=2_000), st.text(alphabet="xyz", max_size=50))
def test_what_stands_far_behind_is_no_part_of_it(text: str, tail: str) -> None:
    start = "error " + "word " * 300

    assert same_error(start + text) == same_error(start + text + tail)


# -- declared failures


@pytest.mark.parametrize("text", ["Refused", "error: Refused.", "REFUSED by desk", "(refused)"])
def test_declared_failure_is_named(text: str) -> None:
    assert names(text, "Refused")


@pytest.mark.parametrize("text", ["RefusedLater", "unrefused", "refuse d", "", "refused_by"])
def test_part_of_a_word_names_nothing(text: str) -> None:
    assert not names(text, "Refused")


def test_declared_failure_is_no_pattern() -> None:
    assert names("code a.b here", "a.b")
    assert not names("code axb here", "a.b")
