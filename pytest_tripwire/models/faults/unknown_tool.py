"""The model calls a tool that nobody offered."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from pytest_tripwire.models.answer import Answer
from pytest_tripwire.models.faults.fault import ModelFault


class UnknownTool(ModelFault, frozen=True, kw_only=True, tag="unknown_tool"):
    """The turn's calls go to a tool that does not exist. At the next turn the model makes the
    same move with the right name.

    Args:
        name: the tool that it calls.
    """

    name: str = "tool_that_nobody_offered"

    spoils: ClassVar[bool] = True

    def alter(self, answer: Answer) -> Answer:
        """The answer that goes out."""
        renamed = tuple(msgspec.structs.replace(each, tool=self.name) for each in answer.calls)
        return msgspec.structs.replace(answer, calls=renamed)
