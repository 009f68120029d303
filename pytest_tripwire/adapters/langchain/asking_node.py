"""A `ToolNode` that asks a person about all calls of a message before any of them runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langgraph.prebuilt import ToolNode

from pytest_tripwire.adapters.langchain.asking import Asking


class AskingToolNode(ToolNode):
    """Carries calls out; those that need a person's yes are put up together.

    Args:
        tools: tools, or functions.
        asking: asks.
        options: of `ToolNode`.
    """

    def __init__(self, tools: Sequence[Any], asking: Asking, **options: Any) -> None:
        super().__init__(tools, **options)
        self.asking = asking

    def invoke(self, input: Any, config: Any = None, **options: Any) -> Any:  # noqa: A002
        """Carry the calls of a message out."""
        calls, _ = self._parse_input(input)
        with self.asking.round(calls) as round_:
            if round_ is not None:
                super().invoke(input, _one_by_one(config), **options)
                round_.ask(config)
            return super().invoke(input, config, **options)

    async def ainvoke(self, input: Any, config: Any = None, **options: Any) -> Any:  # noqa: A002
        """The same as a task."""
        calls, _ = self._parse_input(input)
        with self.asking.round(calls) as round_:
            if round_ is not None:
                await super().ainvoke(input, _one_by_one(config), **options)
                round_.ask(config)
            return await super().ainvoke(input, config, **options)


def _one_by_one(config: Any) -> Any:
    """Calls are decided about in their order, whatever the threads do."""
    return {**(config or {}), "max_concurrency": 1}
