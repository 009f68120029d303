"""One run, driven call by call: for tests of what the breaker makes of a run as a whole."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pytest_tripwire.breaker import (
    Breaker,
    Controller,
    Decision,
    Mode,
    Outcome,
    Reason,
    Reconcile,
    RunBudget,
    RunContext,
    Status,
    ToolCall,
    ToolSpec,
    Verdict,
)
from pytest_tripwire.breaker.port import Policy, allow_everything
from pytest_tripwire.ledger import MemoryLedger
from pytest_tripwire.timeline import BreakerEvent, Settled, Timeline

from ..clock import Clock  # noqa: TID252 - no package to import from

Step = Callable[[], bool]


def read(name: str, **declared: Any) -> ToolSpec:
    return ToolSpec(name=name, effect="read", **declared)  # type: ignore[arg-type]


def write(name: str, **declared: Any) -> ToolSpec:
    return ToolSpec(name=name, effect="write", **declared)  # type: ignore[arg-type]


def handoff(name: str, **declared: Any) -> ToolSpec:
    return ToolSpec(name=name, effect="handoff", **declared)  # type: ignore[arg-type]


def ok(result: Any = "ok", *, version: str = "") -> Outcome:
    """A success with this result, and the version that it shows."""
    return Outcome(status=Status.OK, result=result, version=version)


def bare(spec: ToolSpec) -> ToolSpec:
    """A tool of which nothing is declared but its effect."""
    return ToolSpec(name=spec.name, effect=spec.effect)


class Driver:
    """One run. Each call is let through or not, and `gives` and its like say which.

    Args:
        specs: what is declared.
        pause_s: seconds that pass before each call, as a model takes to think.
        budget: limits of the run.
        options: the rest of `Breaker.run`.
    """

    def __init__(
        self,
        *specs: ToolSpec,
        pause_s: float = 0.0,
        budget: RunBudget | None = None,
        **options: Any,
    ) -> None:
        self.clock = Clock()
        self.timeline = Timeline(self.clock.now)
        self.specs = {each.name: each for each in specs}
        self.pause_s = pause_s
        self.verdicts: list[Verdict] = []
        self.hints: list[str | None] = []
        self._numbers = itertools.count(1)
        self.run: Any = self._begun(budget, options)

    def _begun(self, budget: RunBudget | None, options: Mapping[str, Any]) -> Any:
        breaker = Breaker(specs=self.specs, budget=budget, clock=self.clock)
        return breaker.run(timeline=self.timeline, **options)

    def decided(self, call: ToolCall) -> Verdict:
        """What the breaker says to a call."""
        verdict: Verdict = self.run.decide(call)
        return verdict

    # -- calls

    def propose(self, tool: str, /, **arguments: Any) -> tuple[ToolCall, Verdict]:
        """Propose a call, without running it."""
        return self.proposed(ToolCall(call_id=self.new_id(), tool=tool, arguments=arguments))

    def proposed(self, call: ToolCall) -> tuple[ToolCall, Verdict]:
        """Propose this very call."""
        self.clock.seconds += self.pause_s
        verdict = self.decided(call)
        self.verdicts.append(verdict)
        return call, verdict

    def new_id(self) -> str:
        """An id that no call has had."""
        return f"c{next(self._numbers)}"

    def settle(self, call: ToolCall, outcome: Outcome) -> str | None:
        """Say what came back; returns the hint for the model."""
        hint: str | None = self.run.settle(call, outcome)
        self.hints.append(hint)
        return hint

    def gives(self, result: Any, tool: str, /, **arguments: Any) -> bool:
        """Propose a call that gives a result if it is let through; returns whether it was."""
        return self.brings(Outcome(status=Status.OK, result=result), tool, **arguments)

    def fails(self, status: Status, error: str, tool: str, /, **arguments: Any) -> bool:
        """Propose a call that fails if it is let through; returns whether it was."""
        return self.brings(Outcome(status=status, error=error), tool, **arguments)

    def denies(self, rule: str, tool: str, /, **arguments: Any) -> bool:
        """Propose a call that the tool denies if it is let through; returns whether it was."""
        denial = Outcome(status=Status.DENIED, error="Denied", rule=rule)
        return self.brings(denial, tool, **arguments)

    def brings(self, outcome: Outcome, tool: str, /, **arguments: Any) -> bool:
        """Propose a call with this outcome; returns whether it was let through."""
        call, verdict = self.propose(tool, **arguments)
        if verdict.allowed:
            self.settle(call, outcome)
        return verdict.allowed

    def by(self, agent: str, result: Any, tool: str, /, **arguments: Any) -> bool:
        """The same as `gives`, proposed by an agent that has a name."""
        call = ToolCall(call_id=self.new_id(), tool=tool, arguments=arguments, agent=agent)
        _, verdict = self.proposed(call)
        if verdict.allowed:
            self.settle(call, Outcome(status=Status.OK, result=result))
        return verdict.allowed

    def together(self, *calls: tuple[Outcome, str, dict[str, Any]]) -> list[bool]:
        """Propose all before any of them comes back; returns which were let through."""
        proposed = [(self.propose(tool, **arguments), out) for out, tool, arguments in calls]
        for (call, verdict), outcome in proposed:
            if verdict.allowed:
                self.settle(call, outcome)
        return [verdict.allowed for (_, verdict), _ in proposed]

    # -- between calls

    def waits(self, seconds: float) -> None:
        """Let time pass."""
        self.clock.seconds += seconds

    # -- what came of it

    def executed(self, steps: Iterable[Step]) -> int:
        """How many of these calls are let through before one is not."""
        return sum(1 for _ in itertools.takewhile(lambda step: step(), steps))

    @property
    def last(self) -> Verdict:
        """The last verdict."""
        return self.verdicts[-1]

    @property
    def reason(self) -> Reason | None:
        """Why the run left `open`."""
        reason: Reason | None = self.run.last_reason
        return reason

    @property
    def is_open(self) -> bool:
        """Whether the run may do anything that it likes, and nothing was refused."""
        return self.run.mode is Mode.OPEN and all(each.allowed for each in self.verdicts)

    @property
    def rests_on(self) -> list[str]:
        """The tools whose answers the last verdict rests on, in order. Fails for anything else."""
        by_seq = {event.seq: event for event in self.timeline.events()}
        events = [by_seq[seq] for seq in self.last.evidence]
        assert len({event.seq for event in events}) == len(events), "each answer counts once"
        assert all(isinstance(event, Settled) for event in events), "only what came back counts"
        return [event.tool for event in events if isinstance(event, Settled)]


class Witness(Driver):
    """The same, with what happens to a run from outside of it: `run.outside` takes that.

    Args:
        specs: what is declared.
        policy: who may do what.
        more: as for `Driver`.
    """

    def __init__(self, *specs: ToolSpec, policy: Policy = allow_everything, **more: Any) -> None:
        self._policy = policy
        super().__init__(*specs, **more)

    def _begun(self, budget: RunBudget | None, options: Mapping[str, Any]) -> Controller:
        keys = itertools.count(1)
        return Controller(
            context=RunContext(run_id="run", **options),
            specs=self.specs,
            budget=budget or RunBudget(),
            policy=self._policy,
            ledger=MemoryLedger(),
            clock=self.clock,
            events=self.timeline.writer(BreakerEvent),
            new_key=lambda: f"write-{next(keys)}",
        )

    def decided(self, call: ToolCall) -> Verdict:
        verdict = self.run.propose(call)
        if isinstance(verdict, Reconcile):
            verdict = self.run.propose(call, asked=True)
        assert isinstance(verdict, Verdict)
        return verdict

    @property
    def outside(self) -> Any:
        """What happens to the run from outside."""
        return self.run.outside


def stepped(results: Iterable[bool]) -> int:
    """How many were let through before one was not."""
    return sum(1 for _ in itertools.takewhile(bool, results))


__all__ = [
    "Clock",
    "Decision",
    "Driver",
    "Mode",
    "Outcome",
    "Reason",
    "Status",
    "ToolCall",
    "ToolSpec",
    "Verdict",
    "Witness",
    "bare",
    "handoff",
    "ok",
    "read",
    "stepped",
    "write",
]
