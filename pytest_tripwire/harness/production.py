"""A team's own breaker under test: made by the team's factory, on a clock and a ledger of ours."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from pytest_tripwire.breaker.budget import RunBudget
from pytest_tripwire.breaker.port import Clock
from pytest_tripwire.guard import Breaker, BreakerRun
from pytest_tripwire.guard.errors import UndeclaredToolError
from pytest_tripwire.harness.failures import HarnessError
from pytest_tripwire.ledger import MemoryLedger
from pytest_tripwire.timeline import Effect, ToolSpec
from pytest_tripwire.timeline.spec import ATTRIBUTE
from pytest_tripwire.world import Toolset
from pytest_tripwire.world.faults import PolicyDeniedError
from pytest_tripwire.world.toolset import NOTHING_HAPPENED

#: What `tripwire_breaker` returns: makes the breaker as in production.
Factory = Callable[..., Breaker]

EXAMPLE = """\
    # where your application makes its breaker
    def make_breaker(**overrides):
        settings = {"budget": RunBudget(max_turns=20), "specs": SPECS, "store": STORE}
        return Breaker(**{**settings, **overrides})

    # conftest.py
    @pytest.fixture
    def tripwire_breaker():
        return make_breaker
"""
#: Tokens in which a case's whole conversation has its room, and one prompt of it.
_ROOM, _PROMPT_ROOM = 1_000_000, 100_000


def check_factory(factory: Any) -> None:
    """See that a factory can be called as it will be. Raises HarnessError with what to write."""
    if factory is None:
        raise HarnessError(
            "the protection 'production' tries the breaker of your application, and nobody says "
            f"how it is made. Define the fixture tripwire_breaker:\n\n{EXAMPLE}"
        )
    if not callable(factory):
        raise HarnessError(
            f"tripwire_breaker gave {type(factory).__name__}, which cannot be called. Each run has "
            f"a breaker of its own: give the function that makes it:\n\n{EXAMPLE}"
        )
    try:
        inspect.signature(factory).bind(clock=None, store=None)
    except TypeError as error:
        raise HarnessError(
            f"tripwire_breaker gave a function that cannot be called with clock=... and store=... "
            f"({error}). Let it take **overrides and hand them on to Breaker:\n\n{EXAMPLE}"
        ) from None
    except ValueError:  # nobody can say how it is called
        return


def made(factory: Any, clock: Clock) -> Breaker:
    """The team's breaker, on this clock and a ledger of its own; the team's is not touched.

    Raises:
        HarnessError: for a factory that makes something else, keeps its own clock or ledger, or
            makes a breaker that only watches.
    """
    check_factory(factory)
    store = MemoryLedger()
    breaker = factory(clock=clock, store=store)
    if not isinstance(breaker, Breaker):
        if inspect.iscoroutine(breaker):
            breaker.close()
        raise HarnessError(
            f"tripwire_breaker made {type(breaker).__name__}, no Breaker:\n\n{EXAMPLE}"
        )
    ours = {"clock": breaker.clock is clock, "store": breaker.store is store}
    kept = [name for name, is_ours in ours.items() if not is_ours]
    if kept:
        raise HarnessError(
            f"tripwire_breaker made a breaker that does not use the {' and the '.join(kept)} that "
            f"it was given: hand **overrides on to Breaker, after your own settings:\n\n{EXAMPLE}"
        )
    if breaker.shadow:
        raise HarnessError(
            "tripwire_breaker made a breaker that only watches (mode='shadow'): it would stop "
            "nothing, so every case would escape. Make it with mode='enforce', or try the agent "
            "under the protection 'own'"
        )
    return breaker


def guarded(
    run: BreakerRun, toolset: Toolset, tools: Mapping[str, Any]
) -> dict[str, Callable[..., Any]]:
    """A run's tools as the team has declared them: beside the tool itself, or for its breaker.

    Raises:
        HarnessError: for a tool that nobody declared, with the line to write.
    """
    for name, declared in toolset.declared().items():
        tools[name].__dict__[ATTRIBUTE] = declared
    try:
        functions = run.guard(tools)
    except UndeclaredToolError as error:
        raise HarnessError(_undeclared(error.tool, toolset.specs())) from None
    widened = {name: in_terms_of_the_world(run.declared(name)) for name in functions}
    return run.guard(tools, widened)


def in_terms_of_the_world(spec: ToolSpec) -> ToolSpec:
    """`spec`, and an error of the world's counts for the team's own of its kind, where the team has
    declared any: the body that would raise the team's does not run.
    """
    return msgspec.structs.replace(
        spec,
        denials=(*spec.denials, PolicyDeniedError) if spec.denials else (),
        definite_failures=(*spec.definite_failures, *NOTHING_HAPPENED)
        if spec.definite_failures
        else (),
    )


def token_share(budget: RunBudget) -> float:
    """In which measure tokens are told to a team's breaker. No standard case is about them, so no
    limit of theirs is to end one: a small one is met by small requests.
    """
    limits = ((budget.max_tokens, _ROOM), (budget.max_prompt_tokens, _PROMPT_ROOM))
    return min([1.0, *(limit / room for limit, room in limits if limit is not None)])


def _undeclared(name: str, specs: Mapping[str, ToolSpec]) -> str:
    line = f"{name!r}: {_written(specs[name])}"
    return (
        f"your breaker does not know what the tool {name!r} does, and under the protection "
        "'production' only what you have declared counts. Write it into the specs of your "
        f"Breaker, such as\n\n    {line},\n\nor put @tool_spec above the tool, or play its part "
        "with a tool of yours in tripwire_tools"
    )


_WRITTEN = ("identity", "wording", "volatile", "required_fields", "result_id", "result_version")


def _written(spec: ToolSpec) -> str:
    """A declaration as one writes it."""
    given = {name: getattr(spec, name) for name in _WRITTEN}
    fields = {
        "name": spec.name,
        "effect": str(spec.effect),
        **{name: value for name, value in given.items() if value},
        **({"poll": True} if spec.poll else {}),
    }
    if spec.effect is Effect.WRITE:
        # Of two tools that do one thing by different roads.
        fields["operation"] = spec.kind
    return f"ToolSpec({', '.join(f'{name}={value!r}' for name, value in fields.items())})"
