"""Arguments are seen to fit what the server lists before they are sent: what does not fit begins
nothing. An answer of the server's proves no such thing, whatever its code: a tool that has begun
may give any error of the protocol's.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from pytest_tripwire.adapters.given import Given
from pytest_tripwire.adapters.mcp.serving import failed
from pytest_tripwire.adapters.reading import with_defaults
from pytest_tripwire.guard.errors import NotBegun

#: Lists the server's tools anew.
Anew = Callable[[], Awaitable[object]]

#: How much the model is told of what does not fit.
_MOST, _LONGEST = 5, 200


class Schemas:
    """Owner of what a server's tools take, as they were listed last."""

    def __init__(self) -> None:
        self._schemas: dict[str, Any] = {}

    def note(self, tool: Any) -> None:
        """A tool was listed."""
        self._schemas[tool.name] = tool.input_schema

    def read(self, name: str, sent: Mapping[str, Any]) -> Given:
        """The arguments as a tool gets them by its schema: what is left out is what the schema says
        that it is then, and a text that fits only when it is read as JSON is what it reads as. A
        server that takes it can take it for nothing else.
        """
        schema = self._schemas.get(name, {})
        try:
            errors = self._all(name, sent)
            fitting = _read(sent, errors) if errors else dict(sent)
            if errors and self._all(name, fitting):
                return Given.unread(sent)
            return Given(sent=dict(sent), read=with_defaults(schema, fitting))
        except Exception:  # noqa: BLE001 - a schema that cannot be followed bars nobody
            return Given.unread(sent)

    async def check(self, name: str, arguments: Mapping[str, Any], anew: Anew) -> None:
        """See that a tool takes its arguments.

        Args:
            name: the tool.
            arguments: by name.
            anew: lists the tools once more, as this one may take something else by now.

        Raises:
            NotBegun: it does not take them; the answer says why, as the protocol has it.
        """
        problem = self._problem(name, arguments)
        if not problem:
            return
        try:
            await anew()
        except Exception as error:
            raise NotBegun(failed(problem)) from error
        problem = self._problem(name, arguments)
        if problem:
            raise NotBegun(failed(problem))

    def _problem(self, name: str, arguments: Mapping[str, Any]) -> str:
        """What is wrong with arguments, for the model; nothing where nobody can tell."""
        try:
            errors = self._unfit(name, arguments)
        except Exception:  # noqa: BLE001 - a schema that cannot be followed bars nobody
            return ""
        if not errors:
            return ""
        told = "; ".join(_said(each) for each in errors[:_MOST])
        return f"{name!r} was not called: its arguments do not fit its input schema. {told}"

    def _unfit(self, name: str, arguments: Mapping[str, Any]) -> list[Any]:
        errors = self._all(name, arguments)
        return errors if errors and self._all(name, _read(arguments, errors)) else []

    def _all(self, name: str, arguments: Mapping[str, Any]) -> list[Any]:
        # A name that was never listed takes anything here.
        validator = _validator(json.dumps(self._schemas.get(name, {}), sort_keys=True))
        return [] if validator is None else list(validator.iter_errors(arguments))


@lru_cache(maxsize=512)
def _validator(text: str) -> Any:
    """What sees whether values fit a schema; None where it is no schema that can be read. It takes
    long to be made, and a server may have a run for each request.
    """
    # The protocol's own package brings it, and puts it off as well: it takes long to be imported.
    from jsonschema import SchemaError
    from jsonschema.validators import validator_for
    from referencing import Registry

    schema = json.loads(text)
    kind = validator_for(schema)
    try:
        kind.check_schema(schema)
    except SchemaError:
        return None
    # Nothing is fetched: what a schema refers to is within it.
    return kind(schema, registry=Registry())


def _read(arguments: Mapping[str, Any], errors: Sequence[Any]) -> dict[str, Any]:
    """The arguments, with each text that does not fit read as JSON. Models send `"5"` for 5, and
    many a server takes it.
    """
    read = {"": copy.deepcopy(dict(arguments))}
    for path, text in _texts(errors):
        *places, last = ("", *path)
        holder: Any = read
        for place in places:
            holder = holder[place]
        try:
            holder[last] = json.loads(text)
        except ValueError:
            continue
    return read[""]


def _texts(errors: Sequence[Any]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """The texts that do not fit, and where they are."""
    for error in errors:
        path = tuple(error.absolute_path)
        if path and isinstance(error.instance, str):
            yield path, error.instance
        else:
            yield from _texts(error.context or ())


def _said(error: Any) -> str:
    """What does not fit, and where."""
    place = error.json_path.removeprefix("$").removeprefix(".")
    message = str(error.message)
    short = message if len(message) <= _LONGEST else f"{message[:_LONGEST]}..."
    return f"{place}: {short}" if place else short
