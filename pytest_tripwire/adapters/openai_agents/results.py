"""What a tool gives, as the breaker reads it and as the model is shown it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from agents import ToolOutputText
from pydantic import BaseModel

from pytest_tripwire.adapters.bridge import as_text, is_refused


class Results:
    """The results of a call, and of the reads that it needed, in both forms. Tools of the SDK give
    text, mostly JSON, or models; the breaker looks for ids, versions and errors in fields.
    """

    def __init__(self) -> None:
        self._pairs: list[tuple[Any, Any]] = []

    def seen(self, result: Any) -> Any:
        """The result as the breaker reads it."""
        read = _fields(result)
        self._pairs.append((read, result))
        return read

    def is_own(self, result: Any) -> bool:
        """Whether it is what a tool gave, whatever it says: no refusal of the breaker's."""
        return any(read is result for read, _ in self._pairs)

    def shown(self, result: Any) -> Any:
        """What the model is shown: the tool's own result, unless that comes with a hint, or the
        breaker's refusal.
        """
        for read, own in self._pairs:
            if read is result:
                return own
        # The call's own result comes after those of the reads that it needed.
        hinted = bool(self._pairs) and not is_refused(result)
        return result if hinted and isinstance(self._pairs[-1][1], Mapping) else as_text(result)


def _fields(result: Any) -> Any:
    """The data in a result, where it is in a text or in a model of Pydantic's."""
    if isinstance(result, ToolOutputText):
        return _fields(result.text)
    if isinstance(result, BaseModel):
        return result.model_dump(mode="json")
    if not isinstance(result, str) or not result.lstrip().startswith(("{", "[")):
        return result
    try:
        return json.loads(result)
    except ValueError:
        return result
