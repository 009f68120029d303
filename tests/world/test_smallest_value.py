"""The smallest value that a JSON schema allows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_tripwire.world.schema import SchemaError, smallest

NODE = {"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"const": "refund", "type": "string"}, "refund"),
        ({"default": 3, "enum": [1, 2, 3]}, 3),
        ({"examples": ["A-1"], "type": "string"}, "A-1"),
        ({"enum": ["low", "high"]}, "low"),
        ({"type": "string"}, ""),
        ({"type": "string", "minLength": 3}, "xxx"),
        ({"type": "string", "format": "date"}, "2026-01-01"),
        ({"type": "integer"}, 0),
        ({"type": "integer", "minimum": 4}, 4),
        ({"type": "integer", "minimum": 1.5}, 2),
        ({"type": "integer", "exclusiveMinimum": 4}, 5),
        ({"type": "integer", "maximum": -2}, -2),
        ({"type": "integer", "exclusiveMaximum": 0}, -1),
        ({"type": "integer", "minimum": 4, "multipleOf": 5}, 5),
        ({"type": "number", "exclusiveMinimum": 0, "maximum": 0.5}, 0.25),
        ({"type": "number", "minimum": 1, "multipleOf": 1e-300}, 1),
        ({"type": "boolean"}, False),
        ({"type": "null"}, None),
        ({"type": ["string", "null"]}, None),
        ({"type": ["integer", "string"]}, 0),
        ({"type": "array", "items": {"type": "string"}}, []),
        ({"type": "array", "items": {"type": "string"}, "minItems": 2}, ["", ""]),
        ({"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string"}]}, 1),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, None),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "integer"}, "b": {}},
                "required": ["a"],
            },
            {"a": 0},
        ),
        (
            {"$defs": {"Tag": {"enum": ["x"]}}, "properties": {"tag": {"$ref": "#/$defs/Tag"}}}
            | {"required": ["tag"]},
            {"tag": "x"},
        ),
        (
            {
                "allOf": [
                    {"properties": {"a": {"const": 1}}, "required": ["a"]},
                    {"properties": {"b": {"const": 2}}, "required": ["b"]},
                ]
            },
            {"a": 1, "b": 2},
        ),
    ],
    ids=json.dumps,
)
def test_the_smallest_value(schema: dict[str, Any], value: Any) -> None:
    assert smallest(schema) == value


@pytest.mark.parametrize(
    "schema",
    [
        NODE,
        {"$ref": "#"},
        {"type": "array", "minItems": 10**9, "items": {"type": "null"}},
        {"$ref": "#/$defs/Nowhere"},
        {"$ref": "https://example.com/schema"},
    ],
    ids=json.dumps,
)
def test_endless_huge_and_broken_schemas_are_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(SchemaError):
        smallest(schema)


def test_values_that_double_at_every_level_are_refused_before_they_fill_the_memory() -> None:
    schema: dict[str, Any] = {"type": "null"}
    for _ in range(30):
        schema = {"type": "array", "minItems": 2, "items": schema}

    with pytest.raises(SchemaError, match="10000"):
        smallest(schema)


KEYWORDS = ["type", "properties", "required", "items", "minItems", "minLength", "minimum", "anyOf"]
KEYWORDS += ["allOf", "$ref", "enum", "exclusiveMinimum", "maximum", "multipleOf", "format"]
TYPES = ["object", "array", "string", "integer", "number"]
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
SCHEMAS = st.recursive(
    LEAVES | st.sampled_from(TYPES),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYWORDS) | st.text(max_size=3), inner, max_size=5)
    ),
    max_leaves=20,
)


@given(schema=st.dictionaries(st.sampled_from(KEYWORDS), SCHEMAS))
def test_no_schema_breaks_it(schema: dict[str, Any]) -> None:
    try:
        value = smallest(schema)
    except SchemaError:
        return

    json.dumps(value)
