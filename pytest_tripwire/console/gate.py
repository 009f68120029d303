"""`agent-tripwire gate`: read reports, judge them as one, and say so."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Mapping

from pytest_tripwire.console.gate_options import Wanted
from pytest_tripwire.console.reports import merged, say
from pytest_tripwire.gate import decide, outputs, render
from pytest_tripwire.gate.report import report
from pytest_tripwire.replay.command import FAILED, OK, Streams


def execute(
    wanted: Wanted,
    streams: Streams,
    *,
    today: dt.date,
    environment: Mapping[str, str] = os.environ,
) -> int:
    """Put reports together and judge them as one; the exit status.

    Raises:
        UsageError: for files that are no reports, or do not belong together.
    """
    found = merged(wanted.reports, expected=wanted.expect)
    verdict = decide(found.evidence, today=today, baseline=found.baseline)
    lines = [] if wanted.quiet else [line for _, line in render.table(verdict, whole=True)]
    lines += render.gate(verdict)
    whole = report(verdict, found.evidence, day=today, baseline=found.baseline, origin=found.origin)
    problems = [
        outputs.written(path, content)
        for path, content in outputs.files(verdict, whole, json=wanted.report, html=wanted.html)
    ]
    problems.append(outputs.summary(environment, verdict))
    unwritten = [each for each in problems if each]
    if marked := outputs.annotation(environment, verdict):
        lines.append(marked)
    say(streams, [*lines, *(f"error: {each}" for each in unwritten)])
    return OK if verdict.passed and not unwritten else FAILED
