"""A pure verdict over cells, and its renderers. It never runs anything."""

from pytest_tripwire.gate import render
from pytest_tripwire.gate.verdict import Row, Verdict, decide

__all__ = ["Row", "Verdict", "decide", "render"]
