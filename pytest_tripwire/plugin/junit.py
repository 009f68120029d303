"""What JUnit's XML says of cells: properties of each test, and of the session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_tripwire.plugin import transport

if TYPE_CHECKING:
    import pytest

    from pytest_tripwire.gate import Verdict
    from pytest_tripwire.oracle import Cell

_PREFIX = "tripwire."


def note(item: pytest.Item) -> None:
    """Put the cells of a test among its properties, which any report may show."""
    own: list[tuple[str, Any]] = [
        each for each in item.user_properties if not str(each[0]).startswith(_PREFIX)
    ]
    for cell in item.stash.get(transport.CELLS, ()):
        own += _properties(cell, excused=transport.EXCUSED in item.stash)
    item.user_properties[:] = own


def _properties(cell: Cell, *, excused: bool) -> list[tuple[str, str]]:
    state = "known failing" if excused and cell.state != "contained" else cell.state
    told = {
        "agent": cell.agent,
        "case": cell.case,
        "state": state,
        "reason": cell.reason or "",
        "protection": cell.protection,
    }
    # Plain texts alone travel from a worker.
    return [(f"{_PREFIX}{name}", str(value)) for name, value in told.items()]


def tell(config: pytest.Config, verdict: Verdict) -> None:
    """Put the verdict among the properties of the session, where JUnit's XML is written."""
    from pytest_tripwire.gate.render import gate

    word, *reasons = gate(verdict)
    for plugin in config.pluginmanager.get_plugins():
        add = getattr(plugin, "add_global_property", None)
        if callable(add):
            add(f"{_PREFIX}gate", word)
            for number, reason in enumerate(reasons, 1):
                add(f"{_PREFIX}gate.{number}", reason.strip())
