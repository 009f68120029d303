"""One story of the matrix: lives that end badly, one that does not, and what is left of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from pytest_tripwire.breaker.fingerprint import resource_of
from pytest_tripwire.ledger import open_store
from pytest_tripwire.ledger.lost import adopt, writes_of
from pytest_tripwire.ledger.store import Store, Wanted
from pytest_tripwire.timeline import InterruptionRecord, WriteEntry, WriteStatus

from .agent import PAY, Life
from .worker import End
from .world import Line, lines_of

UNSETTLED = {WriteStatus.UNKNOWN, WriteStatus.IN_FLIGHT}
#: Seconds from one life to the next: every lease of the one is over.
LONG = 10_000.0


class Lived(msgspec.Struct, frozen=True, kw_only=True):
    """A life, and what there was before it.

    Args:
        life: what it was to do.
        end: how it ended.
        open_before: orders of which a write stood unsettled in the store before it, and until when
            somebody answers for it.
        done_before: how many lines the world's file had before it.
        adopted: runs of which somebody took the records in before it.
    """

    life: Life
    end: End
    open_before: dict[str, float]
    done_before: int
    adopted: tuple[str, ...]


class Case:
    """One piece of work, in one store, with one world.

    Args:
        name: unlike that of any other case of the store.
        url: of the store.
        folder: for the world's file.
        do: makes a process live a life.
    """

    def __init__(
        self, name: str, url: str, folder: Path, do: Callable[[Sequence[Life]], list[End]]
    ) -> None:
        self.name = name
        self.url = url
        self.world = folder / f"{name}.world"
        self.lived: list[Lived] = []
        self._do = do

    @cached_property
    def store(self) -> Store:
        """As somebody sees it who looks, and lives. Whoever opens a new one makes its tables."""
        return open_store(self.url)

    def close(self) -> None:
        if "store" in self.__dict__:
            self.store.close()

    def life(self, **asked: Any) -> Life:
        """The next life of this case, long after the one before."""
        number = len(self.lived) + 1
        given = {"name": f"{self.name}.{number}", "starts_at": number * LONG}
        return Life(
            **{**given, "store": self.url, "world": str(self.world), "case": self.name, **asked}
        )

    def live(self, *, look: bool = True, **asked: Any) -> End:
        """Live one more life. Somebody takes in what was lost before it, if they `look`."""
        life = self.life(**asked)
        adopted = adopt(self.store, life.starts_at) if self.lived and look else ()
        open_before = self.unsettled() if self.lived else {}
        done = len(lines_of(self.world))
        (end,) = self._do([life])
        self.lived.append(
            Lived(
                life=life,
                end=end,
                open_before=open_before,
                done_before=done,
                adopted=tuple(each.run_id for each in adopted),
            )
        )
        return end

    def crowd(self, lives: Sequence[Life]) -> list[End]:
        """Live several at once."""
        return self._do(lives)

    # -- what is left

    @property
    def lines(self) -> list[Line]:
        return lines_of(self.world)

    def orders(self) -> list[str]:
        return sorted({order for each in self.lived for order in each.life.orders})

    def entries(self) -> list[tuple[str, WriteEntry]]:
        """Every write of the case, and the order it is about."""
        tenant = self.life().tenant
        return [
            (order, entry)
            for order in self.orders() or self.life().orders
            for entry in self.store.of_resource(resource_of({"order": order}, PAY, tenant))
        ]

    def unsettled(self) -> dict[str, float]:
        return {
            order: entry.lease_until or 0.0
            for order, entry in self.entries()
            if entry.status in UNSETTLED
        }

    def records(self) -> list[InterruptionRecord]:
        return list(self.store.records(Wanted(tenant=self.life().tenant)))

    # -- for whoever has to find out what went wrong

    def story(self, problems: Iterable[str] = ()) -> str:
        now = self.life().starts_at
        entries, records = self.entries(), self.records()
        known = {each.run_id: writes_of(self.store, each, now) for each in records}
        return "\n".join(
            [
                f"{self.name} ({self.url})",
                *(f"  WRONG: {each}" for each in problems),
                "lives:",
                *(line for number in range(len(self.lived)) for line in self._told(number)),
                "the store's writes:",
                *(f"  {order}: {_entry(entry)}" for order, entry in entries),
                "the store's records:",
                *(
                    f"  {each.run_id} v{each.token_version} {each.reason} {each.mode} "
                    f"ended={each.ended_as}: {[f'{w.key} {w.status}' for w in known[each.run_id]]}"
                    for each in records
                ),
            ]
        )

    def _told(self, number: int) -> list[str]:
        lived, lines = self.lived[number], self.lines
        after = self.lived[number + 1].done_before if number + 1 < len(self.lived) else len(lines)
        life, end = lived.life, lived.end
        told = json.dumps(msgspec.to_builtins(end.account)) if end.account else end.error
        where = f"on {life.machine or 'this machine'}{', in tasks' if life.in_tasks else ''}"
        return [
            f"  {life.name} at {life.starts_at:.0f} s {where} ({life.plot}, world {life.manner})",
            f"    to end at {life.point}: {end.state} {end.where}",
            f"    of itself: {told}",
            f"    before: unsettled {sorted(lived.open_before)}, adopted {list(lived.adopted)}",
            *(f"    the world's file: {_line(each)}" for each in lines[lived.done_before : after]),
        ]


def _line(line: Line) -> str:
    return f"{line.at:.0f} s {line.life} {line.what} {line.order} id={line.id} key={line.key[:8]}"


def _entry(entry: WriteEntry) -> str:
    return (
        f"{entry.key} of run {entry.run_id}: {entry.status} id={entry.result_id} sent at "
        f"{entry.dispatched_at:.0f} s, lease to {entry.lease_until} s, "
        f"reconciled={entry.reconciled}, came back={entry.came_back}"
    )
