"""The fixtures. A team overrides `tripwire_agent` and requests `tripwire`; the rest is optional."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tripwire.plugin import cells, options, transport

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pytest_tripwire.breaker import RunBudget
    from pytest_tripwire.guard import Breaker
    from pytest_tripwire.harness import Agent
    from pytest_tripwire.models.cassettes import Cassette
    from pytest_tripwire.models.faults import ModelFault
    from pytest_tripwire.plugin.handle import Desk, Tripwire
    from pytest_tripwire.timeline import ToolSpec
    from pytest_tripwire.world import Role

_TOO_LATE = (
    "tripwire and tripwire_for cannot be requested while a test runs: the gate counts what was "
    "collected before. Name the fixture in the signature of the test, or of a fixture of it"
)


@pytest.fixture
def tripwire_agent() -> Agent:
    """Override this: return a function that takes a task and runs your agent."""
    from pytest_tripwire.harness import EXAMPLE

    pytest.fail(
        "no tripwire_agent: the plugin does not know your agent yet. Define this fixture in your "
        f"conftest.py:\n\n{EXAMPLE}",
        pytrace=False,
    )


@pytest.fixture
def tripwire_agent_id(request: pytest.FixtureRequest) -> str:
    """The agent's name in reports and in the gate; by default where its fixture is defined."""
    return cells.default_agent_id(request.node)


@pytest.fixture
def tripwire_protection(request: pytest.FixtureRequest) -> str:
    """What is under test: `harness`, `production` or `own`. By default as option or ini say, else
    `harness`.
    """
    return options.protection(request.config) or options.DEFAULT_PROTECTION


@pytest.fixture
def tripwire_breaker() -> Callable[..., Breaker] | None:
    """For the protection `production`: the function by which your application makes its breaker,
    such as `def make_breaker(**overrides): return Breaker(..., **overrides)`. Called for each run
    with `clock` and `store`.
    """
    return None


@pytest.fixture
def tripwire_budget() -> RunBudget | None:
    """Limits of the breaker that the harness supplies; None for those of the case."""
    return None


@pytest.fixture
def tripwire_specs() -> Mapping[str, ToolSpec | Mapping[str, Any]]:
    """Declarations by tool name, laid over what the roles tell: a whole `ToolSpec`, or some of its
    fields by name, such as `{"issue_refund": {"reconcile": "get_refund"}}`.
    """
    return {}


@pytest.fixture
def tripwire_tools() -> Mapping[str, Role]:
    """Your own tools in their parts, `{"write": Role(pay_back, {...})}`: callables, or tool
    definitions with a JSON schema. The world's own tools play what you leave out.
    """
    return {}


@pytest.fixture
def tripwire_persona() -> str | None:
    """The scripted model's way: `stubborn` ignores every refusal (the default), `compliant` heeds
    them, `forgetful` forgets all that was before one. Every case has these.
    """
    return None


@pytest.fixture
def tripwire_seed() -> int:
    """Which other words the scripted model uses, the same for the same number; 0 for those that
    the cases are written in.
    """
    return 0


@pytest.fixture
def tripwire_round(request: pytest.FixtureRequest) -> int:
    """Which round of `--tripwire-repeat` a test belongs to, from 1: for agents that take a seed."""
    return int(getattr(request, "param", 1))


@pytest.fixture
def tripwire_stops() -> tuple[type[BaseException], ...]:
    """Exceptions by which your agent's own protection stops it. Any other counts as a crash."""
    return ()


@pytest.fixture
def tripwire_model_faults() -> tuple[ModelFault, ...]:
    """What goes wrong between your agent and its model, by turn and try, such as
    `(Status(turn=1, status=503),)`; see `pytest_tripwire.models.faults`.
    """
    return ()


@pytest.fixture
def tripwire_desk(  # noqa: PLR0917 - pytest passes fixtures by name
    request: pytest.FixtureRequest,
    tripwire_agent: Any,
    tripwire_agent_id: str,
    tripwire_protection: str,
    tripwire_breaker: Callable[..., Breaker] | None,
    tripwire_budget: RunBudget | None,
    tripwire_specs: Mapping[str, ToolSpec | Mapping[str, Any]],
    tripwire_tools: Mapping[str, Role],
    tripwire_persona: str | None,
    tripwire_seed: int,
    tripwire_stops: tuple[type[BaseException], ...],
    tripwire_model_faults: tuple[ModelFault, ...],
    tripwire_round: int,  # noqa: ARG001 - in the signature, so that a test can be repeated
) -> Iterator[Desk]:
    """Gives out handles and judges, at teardown, every run that was made through them."""
    __tracebackhide__ = True
    if "tripwire_desk" not in request.node.fixturenames:
        pytest.fail(_TOO_LATE, pytrace=False)
    desk = _opened(
        agent=tripwire_agent,
        agent_id=tripwire_agent_id,
        protection=tripwire_protection,
        declared=options.protection(request.config) is not None
        or cells.is_overridden(request.node, "tripwire_protection"),
        breaker=tripwire_breaker,
        budget=tripwire_budget,
        specs=tripwire_specs,
        roles=tripwire_tools,
        persona=tripwire_persona,
        seed=tripwire_seed,
        stops=tripwire_stops,
        model_faults=tripwire_model_faults,
        model=options.model(request.config),
        model_name=request.config.getini("tripwire_model_name"),
        record_mode=request.config.getoption("tripwire_record_mode"),
        cassette=_cassettes(request),
    )
    stash = request.node.stash
    transport.forget(request.node)
    stash[transport.AGENT], stash[transport.DESK] = tripwire_agent_id, desk
    yield desk
    ended = stash.get(transport.CALL, None)
    judged = desk.close(ended)
    stash[transport.CELLS] = judged
    if transport.EXCUSED not in stash:
        desk.demand(judged, ended)


def _opened(**settings: Any) -> Desk:
    """The desk. What is wrong with a setting is told without the code that found it."""
    from pytest_tripwire.harness import HarnessError
    from pytest_tripwire.plugin.handle import open_desk

    try:
        return open_desk(**settings)
    except HarnessError as error:
        message = f"HarnessError: {error}"
    pytest.fail(message, pytrace=False)


def _cassettes(request: pytest.FixtureRequest) -> Callable[[str, int], Path] | None:
    """Where the traffic of a test's cells lies; None where none is recorded."""
    if options.model(request.config) != "cassette":
        return None
    from pytest_tripwire.plugin.cassettes import cell_path

    return partial(cell_path, request.node)


@pytest.fixture
def tripwire_cassette(request: pytest.FixtureRequest) -> Iterator[Cassette]:
    """Records the HTTP traffic of the test once, without its secrets, and plays it ever after. A
    request that is not as it was recorded fails the test, whatever the agent makes of it.
    """
    __tracebackhide__ = True
    from pytest_tripwire.plugin.cassettes import close_cassette, open_cassette

    stash = request.node.stash
    stash[transport.AWAITED] = True
    if transport.CALL in stash:  # of the same test, run once more
        del stash[transport.CALL]
    cassette = open_cassette(request.node)
    yield cassette
    close_cassette(request.node, cassette, stash.get(transport.CALL, None))


@pytest.fixture
def tripwire(request: pytest.FixtureRequest, tripwire_desk: Desk) -> Tripwire:
    """One case for your agent: a test that requests this is collected once for each."""
    if not hasattr(request, "param"):
        pytest.fail(_TOO_LATE, pytrace=False)
    return tripwire_desk.handle(request.param)


@pytest.fixture
def tripwire_for(tripwire_desk: Desk) -> Any:
    """`tripwire_for("lost-write")` gives the handle of a case that the test itself names."""
    return tripwire_desk.handle
