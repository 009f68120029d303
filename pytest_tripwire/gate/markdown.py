"""The verdict in Markdown, as GitHub shows it in the summary of a job."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_tripwire.gate.render import word
from pytest_tripwire.gate.rows import Row
from pytest_tripwire.gate.text import flat, short
from pytest_tripwire.gate.verdict import Verdict

#: Bytes that a summary may have; GitHub takes 1 MiB for all steps of a job.
LIMIT = 256 * 1024
_HEAD = "| state | agent | case | protection | detail |\n| --- | --- | --- | --- | --- |\n"
#: What would be markup, a mention, a formula, a small picture or an address.
_MARKUP = frozenset("\\`*_[]<>#|~&@:.$")


def markdown(verdict: Verdict) -> str:
    """The word, what is wrong, and a table with the worst first, cut where it is too long."""
    text = f"## {'✅' if verdict.passed else '❌'} {shown(word(verdict))}\n\n"
    text += "".join(f"- {shown(each)}\n" for each in verdict.problems)
    text += "".join(f"- note: {shown(each)}\n" for each in verdict.notes)
    text += f"\n{_HEAD}" if verdict.rows else ""
    rows = verdict.worst_first
    size = len(text.encode())
    for number, line in enumerate(map(_line, rows)):
        size += len(line.encode())
        if size > LIMIT:
            return f"{text}\n{len(rows) - number} more rows are in the report.\n"
        text += line
    return f"{text}\n"


def _line(row: Row) -> str:
    return f"| {' | '.join(_cells(row))} |\n"


def _cells(row: Row) -> Iterator[str]:
    yield f"**{row.state}**" if not row.state.passes else row.state.value
    yield shown(row.agent)
    yield shown(row.case)
    yield shown(row.protection) or "-"
    yield shown(short(row.detail))


def shown(text: str) -> str:
    """Any text, as it stands: nothing in it is markup, and it stays in its line."""
    line = flat(text)
    # What begins a line may make a list or a rule of it.
    begins = line[:1] if line[:1].isalnum() else f"&#{ord(line[0])};" if line else ""
    return begins + "".join(f"&#{ord(each)};" if each in _MARKUP else each for each in line[1:])
