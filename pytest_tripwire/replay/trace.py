"""A recorded run, as replay feeds it to a breaker, whatever format it was read from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from pytest_tripwire.timeline import Decision, Effect, Reason

#: A step whose tool begins with this is no call but something that happened to the run.
EVENT_MARK = "@"
#: The event of a model request that proposed no call, such as the one that gave the answer.
MODEL_REQUEST = "@model_request"
#: The event of a user's message that a run of several begins anew with.
USER_MESSAGE = "@user_message"
#: Steps of one trace, expanded, and of one `repeat`. More are a slip of the pen.
MOST_STEPS = 10_000_000
#: US dollars. More are a slip of the pen as well, and would overflow sums.
MOST_MONEY = Decimal(10) ** 9

# Bounds hold where a trace is read.
Count = Annotated[int, Meta(ge=0, le=2**53)]
Seconds = Annotated[float, Meta(ge=0, le=1e12)]
Repeat = Annotated[int, Meta(ge=1, le=MOST_STEPS)]
Name = Annotated[str, Meta(min_length=1)]


def is_money(amount: Decimal) -> bool:
    """Whether this can be an amount of US dollars."""
    return amount.is_finite() and 0 <= amount <= MOST_MONEY


def check_money(amount: Decimal | None) -> None:
    """Raise ValueError for what cannot be an amount of money."""
    if amount is not None and not is_money(amount):
        raise ValueError(f"`cost_usd` is no amount of US dollars from 0 to {MOST_MONEY}")


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """What a recorded call came back with.

    Args:
        status: `ok`, `error`, `timeout` or `denied`, as the trace says it.
        result: the tool's result, for `ok`.
        error: the error's text or class, for everything else.
        resource_version: the business version after the step; for a read, the version seen.
        applied: whether a write's effect landed, whatever the caller was told. Only the count of
            executed writes is made from it: the breaker never sees it.
    """

    status: str
    result: Any = None
    error: Any = None
    resource_version: Any = None
    applied: bool | None = None


class StepFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What every format says of a step in the same words.

    Args:
        tool: the tool's name, or the event's with `@` before it.
        effect: what the tool does, where the trace says it.
        agent: who proposed it, where that is known.
        cost_usd: what the step cost, US dollars; None if nobody says.
        elapsed_s: seconds that it took.
        turn: steps of one turn were proposed together; by default each is a turn of its own.
        plan: what the model said that it would do. Never evidence.
        repeat: how often the step occurs in a row.
        event: of an event its kind.
        postcondition: named conditions and what they were after the step.
        forced: whether the request forced the choice of a tool.
        mtime: when the record was last changed, seconds.
        reconciles: of a read, the step of the write that it settles.
        authoritative: of such a read, whether its word is final.
        text: what the assistant said in the turn, where the trace has it.
        at_s: seconds of activity from the run's beginning to the proposal, where the trace tells;
            `elapsed_s` alone leaves out the time that the model took.
        prompt_tokens: tokens of the prompt of the request that proposed this; of the steps of one
            turn only one carries them.
        completion_tokens: likewise of its answer.
    """

    tool: Name
    effect: Effect | None = None
    agent: str | None = None
    cost_usd: Decimal | None = None
    elapsed_s: Seconds | None = None
    at_s: Seconds | None = None
    turn: int | None = None
    plan: Any = None
    repeat: Repeat = 1
    event: str | None = None
    postcondition: Any = None
    forced: bool = False
    mtime: Any = None
    reconciles: int | None = None
    authoritative: bool = False
    text: str | None = None
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None


class TraceStep(StepFacts, frozen=True, kw_only=True):
    """One recorded step: a call that was proposed, or an event of the run.

    Args:
        args: the call's arguments by name.
        outcome: what came back.
        args_known: whether the arguments were recorded. Telemetry leaves them out by default.
        result_known: whether the result was recorded.
    """

    args: Mapping[str, Any] = {}
    outcome: Recorded
    args_known: bool = True
    result_known: bool = True

    @property
    def is_event(self) -> bool:
        """Whether this is something that happened to the run instead of a call."""
        return self.tool.startswith(EVENT_MARK)


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits that were in force, as the trace carries them."""

    turns: Count | None = None
    deadline_s: Seconds | None = None
    cost_usd: Decimal | None = None
    tool_calls: Count | None = None
    side_effects: Count | None = None

    def __post_init__(self) -> None:
        check_money(self.cost_usd)


class Expect(msgspec.Struct, frozen=True, kw_only=True):
    """What a right controller does with the trace; see `score`.

    Args:
        interrupted: whether some step must get a decision other than ALLOW.
        reason: the expected reason.
        also_accept: other reasons that are right too.
        at_or_before_step: this step, counted from 1 in the expanded trace, must not be executed.
        not_before_step: acting earlier would be a hair trigger.
        executed_writes_max: most writes that may have taken effect.
        decision: the better decision, where one is.
    """

    interrupted: bool
    reason: Reason | None = None
    also_accept: tuple[Reason, ...] = ()
    at_or_before_step: int | None = None
    not_before_step: int = 1
    executed_writes_max: int | None = None
    decision: Decision | None = None


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """One recorded run.

    Args:
        id: names it in reports.
        steps: in order.
        hints: what a team could declare about its tools, by ToolSpec field and tool.
        budgets: the limits that were in force.
        expect: what a right controller does, where somebody has said so.
        kind: `hostile` or `legit`, where somebody has said so.
        hazard: which failure it shows, for scores.
        needs_hints: whether it counts only with its hints.
        workflow: the workflow class, for calibration.
        source: the file it came from.
        line: the line of that file on which it begins.
    """

    id: str
    steps: tuple[TraceStep, ...]
    hints: Mapping[str, Any] = {}
    budgets: Limits = Limits()
    expect: Expect | None = None
    kind: str | None = None
    hazard: str | None = None
    needs_hints: bool = False
    workflow: str | None = None
    source: str = ""
    line: int | None = None

    @property
    def length(self) -> int:
        """How many steps it has, expanded."""
        return sum(step.repeat for step in self.steps)

    def expanded(self) -> Iterator[tuple[int, TraceStep]]:
        """Each step as often as it occurs, numbered from 1, without a list of them all."""
        number = 0
        for step in self.steps:
            for _ in range(step.repeat):
                number += 1
                yield number, step


class TraceVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What a breaker would have done with a trace.

    Args:
        id: the trace's.
        steps: how many steps it has, expanded.
        interrupted: whether any step got a verdict other than ALLOW.
        step: the first that did, counted from 1 in the expanded trace; None without one.
        decision: what it got.
        reason: why.
        executed_writes: how many writes of effect were executed before the run was stopped.
        evidence: the steps that the verdict rests on, in the same count.
        message: what the model would have been told.
        tool: the tool that was proposed.
    """

    id: str
    steps: int
    interrupted: bool
    step: int | None = None
    decision: Decision | None = None
    reason: Reason | None = None
    executed_writes: int = 0
    evidence: tuple[int, ...] = ()
    message: str = ""
    tool: str = ""
