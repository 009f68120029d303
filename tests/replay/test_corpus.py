"""The field corpus: every case as is expected, but for those that are known to go wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pytest_tripwire.replay.drive import replay_trace
from pytest_tripwire.replay.trace import Trace
from pytest_tripwire.timeline import Effect

Make = Callable[..., Any]

WAYS = ["with_hints", "without_hints"]


@pytest.fixture(scope="module")
def ratchet(sibling: Callable[[str], ModuleType]) -> Any:
    return sibling("ratchet")


@pytest.fixture(scope="module")
def cases(ratchet: Any) -> list[Trace]:
    found: list[Trace] = ratchet.traces()
    return found


def test_every_case_can_be_read_and_says_what_is_expected(cases: list[Trace], ratchet: Any) -> None:
    assert len(cases) == len(list(ratchet.CORPUS.glob("*.json")))
    assert all(case.expect is not None and case.kind and case.hazard for case in cases)
    assert all(step.effect is not None for case in cases for step in case.steps)
    assert {case.kind for case in cases} == {"hostile", "legit"}


@pytest.mark.parametrize("name", ["corpus", "further"])
@pytest.mark.parametrize("way", WAYS)
def test_every_case_goes_as_is_expected(way: str, name: str, ratchet: Any) -> None:
    data, listed = ratchet.SETS[name]
    now = ratchet.wrong(ratchet.traces(data), hints=ratchet.WAYS[way], replay=replay_trace)

    changed = ratchet.difference(ratchet.known(listed)[way], now)

    assert not changed, "\n".join(changed)


@pytest.mark.parametrize("name", ["corpus", "further"])
def test_the_ratchet_names_cases_that_there_are(name: str, ratchet: Any) -> None:
    data, listed = ratchet.SETS[name]
    named = frozenset().union(*ratchet.known(listed).values())

    assert named <= {case.id for case in ratchet.traces(data)}


@pytest.mark.parametrize("shape", ["lines", "array", "pretty files"])
def test_the_cases_are_the_same_in_any_shape(
    shape: str, cases: list[Trace], ratchet: Any, tmp_path: Path
) -> None:
    documents = [
        json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(ratchet.CORPUS.glob("*.json"))
    ]
    if shape == "lines":
        (tmp_path / "all.jsonl").write_text("\n".join(map(json.dumps, documents)), "utf-8")
    elif shape == "array":
        (tmp_path / "all.json").write_text(json.dumps(documents, indent=1), "utf-8")
    else:
        for document in documents:
            (tmp_path / f"{document['id']}.json").write_text(
                json.dumps(document, indent=4), "utf-8"
            )

    def plain(traces: list[Trace]) -> dict[str, Any]:
        return {each.id: (each.steps, each.hints, each.budgets, each.expect) for each in traces}

    assert plain(ratchet.traces(tmp_path)) == plain(cases)


class TestRatchet:
    """The list itself."""

    def test_a_case_that_goes_wrong_is_told_with_what_happened(self, ratchet: Any) -> None:
        (line,) = ratchet.difference(frozenset({"b"}), {"a": "stopped", "b": "stopped"})

        assert line == "a goes wrong now: stopped"

    def test_a_case_that_is_right_tightens_it(self, ratchet: Any) -> None:
        (line,) = ratchet.difference(frozenset({"b"}), {})

        assert line.startswith("b is right now: tighten the ratchet with `python tests/replay/")

    def test_is_read_as_it_is_written(self, ratchet: Any, tmp_path: Path) -> None:
        lists = {"with_hints": ["b", "a"], "without_hints": []}
        path = tmp_path / "ratchet.toml"
        path.write_text(ratchet.as_toml(lists), "utf-8")

        assert ratchet.known(path) == {
            "with_hints": frozenset({"a", "b"}),
            "without_hints": frozenset(),
        }

    def test_a_case_that_goes_wrong_is_found(
        self, ratchet: Any, trace: Make, stop_at_repeat: Make
    ) -> None:
        labelled = [
            trace({}, {}, id="stopped", kind="legit"),
            trace({}, id="through", kind="legit"),
            trace({}, id="missed", kind="hostile"),
            trace({}, id="unlabelled"),
        ]

        found = ratchet.wrong(labelled, hints=True, replay=stop_at_repeat)

        assert sorted(found) == ["missed", "stopped"]

    def test_a_case_that_cannot_be_replayed_is_no_right_one(
        self, ratchet: Any, trace: Make, stop_at_repeat: Make
    ) -> None:
        with pytest.raises(ValueError, match="nobody says what the tool"):
            ratchet.wrong([trace({"effect": None})], hints=True, replay=stop_at_repeat)

    def test_a_case_that_cannot_be_read_is_no_right_one(self, ratchet: Any, tmp_path: Path) -> None:
        (tmp_path / "x.json").write_text("{", "utf-8")

        with pytest.raises(ValueError, match=r"x\.json"):
            ratchet.traces(tmp_path)


def test_every_effect_and_every_event_of_the_corpus_is_known(cases: list[Trace]) -> None:
    assert {step.effect for case in cases for step in case.steps} == set(Effect)
    assert any(step.is_event for case in cases for step in case.steps)
