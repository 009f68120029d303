"""Builds the smallest value that a JSON schema allows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_tripwire.world.schema.scalar import smallest_number, smallest_string

#: Far above any real schema, far below what would hurt: a few nested `minItems`
#: ask for millions of values.
MOST_VALUES = 10_000
DEEPEST = 40


class SchemaError(ValueError):
    """No small value satisfies the schema."""


def smallest(schema: Mapping[str, Any]) -> Any:
    """A small value that `schema` allows.

    It is the schema's own `const`, `default`, first of `examples` or first of `enum`, and
    else the least that type and bounds ask for; optional properties are left out. Keywords
    that only a search could satisfy (`pattern`, `not`, `if`) are not looked at.

    Raises:
        SchemaError: the schema asks for an endless or a huge value.
    """
    return _Builder(schema).build(schema, 0)


class _Builder:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._built = 0

    def build(self, schema: Any, depth: int) -> Any:
        self._spend(depth)
        if not isinstance(schema, Mapping):
            return None
        if "$ref" in schema:
            return self.build(self._resolve(schema["$ref"]), depth + 1)
        found, value = _given(schema)
        if found:
            return value
        for keyword in ("anyOf", "oneOf"):
            if options := _list(schema.get(keyword)):
                return self.build(_option(options), depth + 1)
        if parts := _list(schema.get("allOf")):
            return self.build(self._merge(schema, parts), depth + 1)
        return self._typed(schema, depth)

    def _typed(self, schema: Mapping[str, Any], depth: int) -> Any:
        match _type(schema):
            case "object":
                return self._object(schema, depth)
            case "array":
                count = _count(schema.get("minItems"))
                return [self.build(schema.get("items"), depth + 1) for _ in range(count)]
            case "string":
                return smallest_string(schema)
            case "integer" | "number" as kind:
                return smallest_number(schema, whole=kind == "integer")
            case "boolean":
                return False
            case _:
                return None

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        properties = schema.get("properties")
        known = properties if isinstance(properties, Mapping) else {}
        names = [name for name in _list(schema.get("required")) if isinstance(name, str)]
        return {name: self.build(known.get(name), depth + 1) for name in names}

    def _resolve(self, reference: Any) -> Any:
        node: Any = self._root
        if not isinstance(reference, str) or not reference.startswith("#"):
            raise SchemaError(f"$ref {reference!r} leads out of the schema: use #/$defs/...")
        for step in reference.removeprefix("#").split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if not isinstance(node, Mapping) or name not in node:
                raise SchemaError(f"$ref {reference!r} leads nowhere: add it to the schema")
            node = node[name]
        return node

    def _merge(self, schema: Mapping[str, Any], parts: list[Any]) -> dict[str, Any]:
        merged = {key: value for key, value in schema.items() if key != "allOf"}
        for part in parts:
            whole = self._resolve(part["$ref"]) if _has_ref(part) else part
            if isinstance(whole, Mapping):
                _add(merged, whole)
        return merged

    def _spend(self, depth: int) -> None:
        self._built += 1
        if depth > DEEPEST or self._built > MOST_VALUES:
            raise SchemaError(
                f"the schema asks for a value of more than {DEEPEST} levels or {MOST_VALUES} "
                "parts: make a recursive property optional, or lower minItems"
            )


def _given(schema: Mapping[str, Any]) -> tuple[bool, Any]:
    for keyword in ("const", "default"):
        if keyword in schema:
            return True, schema[keyword]
    for keyword in ("examples", "enum"):
        if values := _list(schema.get(keyword)):
            return True, values[0]
    return False, None


def _option(options: list[Any]) -> Any:
    # None ends a recursive schema and is the least that an optional value can be.
    nulls = [o for o in options if isinstance(o, Mapping) and o.get("type") == "null"]
    return (nulls or options)[0]


def _type(schema: Mapping[str, Any]) -> Any:
    kind = schema.get("type")
    if isinstance(kind, list):
        return "null" if "null" in kind or not kind else kind[0]
    if kind is None and ("properties" in schema or "required" in schema):
        return "object"
    return kind


def _add(merged: dict[str, Any], part: Mapping[str, Any]) -> None:
    for key, value in part.items():
        old = merged.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            merged[key] = {**old, **value}
        elif isinstance(old, list) and isinstance(value, list):
            merged[key] = old + value
        else:
            merged[key] = value


def _has_ref(part: Any) -> bool:
    return isinstance(part, Mapping) and "$ref" in part


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _count(value: Any) -> int:
    return value if isinstance(value, int) else 0
