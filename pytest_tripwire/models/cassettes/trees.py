"""Takes secrets out of JSON: by the name that they stand under, and wherever they are repeated."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

from pytest_tripwire.models.cassettes.names import LEAST, is_secret, is_surely_secret
from pytest_tripwire.models.cassettes.secrets import FILTERED, Secrets

#: What the model wrote itself: the arguments of its tool calls. An agent acts on them.
_WRITTEN = frozenset({"arguments", "input", "partial_json"})

#: In the place of a value in what a tool was told or said: the `key` of an issue is no secret, and
#: a model answers another one otherwise. Sixteen bits of it are left to compare.
_MARK = re.compile(r"\[filtered(?: [0-9a-f]{4})?\]")


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

    def _value(self, value: Any, *, sure: bool, told: bool = False) -> Any:
        if isinstance(value, dict):
            return {
                self._secrets.hide(name): self._member(name, each, value, sure=sure, told=told)
                for name, each in value.items()
            }
        if isinstance(value, list):
            return [self._value(each, sure=sure, told=told) for each in value]
        if isinstance(value, str):
            return self._text(value, sure=sure or self._answers)
        return self._number(value)

    def _member(
        self, name: str, value: Any, siblings: dict[str, Any], *, sure: bool, told: bool
    ) -> Any:
        if name == "properties" and isinstance(value, dict):
            return self._properties(value, sure=sure, told=told)
        if is_surely_secret(name):
            return self._blank(value, least=1, marked=False)
        # The pieces of a text whose probabilities are told are called tokens too.
        if not sure and is_secret(name) and "logprob" not in siblings:
            return self._blank(value, least=LEAST, marked=told)
        written = self._answers and name in _WRITTEN
        return self._value(value, sure=sure or written, told=told)

    def _properties(self, value: dict[str, Any], *, sure: bool, told: bool) -> Any:
        """A JSON schema's properties: what is called `password` there is no password."""
        return {
            self._secrets.hide(name): self._value(each, sure=sure, told=told)
            if isinstance(each, dict)
            else self._member(name, each, value, sure=sure, told=told)
            for name, each in value.items()
        }

    def _blank(self, value: Any, *, least: int, marked: bool) -> Any:
        if isinstance(value, dict):
            return {
                self._secrets.hide(name): self._blank(each, least=least, marked=marked)
                for name, each in value.items()
            }
        if isinstance(value, list):
            return [self._blank(each, least=least, marked=marked) for each in value]
        if isinstance(value, str):
            if len(value) < least:
                return self._secrets.hide(value)
            return self._mark(value) if marked else FILTERED
        if least == 1 and isinstance(value, int | float) and not isinstance(value, bool):
            return FILTERED
        return self._number(value)

    def _mark(self, value: str) -> str:
        """What tells a result from another one, and too little to find it by."""
        if _MARK.fullmatch(value):
            return value
        if self._secrets.hide(value) != value:
            return FILTERED
        digest = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
        return f"{FILTERED[:-1]} {digest[:4]}]"

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
                hidden = self._value(inner, sure=sure, told=True)
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
