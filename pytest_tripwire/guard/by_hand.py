"""Deciding about calls, for loops that run their tools themselves, and for everything else."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from pytest_tripwire.breaker.controller import Controller
from pytest_tripwire.breaker.port import Clock
from pytest_tripwire.breaker.reconcile import Reconcile
from pytest_tripwire.guard.away import away
from pytest_tripwire.guard.roads import Steps, adrive, deciding, deciding_all, drive, take_back
from pytest_tripwire.guard.settling import settling
from pytest_tripwire.guard.tasks import attempt_of
from pytest_tripwire.guard.toolbox import Toolbox
from pytest_tripwire.timeline import Outcome, ToolCall, Verdict


class ByHand:
    """Decides about calls and takes them back; part of `BreakerRun`."""

    _controller: Controller
    _clock: Clock
    _toolbox: Toolbox

    def decide(self, call: ToolCall) -> Verdict:
        """Decide about a call that you run yourself; `settle` it if it was allowed. A lost write
        is reconciled first where its spec names a sync read.
        """
        return drive(self._deciding(call, ""), self._read, self._clock)

    async def adecide(self, call: ToolCall) -> Verdict:
        """The same as a task, where the read may be async too."""
        return await self._adecided(call, "")

    def decide_batch(self, calls: Sequence[ToolCall]) -> list[Verdict]:
        """Decide about all calls of one message of the model, for loops that see it whole. They
        share a turn, and are decided in order, those let through being under way: of the same write
        twice one is let through, and no budget gives more than it has. Returns a verdict for each,
        in the same order; `settle` those that were allowed.

        Whatever is raised, by a store that fails or by a cancellation, none of them is under way.
        """
        return drive(self._deciding_all(calls), self._read, self._clock)

    async def adecide_batch(self, calls: Sequence[ToolCall]) -> list[Verdict]:
        """The same as a task."""
        undo = partial(take_back, self._controller, calls) if self._waits(*calls) else None
        return await adrive(self._deciding_all(calls), self._aread, self._clock, undo)

    def withdraw(self, call: ToolCall) -> None:
        """Say that a call which `decide` allowed is not made after all, and never was begun. It
        gives back what it held. Raises KeyError for any other call.
        """
        self._controller.withdraw(call)

    def idempotency_key(self, call: ToolCall) -> str | None:
        """The key to send along with a write that `decide` allowed: the same for every attempt at
        it in this piece of work, so that whoever gets it twice knows; None for what does not write.
        A guarded tool gets it by its `key_argument`. Raises KeyError for any other call.
        """
        return self._controller.key_of(call)

    async def _adecided(self, call: ToolCall, problem: str) -> Verdict:
        undo = partial(self._not_made, call) if self._waits(call) else None
        return await adrive(self._deciding(call, problem), self._aread, self._clock, undo)

    def _waits(self, *calls: ToolCall) -> bool:
        """Whether deciding about these may wait for a disk or a network."""
        return any(self._controller.waits_for_store(call.tool) for call in calls)

    async def _unhindered(self, call: ToolCall, verdict: Verdict) -> None:
        """Return when no other write of the run is being told to the store, so that the loop does
        not wait for it. A call whose task is cancelled meanwhile was never begun.
        """
        while self._controller.is_telling:
            await away(self._controller.let_tell, lambda _: self._not_made(call, verdict))

    def _not_made(self, call: ToolCall, verdict: Verdict) -> None:
        take_back(self._controller, [call], [verdict])

    def _read(self, request: Reconcile) -> Outcome:
        with settling(self._controller.family, request.entry.key):
            return self._toolbox.read(request)

    async def _aread(self, request: Reconcile) -> Outcome:
        with settling(self._controller.family, request.entry.key):
            return await self._toolbox.aread(request)

    def _deciding(self, call: ToolCall, problem: str) -> Steps[Verdict]:
        attempt = attempt_of(self._controller.family)
        return deciding(
            self._controller, call, self._toolbox.narrowed, problem=problem, attempt=attempt
        )

    def _deciding_all(self, calls: Sequence[ToolCall]) -> Steps[list[Verdict]]:
        attempt = attempt_of(self._controller.family)
        return deciding_all(self._controller, tuple(calls), self._toolbox.narrowed, attempt)
