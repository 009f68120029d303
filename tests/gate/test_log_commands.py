"""No line that is printed is a command to the CI service that reads the log."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_tripwire.gate import Row, Standing, Verdict, render
from pytest_tripwire.gate.text import inert
from pytest_tripwire.oracle import Cell, State
from pytest_tripwire.timeline import Delivery, Dispatch, Effect

HOSTILE = (
    "::error::x",
    "::add-mask::harness",
    "::stop-commands::token",
    "::set-output name=x::y",
    "##[error]x",
    "###[add-mask]x",
    "##vso[task.setvariable variable=x]y",
    "\n::error::x",
    "\r ::error::x",
    "\x85::error::x",
    "a ##[error]x",
)
texts = st.sampled_from(HOSTILE) | st.text(":#[]\r\n\u2028 e", max_size=8)


def is_command(line: str) -> bool:
    """As the runner of GitHub Actions reads a line, and as Azure Pipelines does; more strictly, as
    it does not ask whether there is a command of this name.
    """
    newer = re.match(r"\s*::.*::", line)
    older = re.search(r"##(vso)?\[[^\]]*\]", line)
    return bool(newer or older)


def verdict(text: str) -> Verdict:
    """One in which everything that may be any text is this one."""
    events = (
        Dispatch(seq=1, tool=text, role=text, effect=Effect.READ, resource=text),
        Delivery(seq=2, dispatch=1, told=text, note=text),
    )
    cell = Cell(agent=text, case=text, state=State.ESCAPED, protection=text, events=events)
    row = Row(
        agent=text,
        case=text,
        state=Standing.ESCAPED,
        protection=text,
        detail=text,
        cell=cell,
    )
    return Verdict(rows=(row,), problems=(text,), notes=(text,), protections=(text,))


def printed(of: Verdict) -> list[str]:
    whole = [
        *(line for _, line in render.table(of, whole=True)),
        *render.gate(of),
        *render.timelines(of),
    ]
    # Whatever may end a line for whoever reads the log.
    return [line for text in whole for line in text.splitlines()]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_tried_would_be_a_command(text: str) -> None:
    assert any(is_command(line) for line in text.splitlines())


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(texts)
def test_no_text_of_agents_is_a_command(text: str) -> None:
    lines = printed(verdict(text))

    assert len(lines) > 6
    assert [line for line in lines if is_command(line)] == []


@pytest.mark.parametrize(
    "line", ["a::b", "tests/test_a.py::test_b[x]", "# 1", "##", "a: b", "item #12 [x]", "## x"]
)
def test_what_is_no_command_stays_as_it_is(line: str) -> None:
    assert inert(line) == line
