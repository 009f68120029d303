"""Report files, as the sub-commands take them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pytest_tripwire import __version__
from pytest_tripwire.cases.catalogue import CASE_IDS, CATALOGUE_VERSION
from pytest_tripwire.gate import Report
from pytest_tripwire.gate.consistent import Installed, disagreements, stranger
from pytest_tripwire.gate.merge import Merged, MixedReportsError, merge
from pytest_tripwire.gate.report import ReportError, decode
from pytest_tripwire.gate.text import flat, inert
from pytest_tripwire.replay.command import Streams
from pytest_tripwire.replay.options import UsageError

_INSTALLED = Installed(version=__version__, catalogue_version=CATALOGUE_VERSION, catalogue=CASE_IDS)


def merged(paths: Sequence[Path], *, expected: int | None = None) -> Merged:
    """What all of them come to; a file that is named twice is one. Raises UsageError for what does
    not belong together, is no report, or does not agree with itself.
    """
    files = {path.resolve(): path for path in paths}.values()
    try:
        return merge([(str(path), _report(path)) for path in files], expected=expected)
    except MixedReportsError as error:
        raise UsageError(f"these reports do not belong together:\n{error}") from None


def _report(path: Path) -> Report:
    try:
        found = decode(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except ReportError as error:
        raise UsageError(f"{path}: {error}") from None
    if problem := stranger(found, _INSTALLED):
        raise UsageError(f"{path}: {inert(flat(problem))}")
    if wrong := disagreements(found):
        lines = "\n".join(inert(f"  {flat(each)}") for each in wrong)
        raise UsageError(
            f"{path}: this report does not agree with itself, so it is damaged or was edited; "
            f"make it again:\n{lines}"
        )
    return found


def say(streams: Streams, lines: Sequence[str]) -> None:
    """Write lines, in UTF-8 whatever the locale says."""
    streams.stdout.write("".join(f"{line}\n" for line in lines).encode())
