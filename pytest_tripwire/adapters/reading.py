"""Arguments are read as a tool reads them: by its signature, its model or its schema."""

from __future__ import annotations

import dataclasses
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from pydantic import BaseModel, RootModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticSerializationError, to_jsonable_python

from pytest_tripwire.adapters.given import Given
from pytest_tripwire.guard.calling import signature_of as plain_signature_of

_SIMPLE = (bool, int, float, str, type(None))
#: What goes wrong where a value has no form in JSON.
_FORMLESS = (PydanticSerializationError, ValueError, TypeError, RecursionError)
_REST = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def read_as(sent: Mapping[str, Any], taken: Mapping[str, Any]) -> Given:
    """The arguments of a call that were read.

    Args:
        sent: as the model has sent them.
        taken: as the tool gets them, by the names under which the model is shown them. What has no
            form in JSON stays as it was sent, and is left out if it was not.
    """
    found: dict[str, Any] = {}
    for name, value in taken.items():
        try:
            found[name] = plain(value)
        except _FORMLESS:
            if name in sent:
                found[name] = sent[name]
    return Given(sent=dict(sent), read=found)


def signature_of(function: Callable[..., Any]) -> inspect.Signature | None:
    """The signature of a function, with its hints read where they can be."""
    try:
        return inspect.signature(function, eval_str=True)
    except Exception:  # noqa: BLE001 - a hint is any expression
        return plain_signature_of(function)


def by_signature(
    signature: inspect.Signature,
    args: Sequence[Any],
    named: Mapping[str, Any],
    sent: Mapping[str, Any],
) -> dict[str, Any] | None:
    """What a function gets by name, defaults filled in; None if it does not take this.

    Args:
        signature: of the function.
        args: as they are handed over.
        named: the same of those that are by name.
        sent: as the model has sent them.
    """
    try:
        bound = signature.bind(*args, **named)
    except TypeError:
        return None
    bound.apply_defaults()
    return {
        name: value
        for name, value in bound.arguments.items()
        if name in sent or _is_constant(signature.parameters[name], value)
    }


def by_model(read: BaseModel) -> dict[str, Any]:
    """What a model of arguments has read, by the names that the model which calls is shown."""
    named: dict[str, Any] = {}
    for name, field in type(read).model_fields.items():
        value = getattr(read, name)
        made = field.default_factory is not None and name not in read.model_fields_set
        if not made or _is_empty(value):
            named[_shown(name, field)] = value
    return {**named, **(read.model_extra or {})}


def with_defaults(schema: Any, sent: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments with what their schema in JSON says that they are by default."""
    return dict(_filled(schema, dict(sent), schema))


def _is_constant(parameter: inspect.Parameter, value: Any) -> bool:
    """Whether an argument that was left out is the same each time. What is made anew for each call
    tells calls apart that the model has made in the same words.
    """
    if parameter.kind in _REST:
        return bool(value)
    fields = (parameter.default, *getattr(parameter.annotation, "__metadata__", ()))
    field = next((each for each in fields if isinstance(each, FieldInfo)), None)
    if field is not None and field.default_factory is not None:
        return _is_empty(value)
    return field is not None or parameter.default is not parameter.empty or _is_empty(value)


def _is_empty(value: Any) -> bool:
    return type(value) in (list, dict, set, tuple, frozenset) and not value


def _shown(name: str, field: FieldInfo) -> str:
    """The name of a field in the schema that a model is shown."""
    given = field.validation_alias
    if given is None or isinstance(given, str):
        return given or field.alias or name
    first = getattr(given, "choices", [None])[0]
    return first if isinstance(first, str) else name


def plain(value: Any) -> Any:
    """A value as JSON has it, whole: what leaves out a part of it for others to see would make two
    calls one. Raises one of several errors where it has no such form, and of a secret, which is for
    nobody but the tool.
    """
    if type(value) in _SIMPLE:
        return value
    if hasattr(value, "get_secret_value"):
        raise ValueError("a secret")
    if isinstance(value, Mapping):
        return {_key(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, set | frozenset):
        return sorted(map(plain, value), key=lambda each: json.dumps(each, sort_keys=True))
    fields = _fields(value)
    return _leaf(value) if fields is None else fields


def _fields(value: Any) -> Any:
    """The parts of a model or a dataclass; None of anything else."""
    if isinstance(value, RootModel):
        return plain(value.root)
    if isinstance(value, BaseModel):
        names = [*type(value).model_fields, *(value.model_extra or ())]
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [each.name for each in dataclasses.fields(value)]
    else:
        return None
    return {name: plain(getattr(value, name)) for name in names}


def _leaf(value: Any) -> Any:
    """What is equal is written in one way."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        return to_jsonable_python(value.astimezone(UTC))
    text = to_jsonable_python(value)
    if isinstance(value, Decimal) and "." in text and "E" not in text:
        return text.rstrip("0").rstrip(".")
    return text


def _key(name: Any) -> str:
    return name if isinstance(name, str) else str(plain(name))


def _filled(schema: Any, value: Any, root: Any) -> Any:
    """A value with the defaults of its parts."""
    schema = _followed(schema, root)
    if isinstance(value, list):
        return [_filled(schema.get("items"), each, root) for each in value]
    properties = schema.get("properties")
    if not isinstance(value, dict) or not isinstance(properties, Mapping):
        return value
    found = {name: _filled(properties.get(name), each, root) for name, each in value.items()}
    for name, part in properties.items():
        if name not in found and isinstance(part, Mapping) and "default" in part:
            found[name] = part["default"]
    return found


def _followed(schema: Any, root: Any) -> Mapping[str, Any]:
    """Where a schema refers to one within the same whole, or to one beside nothing, that one."""
    for _ in range(10):
        if not isinstance(schema, Mapping):
            return {}
        choices = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
        if "$ref" in schema:
            schema = _within(root, str(schema["$ref"]))
        elif len(choices) == 1:
            schema = choices[0]
        else:
            return schema
    return {}


def _within(root: Any, place: str) -> Any:
    for name in place.removeprefix("#/").split("/"):
        root = root.get(name) if isinstance(root, Mapping) else None
    return root
