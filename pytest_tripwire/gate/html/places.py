"""Where things are on the page: each row and each event has one anchor, and links name no other."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from pytest_tripwire.gate.html.markup import Markup, el
from pytest_tripwire.gate.rows import Row
from pytest_tripwire.gate.verdict import Verdict


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A row and its number, from 1, in the verdict's order."""

    number: int
    row: Row

    @property
    def anchor(self) -> str:
        """The id of the row's details."""
        return f"row-{self.number}"

    def event(self, seq: int) -> str:
        """The id of one of its events."""
        return f"row-{self.number}-event-{seq}"

    def holds(self, seq: int) -> bool:
        """Whether there is such an event."""
        events = self.row.cell.events if self.row.cell is not None else ()
        return any(event.seq == seq for event in events)

    def link(self, seq: int) -> Markup | None:
        """An event's number, linked where there is one; None for 0, which stands for no event."""
        if not seq:
            return None
        if not self.holds(seq):
            return el("span", f"event {seq}")
        return el("a", f"event {seq}", href=f"#{self.event(seq)}")


def places(verdict: Verdict) -> tuple[Place, ...]:
    """Every row, in the verdict's order."""
    return tuple(Place(number=at, row=row) for at, row in enumerate(verdict.rows, 1))


def worst_first(all_: tuple[Place, ...]) -> Iterator[Place]:
    """The same in the order in which they have to be looked at."""
    yield from sorted(all_, key=lambda place: -place.row.state.weight)
