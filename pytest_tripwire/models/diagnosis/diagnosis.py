"""What is wrong with how an agent uses its model, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import TypeAlias

import msgspec

from pytest_tripwire.models.counters import Noted


class Kind(StrEnum):
    """What can be wrong."""

    REDELIVERED = "redelivered"
    AUXILIARY_ONLY = "auxiliary_only"
    TOOLS_DROPPED = "tools_dropped"
    FORCED_TOOL_CHOICE = "forced_tool_choice"
    TOOL_CHOICE_NONE = "tool_choice_none"
    MISSING_TOOL_RESULT = "missing_tool_result"
    MISSING_TOOL_CALL = "missing_tool_call"
    WITHHELD_TOOL = "withheld_tool"
    TOOLS_CHANGED = "tools_changed"
    HIDDEN_RETRY = "hidden_retry"
    MISSING_USAGE = "missing_usage"
    REFUSED_REQUEST = "refused_request"


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong, where it was seen first. It names tools and turns, never payloads.

    Args:
        kind: what it is.
        message: what is wrong, and where.
        remedy: what to change.
        request: the number of the model request that shows it, from 1; 0 where none does.
        seq: the event of the timeline that shows it; 0 where none does.
        subject: what it is about, such as a tool's name. Two of one kind and subject are one.
        times: how often it was seen.
    """

    kind: Kind
    message: str
    remedy: str
    request: int = 0
    seq: int = 0
    subject: str = ""
    times: int = 1

    @property
    def line(self) -> str:
        """All of it in one line, for people."""
        side = "below the model" if self.kind is Kind.REDELIVERED else "the model's side"
        place = f": request {self.request}" if self.request else ""
        often = f" ({self.times} times in all)" if self.times > 1 else ""
        return f"{side}{place}: {self.message}{often} -> {self.remedy}"


def once(found: Iterable[Diagnosis]) -> tuple[Diagnosis, ...]:
    """Each thing once, in order: where it was seen first, and how often."""
    known: dict[tuple[Kind, str], Diagnosis] = {}
    for each in found:
        place = (each.kind, each.subject)
        times = each.times + (known[place].times if place in known else 0)
        known[place] = msgspec.structs.replace(known.get(place, each), times=times)
    return tuple(known.values())


#: Looks for one kind in all model requests of a run, in their order.
Finding: TypeAlias = Callable[[Sequence[Noted]], Iterable[Diagnosis]]
