"""What the baseline says of a test: a known failure is an expected one, as pytest's own `xfail`
has it, and strict.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_tripwire.plugin import transport

if TYPE_CHECKING:
    from pytest_tripwire.gate import Entry
    from pytest_tripwire.oracle import Cell

_FILE = "tripwire-baseline.toml"

#: The baseline's entries; not there without a baseline.
BASELINE = pytest.StashKey[tuple["Entry", ...]]()
#: How many tests there are for each agent and case.
SIBLINGS = pytest.StashKey["Counter[tuple[str, str]]"]()


def today() -> dt.date:
    """The day, where the machine is."""
    return dt.date.today()  # noqa: DTZ011 - people write the days of a baseline by their calendar


def path(config: pytest.Config) -> Path | None:
    """The baseline file; None where there is none. Raises UsageError for one that is named and
    not there.
    """
    named = config.getini("tripwire_baseline")
    found = config.rootpath / (named or _FILE)
    if found.is_file():
        return found
    if named:
        raise pytest.UsageError(f"ini tripwire_baseline = {named!r}: there is no file {found}")
    return None


def load(config: pytest.Config) -> None:
    """Read the baseline. Raises UsageError (exit code 4) with all that is wrong with it."""
    file = path(config)
    if file is None:
        return
    from pytest_tripwire.cases.catalogue import case_problem
    from pytest_tripwire.gate import BaselineError, read

    try:
        _, entries = read(file, today=today(), case_problem=case_problem)
    except BaselineError as error:
        lines = "".join(f"\n  {line}" for line in str(error).splitlines())
        raise pytest.UsageError(f"{file}:{lines}") from None
    config.stash[BASELINE] = entries


def siblings(plans: Iterable[Sequence[str]]) -> Counter[tuple[str, str]]:
    """How many tests there are for each agent and case, as far as is known before they run."""
    return Counter((agent, case) for agent, case, *_ in plans)


def excuse(item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
    """Turn a report on a cell that the baseline knows into what it is worth: a failure that it
    excuses is expected, and success where it expects a failure fails.
    """
    entries = item.config.stash.get(BASELINE, ())
    judged = item.stash.get(transport.CELLS, ())
    # A part that failed is reported by itself, and nothing excuses that.
    if call.when != "call" or not entries or not judged or transport.PART in item.stash:
        return
    error = call.excinfo.value if call.excinfo else None
    bad = [cell for cell in judged if cell.state != "contained"]
    reasons = [_reason(cell, entries) for cell in bad]
    if bad and all(reasons) and _is_ours(error):
        item.stash[transport.EXCUSED] = True
        report.outcome = "skipped"
        report.wasxfail = reasons[0]
    elif not bad and error is None:
        _fixed(item, judged, entries, report)


def _is_ours(error: BaseException | None) -> bool:
    from pytest_tripwire.harness import TripwireFailure

    return error is None or isinstance(error, TripwireFailure)


def _reason(cell: Cell, entries: Sequence[Entry]) -> str:
    """Why a cell is excused; empty if it is not."""
    known = {each.check: each for each in entries if each.key == (cell.agent, cell.case)}
    broken = [known.get(each.check) for each in cell.broken]
    late = any(each is not None and each.expired(today()) for each in broken)
    first = broken[0] if broken else None
    return f"known failing {first.why}" if first and None not in broken and not late else ""


def _fixed(
    item: pytest.Item, judged: Sequence[Cell], entries: Sequence[Entry], report: pytest.TestReport
) -> None:
    """Fail a test that is the only one of a cell which is known to fail, and does not. Of several
    one may fail yet, which the gate knows.
    """
    for cell in judged:
        for each in entries:
            if each.key == (cell.agent, cell.case) and _is_alone(item, cell):
                report.outcome = "failed"
                report.longrepr = (
                    f"[XPASS(strict)] {cell.agent} on {cell.case} is contained, and the baseline "
                    f"says that it fails {each.why}. Take the entry out: `agent-tripwire baseline "
                    "--prune REPORT`, or by hand"
                )


def _is_alone(item: pytest.Item, cell: Cell) -> bool:
    found = item.config.stash.get(SIBLINGS, Counter())
    perhaps = [(agent, case) for agent in (cell.agent, "") for case in (cell.case, "")]
    return sum(found[each] for each in perhaps) <= 1
