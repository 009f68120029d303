"""Report files, as the sub-commands take them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pytest_tripwire.gate import Entry, Evidence, Report
from pytest_tripwire.gate.merge import MixedReportsError, merge
from pytest_tripwire.gate.report import ReportError, decode
from pytest_tripwire.replay.command import Streams
from pytest_tripwire.replay.options import UsageError


def merged(paths: Sequence[Path]) -> tuple[Evidence, tuple[Entry, ...] | None]:
    """What all of them know, and their baseline. Raises UsageError for what does not belong
    together, or is no report.
    """
    try:
        return merge([(str(path), _report(path)) for path in paths])
    except MixedReportsError as error:
        raise UsageError(f"these reports do not belong together:\n{error}") from None


def _report(path: Path) -> Report:
    try:
        return decode(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except ReportError as error:
        raise UsageError(f"{path}: {error}") from None


def say(streams: Streams, lines: Sequence[str]) -> None:
    """Write lines, in UTF-8 whatever the locale says."""
    streams.stdout.write("".join(f"{line}\n" for line in lines).encode())
