"""Whether a value fits a JSON schema: the keywords that tools' parameters use.

A keyword that is not known here is passed over, so that a schema of any dialect can be read: a
value is only refused for a reason that can be named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list, tuple),
    "object": (Mapping,),
    "null": (type(None),),
}


def problems(value: Any, schema: Any, where: str = "arguments") -> Iterator[str]:
    """What is wrong with `value`, one sentence each; nothing when it fits."""
    if not isinstance(schema, Mapping):
        return
    if not _is_kind(value, schema.get("type")):
        yield f"{where} is {value!r}, and the schema wants {schema['type']}"
        return
    if "const" in schema and value != schema["const"]:
        yield f"{where} is {value!r}, and the schema wants {schema['const']!r}"
    if isinstance(schema.get("enum"), list) and value not in schema["enum"]:
        yield f"{where} is {value!r}, and the schema allows {schema['enum']}"
    if isinstance(value, str):
        yield from _text(value, schema, where)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from _number(value, schema, where)
    elif isinstance(value, Mapping):
        yield from _object(value, schema, where)
    elif isinstance(value, list | tuple):
        for index, part in enumerate(value):
            yield from problems(part, schema.get("items"), f"{where}[{index}]")


def _is_kind(value: Any, wanted: Any) -> bool:
    names = wanted if isinstance(wanted, list) else [wanted]
    known = [name for name in names if name in _KINDS]
    return not known or any(_matches(value, name) for name in known)


def _matches(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _KINDS[name])


def _text(value: str, schema: Mapping[str, Any], where: str) -> Iterator[str]:
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and not re.search(pattern, value):
        yield f"{where} is {value!r}, and the schema wants the pattern {pattern}"
    if len(value) < schema.get("minLength", 0):
        yield f"{where} is {value!r}, shorter than {schema['minLength']} characters"
    if len(value) > schema.get("maxLength", len(value)):
        yield f"{where} is {value!r}, longer than {schema['maxLength']} characters"


def _number(value: float, schema: Mapping[str, Any], where: str) -> Iterator[str]:
    if value < schema.get("minimum", value) or value > schema.get("maximum", value):
        low, high = schema.get("minimum", "-inf"), schema.get("maximum", "inf")
        yield f"{where} is {value}, and the schema allows {low} to {high}"


def _object(value: Mapping[str, Any], schema: Mapping[str, Any], where: str) -> Iterator[str]:
    known = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{where} lacks {name!r}, which the schema requires"
    for name, part in value.items():
        if name in known:
            yield from problems(part, known[name], f"{where}.{name}")
        elif schema.get("additionalProperties") is False:
            yield f"{where} has {name!r}, which the schema does not know"
