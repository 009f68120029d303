"""The verdict as a workflow command, by which GitHub Actions marks a job.

Source of the format and of what has to be written otherwise in it: GitHub's documentation, workflow
commands, setting an error message.
"""

from __future__ import annotations

from pytest_tripwire.gate.render import word
from pytest_tripwire.gate.text import flat, short
from pytest_tripwire.gate.verdict import Verdict

#: Rows that are named; the rest is counted.
_NAMED = 10


def error(verdict: Verdict) -> str:
    """One line, for the verdict as a whole."""
    failing = [row for row in verdict.worst_first if not row.state.passes]
    lines = [f"{row.state}: {flat(row.agent)} on {flat(row.case)}" for row in failing[:_NAMED]]
    if len(failing) > _NAMED:
        lines.append(f"and {len(failing) - _NAMED} more")
    lines += [short(problem) for problem in verdict.problems]
    return f"::error title=tripwire gate::{_escaped(chr(10).join([word(verdict), *lines]))}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
