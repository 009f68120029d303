"""What a team can get wrong in its settings, said before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_tripwire.breaker.budget import RunBudget
from pytest_tripwire.cases.personas import PERSONAS
from pytest_tripwire.harness.failures import HarnessError
from pytest_tripwire.harness.options import Options, Protection
from pytest_tripwire.harness.production import check_factory
from pytest_tripwire.models.faults import ModelFault

#: With one of these among the stops every crash would pass for protection.
_TOO_WIDE = (BaseException, Exception)


def check_options(options: Options) -> None:
    """See that every setting is of its kind. Raises HarnessError with what to write."""
    _check_stops(options.stops)
    _check_seed(options.seed)
    _check_faults(options.model_faults)
    if options.protection == Protection.PRODUCTION:
        check_factory(options.breaker)
    if options.budget is not None and not isinstance(options.budget, RunBudget):
        raise HarnessError(
            f"tripwire_budget gave {_shown(options.budget)}: give a RunBudget, such as "
            "RunBudget(max_turns=20), or None for the limits of the case"
        )
    _check_mapping("tripwire_tools", options.roles, '{"write": Role(pay_back, {...})}')
    _check_mapping("tripwire_specs", options.specs, '{"issue_refund": {"reconcile": "get_refund"}}')


def check_persona(persona: Any) -> None:
    """See that every standard case has the persona. Raises HarnessError with those there are."""
    if persona is not None and persona not in PERSONAS:
        raise HarnessError(
            f"tripwire_persona gave {persona!r}: choose from {', '.join(PERSONAS)}, or None for "
            "the first"
        )


def check_agent_id(agent_id: Any) -> None:
    """See that an agent has a name. Raises HarnessError."""
    if not isinstance(agent_id, str) or not agent_id.strip():
        raise HarnessError(
            f"tripwire_agent_id gave {agent_id!r}: give the agent's name in reports, a text that "
            "is not empty"
        )


def _check_seed(seed: Any) -> None:
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise HarnessError(
            f"tripwire_seed gave {seed!r}: give a whole number such as 7, or 0 for the words that "
            "the cases are written in"
        )


def _check_faults(faults: Any) -> None:
    given = faults if isinstance(faults, tuple) else ()
    wrong = next((each for each in given if not isinstance(each, ModelFault)), None)
    if isinstance(faults, tuple) and wrong is None:
        return
    kind = "the class " if isinstance(wrong, type) else ""
    what = _shown(faults) if wrong is None else f"a tuple with {kind}{_shown(wrong)} in it"
    raise HarnessError(
        f"tripwire_model_faults gave {what}: give a tuple of faults of "
        "pytest_tripwire.models.faults, such as (Status(turn=1, status=503),)"
    )


def _check_stops(stops: Any) -> None:
    good = isinstance(stops, tuple) and all(
        isinstance(each, type) and issubclass(each, BaseException) for each in stops
    )
    if not good:
        raise HarnessError(
            f"tripwire_stops gave {_shown(stops)}: give a tuple of exception types, such as "
            "(TooManySteps,)"
        )
    for each in stops:
        if each in _TOO_WIDE:
            raise HarnessError(
                f"tripwire_stops has {each.__name__} in it, so every crash would count as a stop "
                "of your agent's own: name the exceptions that it stops by"
            )


def _check_mapping(name: str, value: Any, example: str) -> None:
    if not isinstance(value, Mapping):
        raise HarnessError(f"{name} gave {_shown(value)}: give a mapping, such as {example}")


def _shown(value: Any) -> str:
    """A value by its kind: what is in it may be long, and none of a report's business."""
    return value.__name__ if isinstance(value, type) else f"a {type(value).__name__}"
