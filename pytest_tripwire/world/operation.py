"""One thing that the business can do, whatever a team calls the tool for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import msgspec

from pytest_tripwire.timeline import Effect
from pytest_tripwire.world.records import Record, Records
from pytest_tripwire.world.roles import Role, Slot

Slots: TypeAlias = Mapping[str, Any]


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """What an operation did.

    Args:
        result: what the caller is told.
        changed: the record that it changed, None for a read.
        shown: the record that it read, so that it is known which version the caller has seen.
        empty: whether it says that there is nothing.
        note: the same in a few words, for the timeline.
    """

    result: Any
    changed: Record | None = None
    shown: Record | None = None
    empty: bool = False
    note: str = ""


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """A part that a tool can play.

    Args:
        role: the part's name.
        effect: whether it reads, writes or hands off.
        kind: operation class, as in `ToolSpec.operation`.
        act: does it.
        about: the business's own name of what it acts on.
        default: the tool that plays it where a team names none.
        result_id: field of the result that carries the id of what was written.
        result_version: field of the result that carries the record's version.
        poll: whether waiting with it is normal.
        can_diagnose: whether it may be used once to see why nothing moves.
        needs: meanings that a role has to give to an argument, as without them it acts on nothing.
        about_all: whether a tool may do without them that has no argument left for them: it is
            about the task as a whole.
        tells: meanings by which good work is told from going round. Where a script gives one, some
            tool has to take it.
        targets: to whom the standard scripts turn. Of several tools that are offered, the first
            target is played by the first one, and so on.
    """

    role: str
    effect: Effect
    kind: str
    act: Callable[[Records, Slots], Done]
    about: Callable[[Slots], str]
    default: Role
    result_id: str | None = None
    result_version: str | None = None
    poll: bool = False
    can_diagnose: bool = False
    needs: tuple[Slot, ...] = ()
    about_all: bool = False
    tells: tuple[Slot, ...] = ()
    targets: tuple[str, ...] = ()
