"""The tool that is called, bare and guarded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.timing import Prepared, Subject
from pytest_tripwire.breaker import Breaker, tool_spec


@tool_spec(effect="read", identity=("order",))
def look_up(order: str, euros: int, request_id: str) -> str:  # noqa: ARG001 - as a model sends them
    """Do nothing. The result is another for each order: nothing, again and again, would be a loop
    that the breaker is there to stop.
    """
    return order


@tool_spec(effect="read", identity=("order",))
async def look_up_later(order: str, euros: int, request_id: str) -> str:  # noqa: ARG001 - as above
    """The same, to be awaited."""
    return order


@tool_spec(effect="read")
def look_into(number: int, content: Any) -> int:  # noqa: ARG001 - as above
    """Do nothing with a large argument."""
    return number


def calls(number: int) -> list[dict[str, Any]]:
    """Small arguments for each of a number of calls, no two alike, as they come from a model."""
    return [
        {"order": f"A-{each}", "euros": 10, "request_id": f"nonce-{each:08x}"}
        for each in range(number)
    ]


def guarded(tool: Callable[..., Any]) -> Callable[..., Any]:
    """`tool` guarded in a new run, with nothing set but what is set by default."""
    (asked_first,) = Breaker().run().guard([tool])
    return asked_first


def was_refused(result: object) -> bool:
    """Whether a guarded call was not let through."""
    return isinstance(result, dict) and bool(result.get("refused"))


class RefusedError(RuntimeError):
    """A call of a benchmark was refused, so that nothing was measured."""

    def __init__(self, result: object) -> None:
        super().__init__(f"the breaker refused a call that it should let through: {result}")


def calling(given: list[dict[str, Any]], make: Callable[[], Callable[..., Any]]) -> Subject:
    """A tool that is made anew for each measurement, and called with each of the arguments."""

    def prepare() -> Prepared:
        tool = make()

        def prepared() -> None:
            for arguments in given:
                result = tool(**arguments)
            if was_refused(result):
                raise RefusedError(result)

        return prepared

    return prepare
