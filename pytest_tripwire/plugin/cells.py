"""Which cell a test is about: the agent's id and the case's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

import pytest

from pytest_tripwire.cases.catalogue import CASE_IDS, UnknownCaseError

NO_AGENT = "(no agent)"
#: The agent of a conftest at the root, whose folder has another name on each machine.
ROOT = "agent"

_FIXTURES = "pytest_tripwire.plugin.fixtures"
_PARAM = type(pytest.param())


def cases_of(node: pytest.Item | pytest.Function | Any) -> Sequence[str]:
    """The cases that a test is collected for: all, or those of its `tripwire` marker."""
    marker = node.get_closest_marker("tripwire")
    if marker is None:
        return CASE_IDS
    if marker.args or set(marker.kwargs) - {"cases"}:
        _wrong_marker(node, 'the marker is written @pytest.mark.tripwire(cases=["..."])')
    wanted = marker.kwargs.get("cases")
    if wanted is None:
        return CASE_IDS
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    for name in names:
        if name not in CASE_IDS:
            _wrong_marker(node, str(UnknownCaseError(name)))
    return list(dict.fromkeys(names))


def round_of(item: pytest.Item) -> int:
    """Which round of several a test is, from 1."""
    callspec = getattr(item, "callspec", None)
    return int(callspec.params.get("tripwire_round", 1)) if callspec else 1


def _wrong_marker(node: pytest.Item | Any, message: str) -> NoReturn:
    # Of all that may be raised here the one that pytest shows without the way it took.
    raise pytest.Collector.CollectError(f"{node.nodeid}: {message}")


def planned(item: pytest.Item) -> list[str] | None:
    """(agent, case, test) of a collected test. The agent is empty where only the run can tell, the
    case where the test names it itself. None for a test that is about no cell.
    """
    if "tripwire_desk" not in getattr(item, "fixturenames", ()):
        return None
    callspec = getattr(item, "callspec", None)
    case = str(callspec.params.get("tripwire", "") if callspec else "")
    if is_overridden(item, "tripwire_agent_id"):
        return ["", case, item.nodeid]
    return [default_agent_id(item), case, item.nodeid]


def default_agent_id(item: pytest.Item) -> str:
    """Where `tripwire_agent` is defined, and the parameter ids of all that it is built from."""
    if not is_overridden(item, "tripwire_agent"):
        return NO_AGENT
    place = _place(item)
    ids = [_parameter_id(item, name) for name in _closure(item) if _is_parameter(item, name)]
    return f"{place}[{'-'.join(ids)}]" if ids else place


def is_overridden(item: pytest.Item, fixture: str) -> bool:
    """Whether the project says what this fixture gives, in a fixture or by parametrizing."""
    found = _definitions(item).get(fixture, ())
    return bool(found) and found[-1].func.__module__ != _FIXTURES


def _place(item: pytest.Item) -> str:
    """The folder, module or class in which `tripwire_agent` is defined, or parametrized."""
    definition = _definitions(item)["tripwire_agent"][-1]
    if _marked(item, "tripwire_agent") and len(_definitions(item)["tripwire_agent"]) == 1:
        return item.nodeid.split("::")[0]
    return str(definition.baseid).removesuffix("/conftest.py").strip(".") or ROOT


def _closure(item: pytest.Item) -> Iterator[str]:
    """`tripwire_agent` and all that it requests, in a fixed order."""
    # Rounds are of one agent, though it may ask which one it is.
    definitions, seen = _definitions(item), {"request", "tripwire_round"}
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
    for given in (_explicit_id(item, name, index, value), value):
        if isinstance(given, str | int | float):
            return str(given)
    return str(value) if value is None else str(getattr(value, "__name__", f"{name}{index}"))


def _explicit_id(item: pytest.Item, name: str, index: int, value: object) -> object:
    """What `pytest.param(..., id=)` or `ids=` say; None where they say nothing."""
    values, ids = _parameters(item, name)
    if index < len(values) and isinstance(values[index], _PARAM) and values[index].id is not None:
        return values[index].id
    if callable(ids):
        return ids(value)
    return ids[index] if isinstance(ids, Sequence) and index < len(ids) else None


def _parameters(item: pytest.Item, name: str) -> tuple[Sequence[Any], Any]:
    """The values and ids that a test's own marker, else a fixture, gives to a parameter."""
    marker = _marked(item, name)
    if marker is not None:
        values = marker.args[1] if len(marker.args) > 1 else marker.kwargs.get("argvalues", ())
        return values if isinstance(values, Sequence) else (), marker.kwargs.get("ids")
    for definition in reversed(_definitions(item).get(name, ())):
        if definition.params is not None:
            return definition.params, definition.ids
    return (), None


def _marked(item: pytest.Item, name: str) -> pytest.Mark | None:
    """The `parametrize` marker of a test that gives values to `name`."""
    for marker in item.iter_markers("parametrize"):
        names = marker.args[0] if marker.args else marker.kwargs.get("argnames", ())
        given = names.split(",") if isinstance(names, str) else names
        if name in [each.strip() for each in given]:
            return marker
    return None


def _definitions(item: pytest.Item) -> Mapping[str, Sequence[Any]]:
    """What each fixture name stands for in this test. pytest has no public road to this; the
    contract test of this module fails clearly when the private one moves.
    """
    info: Any = getattr(item, "_fixtureinfo", None)
    return info.name2fixturedefs if info is not None else {}
