"""The published schema is that of the records, and what is printed keeps to it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_tripwire.console.records.as_json import schema
from pytest_tripwire.ledger import MemoryLedger
from pytest_tripwire.timeline import Became

from .records_story import Operator, keep, lose_a_refund, record
from .test_records_show import WHOLE, WRITES

PUBLISHED: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "docs" / "reference" / "record.schema.json").read_text("utf-8")
)
WORDS = {"title", "description", "default", "type", "$ref", "enum", "anyOf", "items"}
TYPES: dict[str, Any] = {
    "string": str, "integer": int, "number": (int, float), "boolean": bool, "null": type(None),
    "array": list, "object": dict,
}  # fmt: skip


def problems(value: Any, part: dict[str, Any], where: str = "") -> list[str]:
    """What is wrong with a value, by the part of JSON Schema that the published one uses."""
    assert part.keys() <= WORDS | {"properties", "required"}, f"{where}: {part.keys()}"
    if "$ref" in part:
        part = PUBLISHED["$defs"][part["$ref"].removeprefix("#/$defs/")]
    if "anyOf" in part:
        tries = [problems(value, each, where) for each in part["anyOf"]]
        return [] if [] in tries else tries[0]
    if "enum" in part:
        return [] if value in part["enum"] else [f"{where}: {value}"]
    if "type" in part and (
        not isinstance(value, TYPES[part["type"]])
        or (isinstance(value, bool) and part["type"] != "boolean")
    ):
        return [f"{where}: {value!r} is no {part['type']}"]
    if isinstance(value, list):
        return [w for n, v in enumerate(value) for w in problems(v, part["items"], f"{where}/{n}")]
    return _of_object(value, part, where) if isinstance(value, dict) else []


def _of_object(value: dict[str, Any], part: dict[str, Any], where: str) -> list[str]:
    known = part["properties"]
    missing, new = {*part.get("required", ())} - value.keys(), value.keys() - known.keys()
    wrong = [f"{where}: missing {missing}, new {new}"] if missing or new else []
    inner = [problems(v, known.get(name, {}), f"{where}/{name}") for name, v in value.items()]
    return [*wrong, *(each for some in inner for each in some)]


def fields(whole: dict[str, Any]) -> dict[str, Any]:
    """By the name of each part: its fields, those that it has to have, and what it can be."""
    return {
        name: (
            sorted(part.get("properties", ())),
            sorted(part.get("required", ())),
            sorted(part.get("enum", ())),
        )
        for name, part in whole["$defs"].items()
    }


def test_the_published_schema_is_that_of_the_records() -> None:
    """Field by field: versions of msgspec write the rest of it differently."""
    assert fields(PUBLISHED) == fields(schema())
    assert PUBLISHED["$ref"] == schema()["$ref"] == "#/$defs/InterruptionRecord"


@pytest.fixture
def operator() -> Operator:
    operator = Operator(MemoryLedger(now=lambda: 7.0))
    keep(operator.ledger, WHOLE, *WRITES)
    lose_a_refund(operator.ledger, "real")
    keep(operator.ledger, record("over"))
    operator.ledger.end("over", 1, Became.CLOSED, operator="ada")
    return operator


def test_what_list_prints_keeps_to_it(operator: Operator) -> None:
    operator("list", "--all", "--json")

    assert len(operator.lines) == 3
    for line in operator.lines:
        assert problems(json.loads(line), {"$ref": PUBLISHED["$ref"]}) == []


def test_what_show_and_stats_print_keeps_to_their_parts(operator: Operator) -> None:
    for run_id in ("run-1", "real", "over"):
        operator("show", run_id, "--json")
        assert problems(json.loads(operator.out), {"$ref": "#/$defs/Shown"}) == []
    operator("stats", "--json")
    assert len(operator.lines) == 3
    for line in operator.lines:
        assert problems(json.loads(line), {"$ref": "#/$defs/Count"}) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [("run_id", 7), ("reason", "rain"), ("ended_as", 1), ("writes", [{}]), ("extra", 1)],
)
def test_what_does_not_keep_to_it_is_noticed(operator: Operator, name: str, value: Any) -> None:
    operator("list", "--json")
    made = {**json.loads(operator.lines[0]), name: value}

    assert problems(made, {"$ref": PUBLISHED["$ref"]})
