"""Everything that one run needs, put together afresh for it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec

from pytest_tripwire.breaker.budget import RunBudget
from pytest_tripwire.cases.case import Case
from pytest_tripwire.guard import Breaker, BreakerRun
from pytest_tripwire.harness.failures import HarnessError
from pytest_tripwire.harness.task import Model, Task, Tools
from pytest_tripwire.harness.unguarded import Unguarded
from pytest_tripwire.models import Calls, ModelServer, Observed, Say, Script
from pytest_tripwire.timeline import ModelRequest, Timeline, ToolSpec, WorldEvent
from pytest_tripwire.world import Records, Role, Stage, Toolset, VirtualClock


class Protection(StrEnum):
    """What is under test: a breaker that the harness supplies, or the agent's own protection."""

    HARNESS = "harness"
    OWN = "own"


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What a team sets.

    Args:
        protection: what is under test.
        roles: the team's tools by part; the world's own play the rest.
        budget: limits of the supplied breaker; the case's own by default.
        specs: declarations by tool name; they outweigh what the roles tell.
        persona: the scripted model's way; the case's first by default.
        max_requests: model requests after which the scripted model only says goodbye.
        max_seconds: real seconds that a run may take.
    """

    protection: Protection = Protection.HARNESS
    roles: Mapping[str, Role] = {}
    budget: RunBudget | None = None
    specs: Mapping[str, ToolSpec] = {}
    persona: str | None = None
    max_requests: int = 200
    max_seconds: float = 60.0

    def __post_init__(self) -> None:
        """Refuse a protection that does not exist; its plain name is as good as the value."""
        if self.protection not in set(Protection):
            known = ", ".join(Protection)
            raise ValueError(f"Options(protection={self.protection!r}): choose from {known}")


class Setting:
    """One run's world, model server and breaker. Nothing of it outlives the run."""

    def __init__(self, case: Case, options: Options) -> None:
        self.case = case
        self.options = options
        self.clock = VirtualClock()
        self.timeline = Timeline(self.clock.now)
        self._world = self.timeline.writer(WorldEvent)
        self.toolset = self._toolset()
        self.run = self._breaker_run()
        self.server = ModelServer(
            script=_script(case, options.persona),
            binder=self.toolset,
            observe=self._observe,
            roles=case.roles,
            max_requests=options.max_requests,
        )

    def task(self) -> Task:
        """What the agent is given. The server has to be started."""
        return Task(prompt=self.case.prompt, tools=self._tools(), model=Model(self.server.base_url))

    def _toolset(self) -> Toolset:
        records = Records()
        self.case.seed(records)
        stage = Stage(
            records=records, clock=self.clock, faults=self.case.faults, events=self._world
        )
        return Toolset(operations=self.case.operations, roles=self.options.roles, stage=stage)

    def _breaker_run(self) -> BreakerRun | None:
        if self.options.protection == Protection.OWN:
            return None
        numbers = itertools.count(1)
        breaker = Breaker(
            budget=self.options.budget or self.case.budget,
            clock=self.clock,
            new_id=lambda: f"{self.case.id}-{next(numbers)}",
        )
        return breaker.run(workflow=self.case.id, timeline=self.timeline)

    def _tools(self) -> Tools:
        functions = self.toolset.functions
        if self.run is None:
            return Tools(functions=functions, toolset=self.toolset, calls=Unguarded(functions))
        specs = {**self.toolset.specs(), **self.options.specs}
        _check_specs(self.options.specs, functions)
        guarded = self.run.guard(functions, specs)
        return Tools(functions=guarded, toolset=self.toolset, calls=self.run)

    def _observe(self, seen: Observed) -> str | None:
        """Put a model request onto the timeline, and let the breaker open a turn for it."""
        if seen.repeat or seen.auxiliary:
            return None
        self._world.append(
            ModelRequest(conversation=seen.conversation, turn=seen.turn, says=_says(seen.move))
        )
        verdict = self.run.before_model() if self.run is not None else None
        return None if verdict is None or verdict.allowed else verdict.message


def _says(move: Calls | Say) -> str:
    if isinstance(move, Say):
        return "answers"
    return "proposes " + ", ".join(each.role for each in move.proposals)


def _script(case: Case, persona: str | None) -> Script:
    name = persona or next(iter(case.personas))
    if name not in case.personas:
        known = ", ".join(case.personas)
        raise HarnessError(f"the case {case.id} has no persona {name!r}; it has {known}")
    return case.personas[name]


def _check_specs(specs: Mapping[str, ToolSpec], functions: Mapping[str, Any]) -> None:
    for name, spec in specs.items():
        if getattr(spec, "name", None) != name:
            raise HarnessError(
                f"tripwire_specs[{name!r}] is {spec!r}: give a ToolSpec(name={name!r}, effect=...)"
            )
    unknown = sorted(set(specs) - set(functions))
    if unknown:
        known = ", ".join(sorted(functions))
        raise HarnessError(
            f"tripwire_specs declares {unknown[0]!r}, but no tool of this case has that name; "
            f"its tools are {known}"
        )
