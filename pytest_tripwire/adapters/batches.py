"""All calls of one message of the model: decided about as one, and then made.

Every one is decided about before the first is made, in order, so that of the same write twice one
is made. What ends a message early takes back those that were let through and never begun; those
that were begun keep what is known of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from pytest_tripwire.adapters.bridge import Bridge, Native
from pytest_tripwire.adapters.outcomes import aoutcome, in_tasks, in_threads, outcome
from pytest_tripwire.timeline import ToolCall, Verdict


def in_order(bridge: Bridge, calls: Sequence[ToolCall], native: Native) -> list[Any]:
    """Make the calls of a message one after the other.

    Args:
        bridge: has taken the tools in; its run decides.
        calls: of one message, in its order.
        native: runs a tool by its name.

    Returns:
        In the same order, each call's result or refusal, or the exception that its tool has raised.
    """
    with _message(bridge, calls, bridge.decide_batch(calls, native)) as message:
        return [outcome(each) for each in message.works(native)]


async def ain_order(bridge: Bridge, calls: Sequence[ToolCall], native: Native) -> list[Any]:
    """The same as a task, under asyncio or trio."""
    with _message(bridge, calls, await bridge.adecide_batch(calls, native)) as message:
        return [await aoutcome(each) for each in message.aworks(native)]


def side_by_side(bridge: Bridge, calls: Sequence[ToolCall], native: Native) -> list[Any]:
    """Make the calls of a message at once, in threads. Takes and returns what `in_order` does."""
    with _message(bridge, calls, bridge.decide_batch(calls, native)) as message:
        return in_threads(message.works(native))


async def aside_by_side(bridge: Bridge, calls: Sequence[ToolCall], native: Native) -> list[Any]:
    """The same as tasks, under asyncio or trio. Where it is cancelled, those that are under way are
    cancelled and settled.
    """
    with _message(bridge, calls, await bridge.adecide_batch(calls, native)) as message:
        return await in_tasks(message.aworks(native))


class _Message:
    """The calls of one message, each with its verdict."""

    def __init__(
        self, bridge: Bridge, calls: Sequence[ToolCall], verdicts: Sequence[Verdict]
    ) -> None:
        self._bridge = bridge
        self._decided = list(zip(calls, verdicts, strict=True))
        self._begun: set[int] = set()

    def works(self, native: Native) -> list[partial[Any]]:
        return [partial(self._make, place, native) for place in range(len(self._decided))]

    def aworks(self, native: Native) -> list[partial[Any]]:
        return [partial(self._amake, place, native) for place in range(len(self._decided))]

    def _make(self, place: int, native: Native) -> Any:
        self._begun.add(place)
        return self._bridge.carry_out(*self._decided[place], native)

    async def _amake(self, place: int, native: Native) -> Any:
        self._begun.add(place)
        return await self._bridge.acarry_out(*self._decided[place], native)

    def take_back(self, error: BaseException) -> None:
        """Those that were let through and not begun, when `error` has ended the message early."""
        for place, (call, verdict) in enumerate(self._decided):
            if verdict.allowed and place not in self._begun:
                try:
                    self._bridge.run.withdraw(call)
                except Exception as second:  # noqa: BLE001 - whatever the ledger raises
                    error.add_note(
                        f"and {call.tool} ({call.call_id}) could not be taken back: {second!r}"
                    )


@contextmanager
def _message(
    bridge: Bridge, calls: Sequence[ToolCall], verdicts: Sequence[Verdict]
) -> Iterator[_Message]:
    message = _Message(bridge, calls, verdicts)
    try:
        yield message
    except BaseException as error:
        message.take_back(error)
        raise
