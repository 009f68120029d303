"""Limits from a plain table, such as one of a TOML file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pytest_tripwire.breaker.classes import Classes, for_class
from pytest_tripwire.breaker.limits import read_limit
from pytest_tripwire.breaker.suggest import suggestion

#: The key that names a workflow class.
CLASS = "class"


def read_table(
    table: Mapping[str, Any], names: Iterable[str], classes: Classes | None = None
) -> dict[str, Any]:
    """The limits that a table sets, as they are kept. Dollars may be written as text, so that no
    binary fraction comes in between.

    Args:
        table: limits by name; `class` names a workflow class that they differ from.
        names: the limits that there are.
        classes: workflow classes besides those that are built in.

    Raises:
        TypeError: what was given is no table.
        ValueError: a line for each key that is wrong: what was given, what is expected.
    """
    given: Any = table  # as the caller gave it, whatever the annotation says
    if not isinstance(given, Mapping):
        raise TypeError(f"a budget is a table of limits by name, not a {type(given).__name__}")
    known = frozenset(names)
    limits: dict[str, Any] = {}
    problems: list[str] = []
    for key, value in [*_of_class(given, classes, problems), *given.items()]:
        if key == CLASS:
            continue
        if key not in known:
            problems.append(
                f"{key}: there is no such limit. {suggestion(key, known, what='Limits')}"
            )
            continue
        try:
            limits[key] = read_limit(key, value)
        except ValueError as error:
            problems.append(f"{key} = {error}")
    if problems:
        raise ValueError("\n".join(problems))
    return limits


def _of_class(
    table: Mapping[str, Any], classes: Classes | None, problems: list[str]
) -> Iterable[tuple[str, Any]]:
    """The limits of the class that a table names. Adds to `problems` if there is no such class."""
    if CLASS not in table:
        return ()
    try:
        return for_class(table[CLASS], classes).items()
    except ValueError as error:
        problems.append(f"{CLASS} = {error}")
        return ()
