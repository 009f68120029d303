"""The values that every part speaks, and the timeline that orders them."""

from pytest_tripwire.timeline.call import (
    ALLOW,
    Decision,
    Mode,
    Outcome,
    Status,
    ToolCall,
    Verdict,
)
from pytest_tripwire.timeline.events import (
    AnyEvent,
    BreakerEvent,
    Decided,
    Delivery,
    Dispatch,
    Event,
    ModeChange,
    ModelRequest,
    Mutation,
    Reconciled,
    Settled,
    WorldEvent,
)
from pytest_tripwire.timeline.reasons import Family, Reason
from pytest_tripwire.timeline.record import BudgetLine, InterruptionRecord, SafeAction
from pytest_tripwire.timeline.recorder import Timeline, Writer, from_json, to_json
from pytest_tripwire.timeline.spec import DEFAULT_VOLATILE, Effect, Reconciler, ToolSpec
from pytest_tripwire.timeline.writes import WriteEntry, WriteStatus

__all__ = [
    "ALLOW",
    "DEFAULT_VOLATILE",
    "AnyEvent",
    "BreakerEvent",
    "BudgetLine",
    "Decided",
    "Decision",
    "Delivery",
    "Dispatch",
    "Effect",
    "Event",
    "Family",
    "InterruptionRecord",
    "Mode",
    "ModeChange",
    "ModelRequest",
    "Mutation",
    "Outcome",
    "Reason",
    "Reconciled",
    "Reconciler",
    "SafeAction",
    "Settled",
    "Status",
    "Timeline",
    "ToolCall",
    "ToolSpec",
    "Verdict",
    "WorldEvent",
    "WriteEntry",
    "WriteStatus",
    "Writer",
    "from_json",
    "to_json",
]
