"""What models and tools have written breaks no table and no terminal; what is in no record is not
printed.
"""

from __future__ import annotations

import functools
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.console.records.text import quoted
from pytest_tripwire.guard.token import decode
from pytest_tripwire.ledger import MemoryLedger
from pytest_tripwire.timeline import (
    Became,
    BudgetLine,
    DenialNote,
    InterruptionRecord,
    SeenVersion,
    StepNote,
    WriteEntry,
    WriteStatus,
)

from .records_story import Operator, entry, keep, lose_a_refund, read_by_bash, record

ATTACKS = {
    "a new line": "x\n::error title=a::b",
    "a return": "x\r::set-output name=a::b",
    "a command alone": "::add-mask::b",
    "a command of Azure": "##vso[task.setvariable variable=a]b",
    "another of Azure": "x ##[error]b",
    "a colour": "\x1b[31mred\x1b[2J",
    "a title": "\x1b]0;owned\x07",
    "a single character": "\x9b31m",
    "a text read backwards": "a\u202egpj.exe\u2066",
    "what has no width": "a\u200bb\u00adc\ufeff",
    "half a pair": "a\ud800b",
    "a line separator": "a\u2028b\u2029c\x85d",
    "quotes": "'; rm -rf / #\"$(id)`id`",
    "an option": "--help",
    "nothing but space": " \t ",
    "a long text": "x" * 5000,
}


def planted(text: str) -> tuple[InterruptionRecord, tuple[WriteEntry, ...]]:
    """A record of which every text is hostile."""
    writes = (
        entry(f"{text}k", text, tool=text, kind=text, resource=text, intent=text, seq=1),
        entry(f"{text}l", text, tool=text, status=WriteStatus.CONFIRMED, result_id=text, seq=2),
    )
    names = (
        "tenant", "workflow", "message", "last_intent", "request_id", "parent", "agent", "policy",
        "last_resource", "business_version", "inputs", "continues", "last_tool",
    )  # fmt: skip
    made = record(
        text,
        writes=writes,
        budgets=(BudgetLine(name=text, limit=1, spent=1, remaining=0),),
        versions=(SeenVersion(resource=text, version=text),),
        denials=(
            DenialNote(
                kind=text, resource=text, rules=(text, text), tool=text, intents=(), refused=1
            ),
        ),
        steps=(StepNote(seq=1, at_s=1.0, what=text, tool=text, outcome=text, reason=text),),
        **dict.fromkeys(names, text),
    )
    return made, writes


def operator_over(text: str) -> Operator:
    operator = Operator(MemoryLedger())
    made, writes = planted(text)
    keep(operator.ledger, made, *writes)
    return operator


def demand_harmless(operator: Operator) -> None:
    for line in [*operator.out.split("\n"), *operator.err.split("\n")]:
        assert line.isprintable(), repr(line)
        assert not re.match(r"\s*::", line), line
        assert not re.search(r"##\w*\[", line), line


def shape(operator: Operator) -> list[int]:
    return [len(operator.out.split("\n")), len(operator.err.split("\n"))]


def commands(run: str, key: str) -> list[tuple[str, ...]]:
    who = ("--operator", "x")
    return [
        ("list",), ("list", "--json"), ("show", "--", run), ("show", "--json", "--", run),
        ("resume-token", *who, "--", run), ("resume-token", "--read-only", *who, "--", run),
        ("resolve", "--as", "rejected", *who, "--", run, f"{key}l"), ("stats",),
        ("stats", "--json"), ("resolve", "--as", "confirmed", *who, "--", run, key),
        ("resolve", "--as", "confirmed", f"--result-id={key}", *who, "--", run, f"{key}k"),
        ("close", "--token-version", "9", *who, "--", run), ("close", *who, "--", run),
        ("close", *who, "--", run), ("list", "--all"), ("show", "--", f"{run}nope"),
        ("show", "--", run),
    ]  # fmt: skip


@functools.cache
def of_harmless_text() -> list[tuple[int, list[int]]]:
    """How each of the commands ends, and how many lines it prints."""
    plain = operator_over("plain")
    return [(plain(*argv), shape(plain)) for argv in commands("plain", "plain")]


@pytest.mark.parametrize("name", ATTACKS)
def test_no_text_breaks_a_line_or_a_terminal(name: str) -> None:
    """Line for line the same as with a harmless text."""
    text = ATTACKS[name]
    hostile = operator_over(text)

    for expected, bad in zip(of_harmless_text(), commands(text, text), strict=True):
        ended = hostile(*bad)
        demand_harmless(hostile)
        if name == "half a pair" and bad[0] == "resume-token":
            assert ended == 1  # no line can name it
            continue
        assert (ended, shape(hostile)) == expected, (bad, hostile.err)


@pytest.mark.parametrize("name", ATTACKS)
def test_the_commands_that_are_offered_reach_the_run_all_the_same(name: str) -> None:
    if name == "half a pair":
        pytest.skip("no terminal can be given one")
    operator = operator_over(ATTACKS[name])

    operator("show", "--", ATTACKS[name])
    offered = operator.offered()
    assert [each[0] for each in offered] == ["show", "resolve", "resolve", "resume-token", "close"]
    for argv in offered:
        fresh = operator_over(ATTACKS[name])
        assert fresh(*argv) == 0, (argv, fresh.err)


@pytest.mark.parametrize("name", ATTACKS)
def test_who_the_operator_is_and_what_is_typed_is_told_harmlessly(name: str) -> None:
    text = ATTACKS[name]
    who = text if text.strip() else "x"
    operator = Operator(MemoryLedger())
    keep(operator.ledger, record(), entry("k-1"))

    assert operator("show", "--", text) == 1
    demand_harmless(operator)
    assert operator("resolve", "run-1", f"--operator={who}", "--as=confirmed") == 0
    demand_harmless(operator)
    assert operator("resume-token", "run-1", f"--operator={who}") == 0
    assert decode(operator.out).run_id == "run-1"
    assert operator("close", "run-1", f"--operator={who}") == 0
    demand_harmless(operator)
    operator("list", "--all")
    demand_harmless(operator)


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20))
def test_a_word_is_what_it_was_to_a_shell(text: str) -> None:
    word = quoted(text)

    assert word.isprintable()
    assert read_by_bash(f"true {word}")[1:] == [text]


def test_only_what_a_record_holds_is_printed() -> None:
    """The write of the run was given a card number, and failed with a password in its message."""
    operator = Operator(MemoryLedger())
    lose_a_refund(operator.ledger)

    for argv in commands("run-1", "run-1-key"):
        operator(*argv)
        for secret in ("4111", "hunter2", "once more"):
            assert secret not in operator.out + operator.err


@pytest.mark.parametrize("at", [1e300, -1e300, float("inf"), float("nan")])
def test_a_time_that_is_none_stops_nothing(at: float) -> None:
    ledger: Any = MemoryLedger(now=lambda: at)
    operator = Operator(ledger)
    keep(ledger, record(at=at, elapsed_s=at))
    ledger.end("run-1", 1, Became.CLOSED, operator="ada")

    assert operator("list", "--all") == 0
    assert operator("show", "run-1") == 0


def test_a_long_text_leaves_the_table_a_table() -> None:
    operator = operator_over(ATTACKS["a long text"])

    operator("list")
    assert len(operator.lines) == 2
    assert max(map(len, operator.lines)) < 300
