"""Agents that a tool's function runs: Pydantic AI has no hand-off but this."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from types import CodeType, FunctionType, MethodType
from typing import Any

from pydantic_ai.agent import AbstractAgent

#: A function that never names one of these only mentions an agent.
RUNS = frozenset({"run", "run_sync", "run_stream", "run_stream_sync", "run_stream_events", "iter"})


def delegates_of(function: Any) -> list[Any]:
    """The agents that a function can be seen to run: by its closure, its module's names, its
    defaults, the object that it is a method of. What it gets handed over, such as an agent among
    the run's dependencies, cannot be seen.
    """
    found: dict[int, Any] = {}
    for each in _run_by(function, set()):
        found.setdefault(id(each), each)
    return list(found.values())


def _run_by(function: Any, seen: set[int]) -> Iterator[Any]:
    if id(function) in seen:
        return
    seen.add(id(function))
    if isinstance(function, functools.partial):
        yield from _run_by(function.func, seen)
        yield from _agents((*function.args, *function.keywords.values()))
    elif isinstance(function, MethodType):
        yield from _run_by_method(function, seen)
    elif isinstance(function, FunctionType):
        yield from _run_by_function(function, seen)


def _run_by_method(method: MethodType, seen: set[int]) -> Iterator[Any]:
    owner = method.__self__
    if isinstance(owner, AbstractAgent):
        if method.__name__ in RUNS:
            yield owner
        return
    if _runs(method.__func__.__code__) and hasattr(owner, "__dict__"):
        yield from _agents(vars(owner).values())
    yield from _run_by(method.__func__, seen)


def _run_by_function(function: FunctionType, seen: set[int]) -> Iterator[Any]:
    kept = [each for each in (_content(cell) for cell in function.__closure__ or ()) if each]
    if _runs(function.__code__):
        named = [function.__globals__.get(name) for name in _names(function.__code__)]
        defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
        yield from _agents((*kept, *named, *defaults))
    # What a decorator has wrapped is kept in its closure.
    for each in kept:
        yield from _run_by(each, seen)


def _agents(things: Iterable[Any]) -> Iterator[Any]:
    for thing in things:
        held = thing.values() if isinstance(thing, Mapping) else thing
        within = held if isinstance(thing, Mapping | list | tuple) else (thing,)
        yield from (each for each in within if isinstance(each, AbstractAgent))


def _runs(code: CodeType) -> bool:
    return not RUNS.isdisjoint(_names(code))


def _names(code: CodeType) -> set[str]:
    """What a function names, those within it too."""
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return set(code.co_names).union(*(_names(each) for each in inner))


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None
