"""An agent whose name is a command to the service that reads the log of a job."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize("name", ["::stop-commands::x", "##[error]x"])
def test_the_log_of_a_job_holds_no_command_but_the_gates_own(
    project: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    project.plug_in(more=f"@pytest.fixture\ndef tripwire_agent_id(): return {name!r}\n")
    project.tests()
    gate = ("--tripwire-gate", "--tripwire-protection=harness")

    result = project.run(*gate, "-vv")

    lines = result.outlines
    assert any(" lost-write " in line and " contained " in line for line in lines)
    marks = [line for line in lines if line.lstrip().startswith("::") or "##[" in line]
    assert len(marks) == 1
    assert marks[0].startswith("::error title=tripwire gate::tripwire gate FAILED")
