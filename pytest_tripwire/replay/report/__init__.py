"""Says what came of a replay: for people, or as JSON."""

from pytest_tripwire.replay.report.as_json import JsonReport
from pytest_tripwire.replay.report.as_text import TextReport
from pytest_tripwire.replay.report.reporter import Report

__all__ = ["JsonReport", "Report", "TextReport"]
