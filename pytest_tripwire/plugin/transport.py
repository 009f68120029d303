"""How cells get from the test that made them to the process that reports them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_tripwire.plugin import cells

if TYPE_CHECKING:
    from pytest_tripwire.oracle import Cell
    from pytest_tripwire.plugin.handle import Desk


class CallEnd:
    """How the body of a test ended: `error` is None if it passed."""

    __slots__ = ("error", "skipped")

    def __init__(self, error: BaseException | None) -> None:
        self.error = error
        self.skipped = isinstance(error, pytest.skip.Exception)


class Attempt:
    """One try at a test. A hook of the project's may try a test again and log the last try only."""

    __slots__ = ("called", "cells", "failed")

    def __init__(self) -> None:
        self.cells: list[str] = []
        #: Whether its body has come to its end.
        self.called = False
        self.failed = False


#: What was collected, before anything was deselected.
PLANNED = pytest.StashKey[list[list[str]]]()
#: What of it is about one test.
PLAN = pytest.StashKey[list[str]]()
AGENT = pytest.StashKey[str]()
CALL = pytest.StashKey[CallEnd]()
#: Set while the body of a test is under way.
BODY = pytest.StashKey[bool]()
#: What the first part of a test that failed has raised, as subtests do without failing the body.
PART = pytest.StashKey[BaseException]()
ATTEMPTS = pytest.StashKey[list[Attempt]]()
#: Set by what has to know, at its end, how the body of its test ended.
AWAITED = pytest.StashKey[bool]()
#: The desk of a test that is under way.
DESK: pytest.StashKey[Desk] = pytest.StashKey()
CELLS = pytest.StashKey[tuple["Cell", ...]]()
#: Set where the baseline excuses what a test was judged for.
EXCUSED = pytest.StashKey[bool]()

#: Attributes on reports. xdist carries plain values of these over to the controller.
ON_REPORT = "tripwire_cells"
PLANNED_ON_REPORT = "tripwire_planned"
ROUND_ON_REPORT = "tripwire_round"
#: Whether an earlier attempt failed, and whether this is about a part of a test.
AGAIN_ON_REPORT = "tripwire_again"
PART_ON_REPORT = "tripwire_part"


def attach(item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
    """Put on a report what has to be known of it elsewhere: the cells of all attempts so far, as
    those before this one may not have been logged. The plan goes with the setup report, which
    arrives even when the worker dies in the test; cells go with the call's, as a plugin that runs
    a failed test again keeps that of the teardown to itself.
    """
    attempt = _attempt(item, call)
    if call.when == "setup":
        if call.excinfo:
            forget(item)
        setattr(report, PLANNED_ON_REPORT, [*_once(item.config), *_own(item)])
    if call.when == "call":
        note_end(item, call)
        if DESK in item.stash:
            item.stash[CELLS] = item.stash[DESK].close(item.stash[CALL])
    if call.when != "setup":
        attempt.cells = [_encoded(cell) for cell in item.stash.get(CELLS, ())]
    all_ = item.stash[ATTEMPTS]
    setattr(report, ON_REPORT, [each.cells for each in all_])
    setattr(report, ROUND_ON_REPORT, cells.round_of(item))
    setattr(report, AGAIN_ON_REPORT, any(each.failed for each in all_[:-1]))


def _attempt(item: pytest.Item, call: pytest.CallInfo[None]) -> Attempt:
    """The attempt that a phase belongs to. A body that comes again is another one, with or without
    a set-up of its own.
    """
    all_ = item.stash.setdefault(ATTEMPTS, [])
    if call.when == "setup" or not all_ or (call.when == "call" and all_[-1].called):
        all_.append(Attempt())
    all_[-1].called |= call.when == "call"
    return all_[-1]


def note_outcome(item: pytest.Item, report: pytest.TestReport) -> None:
    """Keep whether an attempt has failed, once all is settled that may excuse it."""
    item.stash[ATTEMPTS][-1].failed |= report.failed


def note_part(item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
    """Keep how a part of a test ended. It is not the test: that may fail yet, or be lost."""
    setattr(report, PART_ON_REPORT, True)
    if report.failed and call.excinfo:
        item.stash.setdefault(PART, call.excinfo.value)


def forget(item: pytest.Item) -> None:
    """Forget how an earlier attempt at the same test ended."""
    keys: tuple[pytest.StashKey[Any], ...] = (CALL, DESK, CELLS, EXCUSED)
    for key in keys:
        if key in item.stash:
            del item.stash[key]


def note_end(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Keep how the body of a test ended. One of which a part has failed did not end well."""
    raised = call.excinfo.value if call.excinfo else None
    item.stash[CALL] = CallEnd(item.stash.get(PART, raised))


def _once(config: pytest.Config) -> list[list[str]]:
    """The whole plan, with the first report of a process only: it may be long."""
    plan = config.stash.get(PLANNED, [])
    config.stash[PLANNED] = []
    return plan


def _own(item: pytest.Item) -> list[list[str]]:
    """The plan of one test, now that its agent is known."""
    plan, agent = cells.planned(item), item.stash.get(AGENT, "")
    return [[agent, plan[1], item.nodeid]] if plan and agent and not plan[0] else []


def _encoded(cell: Cell) -> str:
    import msgspec

    return msgspec.json.encode(cell).decode()


def attempts(report: Any) -> list[list[Cell]]:
    """The cells that a report brought, by attempt. Loads nothing for a report without any."""
    found: list[list[str]] | None = getattr(report, ON_REPORT, None)
    return [[_decoded(text) for text in texts] for texts in found] if found else []


def decode(report: Any) -> list[Cell]:
    """The cells of the attempt that a report is about."""
    found: list[list[str]] = getattr(report, ON_REPORT, None) or [[]]
    return [_decoded(text) for text in found[-1]]


def _decoded(text: str) -> Cell:
    import msgspec

    from pytest_tripwire.oracle import Cell

    return msgspec.json.decode(text, type=Cell)
