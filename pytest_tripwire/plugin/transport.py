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


#: What was collected, before anything was deselected.
PLANNED = pytest.StashKey[list[list[str]]]()
AGENT = pytest.StashKey[str]()
CALL = pytest.StashKey[CallEnd]()
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


def attach(item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
    """Put on a report what has to be known of it elsewhere. The plan goes with the setup report,
    which arrives even when the worker dies in the test; cells go with the call's, as a plugin that
    runs a failed test again keeps that of the teardown to itself.
    """
    if call.when == "setup":
        if call.excinfo:
            forget(item)
        setattr(report, PLANNED_ON_REPORT, [*_once(item.config), *_own(item)])
        return
    if call.when == "call":
        note_end(item, call)
        if DESK in item.stash:
            item.stash[CELLS] = item.stash[DESK].close(item.stash[CALL])
    judged = item.stash.get(CELLS, None)
    if judged is not None:
        setattr(report, ON_REPORT, [_encoded(cell) for cell in judged])
        setattr(report, ROUND_ON_REPORT, cells.round_of(item))


def forget(item: pytest.Item) -> None:
    """Forget how an earlier attempt at the same test ended."""
    keys: tuple[pytest.StashKey[Any], ...] = (CALL, DESK, CELLS, EXCUSED)
    for key in keys:
        if key in item.stash:
            del item.stash[key]


def note_end(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Keep how the body of a test ended."""
    item.stash[CALL] = CallEnd(call.excinfo.value if call.excinfo else None)


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


def decode(report: Any) -> list[Cell]:
    """The cells that a report brought. Loads nothing for a report without any."""
    texts = getattr(report, ON_REPORT, None)
    if not texts:
        return []
    import msgspec

    from pytest_tripwire.oracle import Cell

    return [msgspec.json.decode(text, type=Cell) for text in texts]
