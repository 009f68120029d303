"""What `agent-tripwire init` writes for each framework is contained in all cases, as it stands."""

from __future__ import annotations

import sys

import pytest

from pytest_tripwire.cli import main

NEEDS = ["openai-agents", "langchain", "pydantic-ai-slim", "google-adk", "mcp"]


@pytest.mark.parametrize("name", NEEDS)
def test_it_is_contained_in_all_cases(pytester: pytest.Pytester, name: str) -> None:
    assert main(["init", "--framework", name, str(pytester.path)]) == 0

    done = pytester.run(sys.executable, "-m", "pytest", "-W", "error", "--tripwire-gate")

    done.assert_outcomes(passed=8)
    done.stdout.fnmatch_lines(
        ["tripwire gate passed: 8 of 8 cells contained (protection: harness)"]
    )
