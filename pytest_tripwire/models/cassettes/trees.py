"""Takes secrets out of JSON: by the name that they stand under, and wherever they are repeated."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pytest_tripwire.models.cassettes.names import LEAST, is_secret, is_surely_secret
from pytest_tripwire.models.cassettes.secrets import FILTERED, Secrets

#: What the model wrote itself: the arguments of its tool calls. An agent acts on them.
_WRITTEN = frozenset({"arguments", "input", "partial_json"})


class Trees:
    """Filters decoded JSON.

    Args:
        secrets: what is hidden wherever it stands.
        answers: whether it comes from the model. What a model wrote is acted upon when it is
            played, so there a name must say for sure that it is a secret: the `key` of a record
            and the `token` of a page stay.
    """

    def __init__(self, secrets: Secrets, *, answers: bool) -> None:
        self._secrets = secrets
        self._answers = answers

    def filtered(self, value: Any) -> Any:
        """The value without secrets. Raises RecursionError for one that is nested too deeply."""
        return self._value(value, sure=False)

    def _value(self, value: Any, *, sure: bool) -> Any:
        if isinstance(value, dict):
            return {
                self._secrets.hide(name): self._member(name, each, value, sure=sure)
                for name, each in value.items()
            }
        if isinstance(value, list):
            return [self._value(each, sure=sure) for each in value]
        if isinstance(value, str):
            return self._text(value, sure=sure or self._answers)
        return self._number(value)

    def _member(self, name: str, value: Any, siblings: dict[str, Any], *, sure: bool) -> Any:
        if name == "properties" and isinstance(value, dict):
            return self._properties(value, sure=sure)
        if is_surely_secret(name):
            return self._blank(value, least=1)
        # The pieces of a text whose probabilities are told are called tokens too.
        if not sure and is_secret(name) and "logprob" not in siblings:
            return self._blank(value, least=LEAST)
        written = self._answers and name in _WRITTEN
        return self._value(value, sure=sure or written)

    def _properties(self, value: dict[str, Any], *, sure: bool) -> Any:
        """A JSON schema's properties: what is called `password` there is no password."""
        return {
            self._secrets.hide(name): self._value(each, sure=sure)
            if isinstance(each, dict)
            else self._member(name, each, value, sure=sure)
            for name, each in value.items()
        }

    def _blank(self, value: Any, *, least: int) -> Any:
        if isinstance(value, dict):
            return {
                self._secrets.hide(name): self._blank(each, least=least)
                for name, each in value.items()
            }
        if isinstance(value, list):
            return [self._blank(each, least=least) for each in value]
        if isinstance(value, str):
            return FILTERED if len(value) >= least else self._secrets.hide(value)
        if least == 1 and isinstance(value, int | float) and not isinstance(value, bool):
            return FILTERED
        return self._number(value)

    def _number(self, value: Any) -> Any:
        if isinstance(value, int | float) and not isinstance(value, bool):
            text = json.dumps(value)
            return value if self._secrets.hide(text) == text else FILTERED
        return value

    def _text(self, text: str, *, sure: bool) -> str:
        """A text, and the JSON that it may be."""
        if text.lstrip()[:1] in ("{", "["):
            try:
                inner = json.loads(text)
                hidden = self._value(inner, sure=sure)
            except (ValueError, RecursionError):
                return self._secrets.hide(text)
            if hidden != inner:
                return json.dumps(hidden)
        return self._secrets.hide(text)


def sure_texts(value: Any, *, under: bool = False) -> Iterator[str]:
    """The texts that stand under a name that surely says secret."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from sure_texts(each, under=under or is_surely_secret(name))
    elif isinstance(value, list):
        for each in value:
            yield from sure_texts(each, under=under)
    elif isinstance(value, str) and value and under:
        yield value
