"""Judges a run from the world's events alone. It never asks the breaker."""

from pytest_tripwire.oracle.cell import SEVERITY, Broken, Cell, State, worst
from pytest_tripwire.oracle.checks import CHECKS
from pytest_tripwire.oracle.judge import judge
from pytest_tripwire.oracle.observation import Ended, Observation, StopClaim
from pytest_tripwire.oracle.text import timeline_text

__all__ = [
    "CHECKS",
    "SEVERITY",
    "Broken",
    "Cell",
    "Ended",
    "Observation",
    "State",
    "StopClaim",
    "judge",
    "timeline_text",
    "worst",
]
