"""What a tool's body raises, where the framework makes a message of it.

A message of the framework's says that something went wrong, and no more what. So the body's own
exceptions are noted on their way to the framework, for the run: what a tool is declared to raise
where nothing has happened, or where it was denied, is that whatever the model is shown of it.
"""

from __future__ import annotations

import copy
import functools
from typing import Any

from langchain_core.tools import BaseTool

from pytest_tripwire.guard.calling import matches
from pytest_tripwire.timeline.spec import Failure


class Noting:
    """How the body of one call's tool has ended, each time that it was run: a retry of the
    framework's may be next to it, unseen by the breaker.

    Args:
        declared: the exceptions of which it is declared what they mean.
    """

    def __init__(self, declared: tuple[Failure, ...]) -> None:
        self._declared = declared
        self._begun = 0
        self._raised: list[BaseException] = []

    def tool(self, tool: Any) -> Any:
        """A copy of a tool whose body is noted; the tool itself, if nothing is declared."""
        if not self._declared or not isinstance(tool, BaseTool):
            return tool
        noted = copy.copy(tool)
        # Beside the fields of the model that a tool is, where its class has the methods.
        vars(noted)["_run"] = self._noted(noted._run)  # noqa: SLF001 - what every tool has
        vars(noted)["_arun"] = self._anoted(noted._arun)  # noqa: SLF001
        return noted

    def failure(self) -> BaseException | None:
        """What the body has raised, if that was declared. None if it has also ended in another way,
        or has not ended: then something may have happened.
        """
        declared = [each for each in self._raised if matches(each, self._declared)]
        if not declared or len(declared) != self._begun:
            return None
        return declared[-1]

    def _noted(self, body: Any) -> Any:
        @functools.wraps(body)
        def noted(*given: Any, **named: Any) -> Any:
            self._begun += 1
            try:
                return body(*given, **named)
            except BaseException as error:
                self._raised.append(error)
                raise

        return noted

    def _anoted(self, body: Any) -> Any:
        @functools.wraps(body)
        async def noted(*given: Any, **named: Any) -> Any:
            self._begun += 1
            try:
                return await body(*given, **named)
            except BaseException as error:
                self._raised.append(error)
                raise

        return noted
