"""What a tool gives, as the breaker reads it and as the model is shown it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pytest_tripwire.adapters.bridge import Native, as_text


class Kept:
    """The results of a call, or of a message's calls, in both forms. Tools of this client give
    text, mostly JSON; the breaker looks for ids, versions and errors in fields.
    """

    def __init__(self) -> None:
        self._pairs: list[tuple[Any, Any]] = []

    def seen(self, result: Any) -> Any:
        """The result as the breaker reads it."""
        # A generator would be empty for the second reader.
        kept = list(result) if isinstance(result, Iterator | tuple) else result
        parsed = _object(kept) if isinstance(kept, str) else kept
        self._pairs.append((parsed, kept))
        return parsed

    def over(self, native: Native) -> Native:
        """`native`, whose results are read as they come."""
        return lambda name, arguments: self.seen(native(name, arguments))

    def aover(self, native: Native) -> Native:
        """The same for one that is awaited."""

        async def later(name: str, arguments: dict[str, Any]) -> Any:
            return self.seen(await native(name, arguments))

        return later

    def shown(self, result: Any) -> Any:
        """What the model is shown: the tool's own words, unless they are refused or come with a
        hint.
        """
        for parsed, kept in self._pairs:
            if parsed is result:
                result = kept
        return result if _is_content(result) else as_text(result)


def _is_content(result: Any) -> bool:
    """Whether the client takes it for the content of a result as it is."""
    return isinstance(result, list) and all(
        isinstance(each, dict) and "type" in each for each in result
    )


def _object(text: str) -> Any:
    """The object that a text is as JSON; the text, if it is none."""
    if not text.lstrip().startswith("{"):
        return text
    try:
        parsed = json.loads(text)
    except ValueError:
        return text
    return parsed if isinstance(parsed, dict) else text
