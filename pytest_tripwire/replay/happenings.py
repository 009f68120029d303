"""What happened to a recorded run besides its calls, told to the breaker."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from pytest_tripwire.breaker.emptiness import finds_nothing
from pytest_tripwire.breaker.outside import Outside
from pytest_tripwire.replay.trace import EVENT_MARK, TraceStep
from pytest_tripwire.timeline import ToolCall, WriteStatus

#: Calls that are remembered, for events that refer to them by their step.
_CALLS = 1024
#: Arguments of an event that name what was changed, and the version that it had.
_RESOURCES = ("resource", "id", "name", "path", "file", "key")
_BEFORE = ("from", "was", "before", "old")
_FAILED = frozenset({"failed", "declined", "rejected", "cancelled", "canceled", "not found"})
_REQUESTS = ("request_id", "message_id", "request", "message", "task")


class Happenings:
    """Takes the events of a trace.

    Args:
        outside: the run's way to take them.
    """

    def __init__(self, outside: Outside) -> None:
        self._outside = outside
        self._calls: OrderedDict[str, ToolCall] = OrderedDict()
        self._runs = itertools.count(2)

    def settled(self, call: ToolCall, step: TraceStep) -> None:
        """Remember a call; if it was the authoritative read of a write, settle that."""
        self._calls[call.call_id] = call
        if len(self._calls) > _CALLS:
            self._calls.popitem(last=False)
        write = self._calls.get(str(step.reconciles))
        if write is not None and step.authoritative and step.outcome.status == "ok":
            absent = finds_nothing(step.outcome.result) or _tells_of_failure(step.outcome.result)
            self._outside.resolve(write, WriteStatus.REJECTED if absent else WriteStatus.CONFIRMED)

    def take(self, step: TraceStep) -> None:
        """Tell of one event."""
        kind = (step.event or step.tool).removeprefix(EVENT_MARK)
        if step.elapsed_s:
            self._outside.parked(step.elapsed_s)
        if kind == "user_message":
            self._outside.user_message()
        elif kind == "external_change":
            self._outside.changed(_first(step.args, _RESOURCES), was=_first(step.args, _BEFORE))
        elif kind == "approve":
            self._approve(step.args)
        elif kind in {"crash", "resume"}:
            self._outside.taken_up(f"replay-{next(self._runs)}")
            self._outside.policy_is(str(step.args.get("policy_version") or ""))
        elif kind == "new_run":
            named = _first(step.args, _REQUESTS)
            self._outside.begun(f"replay-{next(self._runs)}", request_id=named)

    def _approve(self, args: Mapping[str, Any]) -> None:
        call_id = str(args.get("call", ""))
        seen, call = args.get("args_seen"), self._calls.get(call_id)
        if isinstance(seen, Mapping) and call is not None and dict(seen) != dict(call.arguments):
            self._outside.park(
                ToolCall(call_id=call_id, tool=call.tool, arguments=dict(seen), agent=call.agent)
            )
        self._outside.approve(
            call_id,
            expires_s=_seconds(args.get("expires_s")),
            version=str(args.get("resource_version") or ""),
            policy=str(args.get("policy_version") or ""),
        )


def _tells_of_failure(result: Any) -> bool:
    """Whether an authoritative read shows that the write has failed for good."""
    states = [result.get(name) for name in ("status", "state")] if isinstance(result, dict) else []
    return any(isinstance(each, str) and each.casefold() in _FAILED for each in states)


def _first(args: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((str(args[name]) for name in names if args.get(name) is not None), "")


def _seconds(value: Any) -> float | None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if number else None
