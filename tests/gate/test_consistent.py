"""Every report that is made agrees with itself; one that is told otherwise does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from pytest_tripwire.gate import Entry, Evidence, Standing, decide
from pytest_tripwire.gate.consistent import disagreements
from pytest_tripwire.gate.origin import Origin, origin, root_within
from pytest_tripwire.gate.report import Report, decode, encode, report

from .conftest import TODAY
from .strategies import baselines, evidences

few = settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow], deadline=None)


def made(evidence: Evidence, baseline: tuple[Entry, ...] | None) -> Report:
    verdict = decide(evidence, today=TODAY, baseline=baseline)
    whole = report(verdict, evidence, day=TODAY, baseline=baseline)
    return decode(encode(whole))


@few
@given(evidences, baselines)
def test_what_was_made_agrees_with_itself_and_cannot_be_turned_by_its_words_alone(
    evidence: Evidence, baseline: tuple[Entry, ...] | None
) -> None:
    whole = made(evidence, baseline)
    assert disagreements(whole) == []

    good = [
        msgspec.structs.replace(row, state=Standing.CONTAINED, passes=True) for row in whole.rows
    ]
    turned = msgspec.structs.replace(
        whole, passed=True, problems=(), rows=tuple(good), counts={"contained": len(good)}
    )

    assert (disagreements(turned) == []) is (turned == whole)


# -- where it comes from


GITHUB = {"GITHUB_SHA": "c0ffee", "GITHUB_RUN_ID": "7", "GITHUB_RUN_ATTEMPT": "2"}
GITLAB = {"CI_COMMIT_SHA": "decade", "CI_PIPELINE_ID": "8", "CI_JOB_ID": "99"}


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({}, None),
        ({"CI": "true", "GITHUB_SHA": ""}, None),
        (GITHUB, Origin(commit="c0ffee", run="7")),
        ({**GITHUB, "GITHUB_RUN_ATTEMPT": "3"}, Origin(commit="c0ffee", run="7")),
        (GITLAB, Origin(commit="decade", run="8")),
        ({"CI_PIPELINE_ID": "8"}, Origin(run="8")),
        ({**GITLAB, **GITHUB}, Origin(commit="c0ffee", run="7")),
        ({**GITLAB, "GITHUB_RUN_ID": "7"}, Origin(run="7")),
    ],
)
def test_services_tell_commit_and_run(environment: Any, told: Origin | None) -> None:
    assert origin(environment) == told


def test_the_root_of_a_project_is_told_from_its_repository_on(tmp_path: Path) -> None:
    """Of a worktree and of a submodule `.git` is a file."""
    inner = tmp_path / "repository" / "packages" / "desk"
    inner.mkdir(parents=True)
    assert root_within(inner) == ""

    (tmp_path / "repository" / ".git").mkdir()
    assert root_within(inner) == "packages/desk"
    assert root_within(tmp_path / "repository") == ""

    (inner.parent / ".git").write_text("gitdir: elsewhere")
    assert root_within(inner) == "desk"
