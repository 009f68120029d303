"""A pure verdict over cells, and its renderers. It never runs anything."""

from pytest_tripwire.gate import render
from pytest_tripwire.gate.baseline import BaselineError, Entry, parse, read
from pytest_tripwire.gate.evidence import Evidence, Judged, NotApplicable, Planned
from pytest_tripwire.gate.report import Report
from pytest_tripwire.gate.rows import Row
from pytest_tripwire.gate.standing import Standing
from pytest_tripwire.gate.verdict import Verdict, decide

__all__ = [
    "BaselineError",
    "Entry",
    "Evidence",
    "Judged",
    "NotApplicable",
    "Planned",
    "Report",
    "Row",
    "Standing",
    "Verdict",
    "decide",
    "parse",
    "read",
    "render",
]
