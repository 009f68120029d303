"""The model writes arguments that are not JSON."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from pytest_tripwire.models.answer import Answer
from pytest_tripwire.models.faults.fault import ModelFault


class MalformedArguments(ModelFault, frozen=True, kw_only=True, tag="malformed_arguments"):
    """The arguments of the turn's calls lack their beginning. At the next turn the model makes the
    same move in sound form.
    """

    spoils: ClassVar[bool] = True

    def alter(self, answer: Answer) -> Answer:
        """The answer that goes out."""
        # The beginning: clients that read streams complete what ends too early, and would make a
        # call that the model is about to make again.
        spoilt = tuple(msgspec.structs.replace(each, spoilt=each.text[1:]) for each in answer.calls)
        return msgspec.structs.replace(answer, calls=spoilt)
