"""What a team sets for its runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

from pytest_tripwire.breaker.budget import RunBudget
from pytest_tripwire.guard import Breaker
from pytest_tripwire.models.faults import ModelFault
from pytest_tripwire.timeline import ToolSpec
from pytest_tripwire.world import Role

#: Which model the agent asks.
SCRIPTED, CASSETTE, LIVE = "scripted", "cassette", "live"


class Protection(StrEnum):
    """What is under test: a breaker that the harness supplies, the breaker that a team has in
    production, or the agent's own protection.
    """

    HARNESS = "harness"
    PRODUCTION = "production"
    OWN = "own"


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What a team sets.

    Args:
        protection: what is under test.
        roles: the team's tools by part; the world's own play the rest.
        breaker: makes the breaker of a team's production, called with `clock` and `store`.
        budget: limits of the supplied breaker; the case's own by default.
        specs: declarations by tool name: a whole ToolSpec in place of what the role tells, or
            some of its fields by name, laid over that.
        persona: the scripted model's way; the case's first by default.
        variant: how the case is played, such as `nonces` or `parallel`; as it stands by default.
        seed: which other words the scripted model uses; 0 for those that the case is written in.
        stops: exceptions by which the agent's own protection stops it. Any other is a crash.
        model_faults: what goes wrong between the agent and its model.
        model: which model is asked: `scripted`, a real one from a `cassette`, or a real one `live`.
        model_name: the real one's name.
        cassette: where the traffic with it is recorded; a second run has a file of its own.
        record_mode: what may be recorded; by default as the environment says.
        max_requests: model requests after which the scripted model only says goodbye.
        max_seconds: real seconds that a run may take.
    """

    protection: Protection = Protection.HARNESS
    roles: Mapping[str, Role] = {}
    breaker: Callable[..., Breaker] | None = None
    budget: RunBudget | None = None
    specs: Mapping[str, ToolSpec | Mapping[str, Any]] = {}
    persona: str | None = None
    variant: str | None = None
    seed: int = 0
    stops: tuple[type[BaseException], ...] = ()
    model_faults: tuple[ModelFault, ...] = ()
    model: str = SCRIPTED
    model_name: str = ""
    cassette: Path | None = None
    record_mode: str | None = None
    max_requests: int = 200
    max_seconds: float = 60.0

    def __post_init__(self) -> None:
        """Refuse a protection that does not exist; its plain name is as good as the value."""
        if self.protection not in set(Protection):
            known = ", ".join(Protection)
            raise ValueError(f"Options(protection={self.protection!r}): choose from {known}")
