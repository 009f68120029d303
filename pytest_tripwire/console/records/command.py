"""`agent-tripwire records`: opens the store, and does what is asked."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

from pytest_tripwire.breaker.clock import SystemClock
from pytest_tripwire.console.records.acting import close, hand_over, resolve
from pytest_tripwire.console.records.desk import Desk, RefusedError, again
from pytest_tripwire.console.records.listing import counted, listed
from pytest_tripwire.console.records.options import (
    VARIABLE,
    Closing,
    Counting,
    Listing,
    Resolving,
    Showing,
    Wanted,
    What,
)
from pytest_tripwire.console.records.showing import shown
from pytest_tripwire.console.records.text import cell, hushed, note
from pytest_tripwire.gate.text import flat
from pytest_tripwire.ledger import (
    Store,
    StoreError,
    StoreFullError,
    StoreLockedError,
    StoreReadOnlyError,
    open_store,
)
from pytest_tripwire.ledger.lost import adopt, missing
from pytest_tripwire.replay.command import FAILED, OK, Streams
from pytest_tripwire.replay.options import UsageError

#: What could not be read and is named.
_NAMED = 10


def opened(url: str) -> Store:
    """The store at an address; see `open_store` of the ledger. None is made: whoever mistypes its
    name would be told that nothing was ever interrupted.

    Raises:
        UsageError: there is no such store, and cannot be.
    """
    if url == "memory:":
        raise UsageError("a store in memory ends with its process; name one that others can open")
    if (path := sqlite_file(url)) is not None and not path.exists():
        raise UsageError(f"there is no store {flat(str(path))}: no such file")
    try:
        return open_store(url)
    except ValueError as error:
        raise UsageError(hushed(str(error), url)) from None


def sqlite_file(url: str) -> Path | None:
    """The file that an address names, if it names one by its path."""
    kind, _, rest = url.partition(":///")
    path = rest.partition("?")[0]
    named = kind.partition("+")[0] == "sqlite" and path and not path.startswith("file:")
    return Path(path) if named else None


def breaker_time() -> float:
    """Seconds on the clock of a breaker that was given none."""
    return SystemClock().now()


def execute(
    wanted: Wanted,
    streams: Streams,
    *,
    opening: Callable[[str], Store] = opened,
    now: Callable[[], float] = breaker_time,
    environment: Mapping[str, str] = os.environ,
) -> int:
    """Do what is wanted; the exit status.

    Args:
        wanted: what the user asks for.
        streams: where to write.
        opening: opens the store at an address.
        now: seconds on the clock of the breakers that use the store.
        environment: names the store where the command line does not.

    Raises:
        UsageError: nobody says where the store is, or who the operator is.
    """
    url = wanted.store or environment.get(VARIABLE, "")
    if not url:
        raise UsageError(
            f"say where the store is: --store sqlite:////var/lib/app/tripwire.db, or in {VARIABLE}"
        )
    try:
        with closing(opening(url)) as store:
            desk = Desk(store=store, now=now(), streams=streams, again=again(wanted.store))
            try:
                _take_in(desk)
                _do(desk, wanted.what)
            finally:
                _tell_unread(desk)
    except (StoreError, RefusedError) as error:
        note(streams, hushed(str(error), url))
        return FAILED
    return OK


def _take_in(desk: Desk) -> None:
    """Whoever may only read the store can look at what is in it all the same."""
    try:
        adopt(desk.store, desk.now)
    except (StoreReadOnlyError, StoreFullError, StoreLockedError) as error:
        number = missing(desk.store, desk.now)
        desk.note(f"runs whose worker has died and that are missing here: {number}. {error}")


def _tell_unread(desk: Desk) -> None:
    """What is missing in what was shown, and why: nobody is to take it for all that there is."""
    left_out = desk.store.unread.told()
    if left_out:
        desk.note(f"{len(left_out)} of what this store holds cannot be read, and was left out:")
    for each in left_out[:_NAMED]:
        desk.note(f"  {cell(each, 400)}")
    if len(left_out) > _NAMED:
        desk.note(f"  and {len(left_out) - _NAMED} more")


def _do(desk: Desk, what: What) -> None:
    match what:
        case Listing():
            listed(desk, what)
        case Showing():
            shown(desk, what)
        case Resolving():
            resolve(desk, what)
        case Closing():
            close(desk, what)
        case Counting():
            counted(desk, what)
        case _:
            hand_over(desk, what)
