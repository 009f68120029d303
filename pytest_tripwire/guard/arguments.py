"""What an application hands to a breaker, looked at before anything is done with it.

A store keeps names as text, and other processes read them back. What is none is refused here, where
whoever has passed it sees it, and not after a tool has run.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any
from uuid import UUID


def text(where: str, name: str, given: object) -> str:
    """An argument that is text, as a plain str: a store keeps none of its subclasses.

    Args:
        where: what was called, e.g. `Breaker.run`.
        name: the argument.
        given: what was passed for it.

    Raises:
        TypeError: it is none.
    """
    if isinstance(given, str):
        return str.__str__(given)
    raise TypeError(f"{where}({name}=...): expected text, not {_kind(given)}. {_instead(given)}")


def texts(where: str, **given: object) -> list[str]:
    """The same of several arguments by name, in order."""
    return [text(where, name, each) for name, each in given.items()]


def count(where: str, name: str, given: object) -> int:
    """An argument that is a whole number. Raises TypeError for anything else."""
    if isinstance(given, int) and not isinstance(given, bool):
        return given
    raise TypeError(f"{where}({name}=...): expected a whole number, not {_kind(given)}")


def number(where: str, name: str, given: object) -> float:
    """An argument that is a number. Raises TypeError for anything else."""
    if isinstance(given, int | float) and not isinstance(given, bool):
        return given
    raise TypeError(f"{where}({name}=...): expected a number, not {_kind(given)}")


def flag(where: str, name: str, given: object) -> bool:
    """An argument that is True or False. Raises TypeError for anything else."""
    if isinstance(given, bool):
        return given
    raise TypeError(f"{where}({name}=...): expected True or False, not {_kind(given)}")


def asked_at_once(where: str, name: str, given: object) -> None:
    """An argument that is asked and answers at once, as nobody would await what it gives: of a
    coroutine `bool()` is true, whatever comes of it.

    Raises:
        TypeError: it cannot be called, or is async.
    """
    if not callable(given):
        raise TypeError(f"{where}({name}=...): expected a function, not {_kind(given)}")
    if is_async(given):
        raise TypeError(
            f"{where}({name}=...): {called(given)} is async, and its answer is needed at once. "
            "Give a plain function, and await what it has to know before"
        )


def asked_each_at_once(where: str, name: str, given: Mapping[str, object] | None) -> None:
    """The same of every function in a table of them."""
    for each, asked in (given or {}).items():
        asked_at_once(where, f"{name}[{each!r}]", asked)


def yes(where: str, name: str, asked: Callable[..., Any], answer: object) -> bool:
    """Whether a function that was asked has said yes. Only True is a yes, and nothing is one by
    being no empty value: a pair of False and why, a text such as "denied", an awaitable. None is
    what a function gives that has said nothing, and so a no.

    Raises:
        TypeError: it has said neither.
    """
    at_once(where, name, asked, answer)
    if answer is None or isinstance(answer, bool):
        return answer is True
    raise TypeError(
        f"{where}({name}=...): {called(asked)} has answered with {_kind(answer)}, and only True "
        "is a yes. Return True or False, e.g. by bool(...)"
    )


def at_once(where: str, name: str, asked: Callable[..., Any], answer: object) -> None:
    """Raises TypeError where the answer of a function that looks like any other is an awaitable."""
    if is_awaitable(answer):
        raise TypeError(
            f"{where}({name}=...): {called(asked)} has answered with an awaitable "
            f"({_kind(answer)}), which nobody awaits here. Await it before, and give a plain "
            "function that says what came of it"
        )


def is_awaitable(answer: object) -> bool:
    """Whether it is something to be awaited. A coroutine is closed: it will not be."""
    if not inspect.isawaitable(answer):
        return False
    with suppress(Exception):
        getattr(answer, "close", lambda: None)()
    return True


def is_async(function: object) -> bool:
    """Whether calling it gives a coroutine."""
    call = getattr(function, "__call__", None)  # noqa: B004 - the method itself is looked at
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def said(given: object) -> str:
    """What a run is ended for, as a record keeps it. Whoever stops a run must not fail at it: an
    exception, or whatever else is no text, is named by its class, as its text may hold what no
    record may.
    """
    return str.__str__(given) if isinstance(given, str) else type(given).__name__


def called(function: object) -> str:
    """The name of a function, for a message."""
    return str(getattr(function, "__qualname__", None) or type(function).__name__)


def _kind(given: object) -> str:
    return "None" if given is None else type(given).__name__


def _instead(given: object) -> str:
    if given is None:
        return "Leave it out where there is none"
    if isinstance(given, bytes | bytearray):
        return "Decode it"
    if isinstance(given, int | float | UUID):
        return "Pass str(...) of it, the same each time"
    return "Pass a name of it, such as an id, a version or a fingerprint"
