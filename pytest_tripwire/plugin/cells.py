"""Which cell a test is about: the agent's id and the case's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from pytest_tripwire.cases.catalogue import CASE_IDS, UnknownCaseError

NO_AGENT = "(no agent)"


def cases_of(node: pytest.Item | pytest.Function | Any) -> Sequence[str]:
    """The cases that a test is collected for: all, or those of its `tripwire` marker."""
    marker = node.get_closest_marker("tripwire")
    wanted = marker.kwargs.get("cases") if marker else None
    if wanted is None:
        return CASE_IDS
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    for name in names:
        if name not in CASE_IDS:
            raise pytest.UsageError(f"{node.nodeid}: {UnknownCaseError(name)}")
    return names


def planned(item: pytest.Item) -> list[str] | None:
    """(agent, case) of a collected test; the agent is empty where only the run can tell, the case
    where the test names it itself. None for a test that is about no cell."""
    if "tripwire_desk" not in getattr(item, "fixturenames", ()):
        return None
    callspec = getattr(item, "callspec", None)
    case = callspec.params.get("tripwire", "") if callspec else ""
    agent = "" if is_overridden(item, "tripwire_agent_id") else default_agent_id(item)
    return [agent, str(case)]


def default_agent_id(item: pytest.Item) -> str:
    """Where `tripwire_agent` is defined, and the parameter ids of all that it is built from."""
    if not is_overridden(item, "tripwire_agent"):
        return NO_AGENT
    definition = _definitions(item)["tripwire_agent"][-1]
    place = definition.baseid.removesuffix("/conftest.py") or "."
    ids = [_parameter_id(item, name) for name in _closure(item) if _is_parameter(item, name)]
    return f"{place}[{'-'.join(ids)}]" if ids else place


def is_overridden(item: pytest.Item, fixture: str) -> bool:
    """Whether the project has a fixture of this name besides the plugin's own."""
    return len(_definitions(item).get(fixture, ())) > 1


def _closure(item: pytest.Item) -> Iterator[str]:
    """`tripwire_agent` and all that it requests, in a fixed order."""
    definitions, seen = _definitions(item), {"request"}
    waiting = ["tripwire_agent"]
    while waiting:
        name = waiting.pop(0)
        if name in seen:
            continue
        seen.add(name)
        yield name
        for definition in definitions.get(name, ()):
            waiting += definition.argnames


def _is_parameter(item: pytest.Item, name: str) -> bool:
    callspec = getattr(item, "callspec", None)
    return callspec is not None and name in callspec.params


def _parameter_id(item: pytest.Item, name: str) -> str:
    """The id of one parameter, as pytest makes it: explicit, plain value, or name and index."""
    callspec: Any = getattr(item, "callspec", None)
    index, value = callspec.indices[name], callspec.params[name]
    definition = _definitions(item)[name][-1] if name in _definitions(item) else None
    ids = getattr(definition, "ids", None)
    explicit = ids(value) if callable(ids) else ids[index] if ids else None
    if explicit is not None:
        return str(explicit)
    if isinstance(value, str | int | float | bool) or value is None:
        return str(value)
    return str(getattr(value, "__name__", f"{name}{index}"))


def _definitions(item: pytest.Item) -> Mapping[str, Sequence[Any]]:
    """What each fixture name stands for in this test. pytest has no public road to this; the
    contract test of this module fails clearly when the private one moves."""
    info: Any = getattr(item, "_fixtureinfo", None)
    return info.name2fixturedefs if info is not None else {}
