"""Code with tasks and code without: which of them a loop's own function can be called from."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from pytest_tripwire.adapters.bridge import Native
from pytest_tripwire.guard.calling import is_async

#: Runs a tool by its name.
Dispatch: TypeAlias = Callable[[str, dict[str, Any]], Any]
AsyncDispatch: TypeAlias = Callable[[str, dict[str, Any]], Awaitable[Any] | Any]


class WrongFormError(TypeError):
    """An async function was given where nothing is awaited. It is the program's mistake, and so no
    model is told of it as a tool's answer.
    """


def plain(dispatch: Dispatch, instead: str) -> Native:
    """`dispatch`, for code that awaits nothing.

    Args:
        dispatch: runs a tool by its name.
        instead: what to use where it is async, for the message.

    Raises:
        WrongFormError: it is async, here or, where only its result shows it, when it is called.
    """
    if is_async(dispatch):
        raise WrongFormError(f"{dispatch!r} is async and nothing awaits it here: use {instead}")

    def native(name: str, arguments: dict[str, Any]) -> Any:
        result = dispatch(name, arguments)
        if not inspect.isawaitable(result):
            return result
        if inspect.iscoroutine(result):
            result.close()
        raise WrongFormError(
            f"the call of {name!r} gave an awaitable and nothing awaits it here: use {instead}"
        )

    return native


def awaited(dispatch: AsyncDispatch) -> Native:
    """`dispatch`, sync or async, for code that awaits what it gives."""

    async def native(name: str, arguments: dict[str, Any]) -> Any:
        result = dispatch(name, arguments)
        return await result if inspect.isawaitable(result) else result

    return native
