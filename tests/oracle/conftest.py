"""What the tests of the oracle share: traces by hand, and what is claimed of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_tripwire.oracle import Ended, Observation, StopClaim
from pytest_tripwire.timeline import (
    Delivery,
    Dispatch,
    Effect,
    InterruptionRecord,
    Mode,
    ModelRequest,
    Mutation,
    Reason,
    WorldEvent,
)


class Trace:
    """Writes a trace; every event gets the next number."""

    def __init__(self) -> None:
        self.events: list[WorldEvent] = []

    def write(self, resource: str = "order A-1001") -> int:
        return self._dispatch("issue_refund", "write", Effect.WRITE, resource)

    def read(self, resource: str = "order A-1001") -> int:
        return self._dispatch("get_refund", "status", Effect.READ, resource)

    def lands(self, dispatch: int, resource: str = "order A-1001") -> int:
        return self._add(Mutation, dispatch=dispatch, resource=resource, version=2)

    def asked(self) -> int:
        return self._add(ModelRequest, conversation="c", turn=0, says="proposes write")

    def told(self, dispatch: int, how: str = "ok") -> int:
        return self._add(Delivery, dispatch=dispatch, told=how)

    def lost(self, resource: str = "order A-1001") -> int:
        """A write that lands and whose answer is lost."""
        dispatch = self.write(resource)
        self.lands(dispatch, resource)
        self.told(dispatch, "lost")
        return dispatch

    def _dispatch(self, tool: str, role: str, effect: Effect, resource: str) -> int:
        return self._add(Dispatch, tool=tool, role=role, effect=effect, resource=resource)

    def _add(self, kind: Any, **fields: Any) -> int:
        self.events.append(kind(seq=len(self.events) + 1, **fields))
        return len(self.events)


@pytest.fixture
def trace() -> Trace:
    return Trace()


RECORD = InterruptionRecord(
    run_id="r",
    tenant="",
    workflow="",
    mode=Mode.READ_ONLY,
    reason=Reason.UNKNOWN_SIDE_EFFECT,
    message="",
    evidence=(),
    budgets=(),
    last_intent="",
    last_resource="",
    business_version="",
    elapsed_s=0.0,
    writes=(),
    safe_actions=(),
)


@pytest.fixture
def seen(trace: Trace) -> Callable[..., Observation]:
    """What is seen of the trace; `stopped` puts a recorded stop at a place."""

    def observe(
        stopped: int = 0, reason: Reason = Reason.UNKNOWN_SIDE_EFFECT, **fields: Any
    ) -> Observation:
        stop = StopClaim(seq=stopped, reason=reason) if stopped else None
        base: dict[str, Any] = {
            "events": tuple(trace.events),
            "ended": Ended.INTERRUPTED if stop else Ended.ANSWERED,
            "stop": stop,
            "record": RECORD if stop else None,
        }
        return Observation(**{**base, **fields})

    return observe
