"""The tools of the call that the agent is in: who is called twice gets others each time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from pytest_tripwire.harness import Tools


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a caller in another process is told.

    Args:
        text: the result as JSON, or what the tool has raised.
        failed: whether the tool has raised.
    """

    text: str
    failed: bool = False


class Offered:
    """Hands calls from outside to the tools of the day. Used from several threads."""

    def __init__(self) -> None:
        self._tools: Tools | None = None

    def replace(self, tools: Tools) -> None:
        """Offer these from now on."""
        self._tools = tools

    def schemas(self) -> list[dict[str, Any]]:
        """Name, description and parameters of each, in JSON Schema."""
        tools = self._tools
        return [each["function"] for each in tools.schemas("openai")] if tools else []

    def call(self, name: str, arguments: Mapping[str, Any]) -> Answer:
        """Call one in this thread. A refusal is a result like any other: the model has to read it.

        Raises:
            OverrunError: when the run's real time is over.
        """
        tools = self._tools
        if tools is None or name not in tools:
            known = ", ".join(tools or ())
            return Answer(text=f"there is no tool {name!r}; there are: {known}", failed=True)
        try:
            result = tools.call(name, arguments)
        except Exception as error:  # noqa: BLE001 - whatever a tool raises is the agent's to handle
            return Answer(text=f"{type(error).__name__}: {error}", failed=True)
        return Answer(text=msgspec.json.encode(result).decode())
