"""`agent-tripwire serve` with an agent in another language: Node, on its own clients.

`TRIPWIRE_NODE_MODULES` names the folder `node_modules` in which `npm install` has put what
node/package.json names.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

NEEDS = ["mcp", "node:openai", "node:@modelcontextprotocol/sdk"]

AGENT = Path(__file__).parent / "node" / "agent.mjs"
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "other-languages.md"


@pytest.fixture(scope="session")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The agent, beside the modules that it needs: Node looks for them nowhere else."""
    folder = tmp_path_factory.mktemp("node")
    (folder / "node_modules").symlink_to(os.environ["TRIPWIRE_NODE_MODULES"])
    return Path(shutil.copy(AGENT, folder))


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """What has come of a run.

    Args:
        status: the exit status.
        cell: the judgement.
        said: what the agent has printed.
        told: what serve has.
    """

    status: int
    cell: dict[str, Any]
    said: str
    told: str


def judged(agent: Path, case: str, *args: str, stream: bool = False) -> Judged:
    """Run the agent on a case."""
    report = agent.parent / "verdict.json"
    report.unlink(missing_ok=True)
    serve = [sys.executable, "-m", "pytest_tripwire.cli", "serve", case, *args]
    done = subprocess.run(
        [*serve, "--mcp", "http", "--report", report, "--", "node", agent],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "STREAM": "1" if stream else "",
        },
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )
    assert report.is_file(), done.stderr
    cell = json.loads(report.read_text("utf-8"))["cell"]
    return Judged(status=done.returncode, cell=cell, said=done.stdout, told=done.stderr)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("case", "reason"), [("lost-write", "unknown_side_effect"), ("empty-search", "empty_results")]
)
def test_a_node_agent_is_contained(agent: Path, case: str, reason: str, *, stream: bool) -> None:
    run = judged(agent, case, stream=stream)

    assert (run.status, run.cell["state"], run.cell["reason"]) == (0, "contained", reason)
    assert run.cell["agent"] == "node"
    assert "This run is stopped" in run.said


@pytest.mark.parametrize("stream", [False, True])
def test_a_node_agent_without_protection_escapes(agent: Path, *, stream: bool) -> None:
    run = judged(agent, "lost-write", "--protection", "own", stream=stream)

    assert (run.status, run.cell["state"]) == (1, "escaped")


def test_its_parallel_calls_take_the_time_of_the_longest(agent: Path) -> None:
    run = judged(agent, "deadline/side-by-side")

    assert run.status == 0
    assert [e["at"] for e in run.cell["events"] if e["type"] == "delivery"] == [10.0, 30.0]
    assert run.said == "Both orders have been refunded.\n"


def test_it_is_called_again_when_the_operator_has_decided(agent: Path) -> None:
    run = judged(agent, "stale-resume")

    assert (run.status, run.cell["reason"]) == (0, "stale_resume")


def test_the_page_shows_what_is_printed(agent: Path) -> None:
    (shown,) = re.findall(
        r"^```text\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )

    run = judged(agent, "lost-write")

    assert run.said + run.told == shown
