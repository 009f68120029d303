"""The events of a run. The world and the breaker write different kinds; nobody writes both."""

from __future__ import annotations

from decimal import Decimal

import msgspec

from pytest_tripwire.timeline.call import Decision, Mode, Status
from pytest_tripwire.timeline.reasons import Reason
from pytest_tripwire.timeline.spec import Effect
from pytest_tripwire.timeline.writes import WriteStatus


class Event(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Something that happened. `seq` counts from 1 over the run; `at` is seconds on its clock."""

    seq: int = 0
    at: float = 0.0


class WorldEvent(Event, frozen=True, kw_only=True, tag=True):
    """Written by the fake business and the model server alone: what the oracle may see."""


class BreakerEvent(Event, frozen=True, kw_only=True, tag=True):
    """Written by the breaker alone: for people who read a timeline, never for the oracle. `run_id`
    is the run that it happened in. `shadow`: the run is only watched, so this was recorded and
    stopped nothing.
    """

    run_id: str = ""
    shadow: bool = False


class Dispatch(WorldEvent, frozen=True, kw_only=True, tag="dispatch"):
    """A tool's body was entered. `resource` is the business's own name of what is acted on."""

    tool: str
    role: str
    effect: Effect
    resource: str


class Delivery(WorldEvent, frozen=True, kw_only=True, tag="delivery"):
    """What the caller was told of a dispatch: `ok`, `empty`, `lost`, `denied`, `error` or
    `cancelled`. `version` is the business version that it was shown, 0 if none.
    """

    dispatch: int
    told: str
    note: str = ""
    version: int = 0


class Mutation(WorldEvent, frozen=True, kw_only=True, tag="mutation"):
    """The business changed, whatever the caller was told."""

    dispatch: int
    resource: str
    version: int
    note: str = ""


class ExternalChange(WorldEvent, frozen=True, kw_only=True, tag="external_change"):
    """Somebody else changed a record."""

    resource: str
    version: int
    note: str = ""


class Resumption(WorldEvent, frozen=True, kw_only=True, tag="resumption"):
    """An operator let the interrupted agent go on."""

    decision: str


#: What a held-back request `says`: nobody has answered it, and nobody pays for it.
UNASKED = "is not asked"


class ModelRequest(WorldEvent, frozen=True, kw_only=True, tag="model_request"):
    """A request that the model server answered. `conversation` tells parallel agents apart;
    `proposes` names the tools that the answer calls, each as often as it does.
    """

    conversation: str
    turn: int
    says: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: Decimal = Decimal(0)
    proposes: tuple[str, ...] = ()


class Decided(BreakerEvent, frozen=True, kw_only=True, tag="decided"):
    """A verdict about one proposed call. In a run that is only watched the call ran anyway."""

    call_id: str
    tool: str
    decision: Decision
    reason: Reason | None
    mode: Mode


class Settled(BreakerEvent, frozen=True, kw_only=True, tag="settled"):
    """What the breaker took the outcome of a dispatched call for."""

    call_id: str
    tool: str
    status: Status


class Reconciled(BreakerEvent, frozen=True, kw_only=True, tag="reconciled"):
    """What the authoritative read said about a write whose answer was lost."""

    tool: str
    status: WriteStatus


class ModeChange(BreakerEvent, frozen=True, kw_only=True, tag="mode"):
    """The run entered another mode than `was`. Its record was stored before this was told.
    `evidence` names the events that it rests on. In a run that is only watched, the mode is the one
    that it would have entered.
    """

    reason: Reason
    mode: Mode
    was: Mode = Mode.OPEN
    evidence: tuple[int, ...] = ()


class CircuitOpened(BreakerEvent, frozen=True, kw_only=True, tag="circuit_opened"):
    """A tool is left alone for a while, or, without a `circuit`, every tool. `errors` is how many
    turns in a row had failed.
    """

    circuit: str
    reason: Reason
    errors: int = 0
    evidence: tuple[int, ...] = ()


class ChildBegun(BreakerEvent, frozen=True, kw_only=True, tag="child_begun"):
    """A sub-agent begins to work for the run, as a run of its own whose id is `child`."""

    child: str
    agent: str = ""


class BudgetAlert(BreakerEvent, frozen=True, kw_only=True, tag="budget_alert"):
    """A budget passed the share at which somebody should know; told once for each dimension."""

    name: str
    spent: float
    limit: float


class Nudged(BreakerEvent, frozen=True, kw_only=True, tag="nudged"):
    """A result was handed on with a hint, one step before the run would be stopped."""

    call_id: str
    reason: Reason


class Finished(BreakerEvent, frozen=True, kw_only=True, tag="finished"):
    """The run ended in one of the five terminal states."""

    state: str
    detail: str = ""


AnyEvent = (
    Dispatch
    | Delivery
    | Mutation
    | ExternalChange
    | Resumption
    | ModelRequest
    | Decided
    | Settled
    | Reconciled
    | ModeChange
    | CircuitOpened
    | ChildBegun
    | BudgetAlert
    | Nudged
    | Finished
)
