"""The workflow files of docs/how-to/set-up-ci.md are what they should be, and their commands work.

What is run is a project of two agents, as `agent-tripwire init` writes them. They have a part in
two cases alone, as it is the files of a service that are tried here.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_tripwire.cases import CASE_IDS
from pytest_tripwire.cli import main

yaml = pytest.importorskip("yaml")

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "set-up-ci.md"
BLOCK = re.compile(r"^```yaml\n# (.*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILES: dict[str, Any] = {
    name: yaml.safe_load(text) for name, text in BLOCK.findall(PAGE.read_text("utf-8"))
}
WORKFLOWS = {name: file for name, file in FILES.items() if name.startswith(".github/")}
GITLAB = {name: file for name, file in FILES.items() if name.startswith(".gitlab-ci.yml")}

SHARDS = ".github/workflows/agents-in-shards.yml"
#: What a command is told to write.
WRITTEN = re.compile(r"[= ]((?:tripwire|reports)/\w+\.\w+)")

AGENTS = ("support", "billing")
CASES = ("lost-write", "deadline")
OTHERS = ", ".join(case for case in CASE_IDS if case not in CASES)
CONFIG = f"""\
[pytest]
addopts = -p tripwire -k "{" or ".join(CASES)}"
required_plugins = pytest-agent-tripwire
tripwire_protection = harness
tripwire_agents =
    support
    billing
tripwire_not_applicable =
    support: {OTHERS}
    billing: {OTHERS}
"""
#: The file that GitHub makes a job's summary of.
SUMMARY = "summary.md"


def jobs(files: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for file in files.values():
        yield from file["jobs"].items()


def steps(files: dict[str, Any], action: str) -> list[dict[str, Any]]:
    every = [step for _, job in jobs(files) for step in job["steps"]]
    return [step for step in every if step.get("uses", "").startswith(f"{action}@")]


def ours(lines: list[str]) -> list[str]:
    """The commands that are this project's own: what installs takes a network."""
    return [line for line in lines if not line.startswith("python -m pip install ")]


def commands(name: str) -> list[str]:
    """What the jobs of a file run, one after the other; a matrix is run through."""
    if name in WORKFLOWS:
        found = WORKFLOWS[name]["jobs"].values()
        scripts = [(job, [step["run"] for step in job["steps"] if "run" in step]) for job in found]
        place = r"\${{ matrix.agent }}"
    else:
        found = GITLAB[name].values()
        scripts = [(job, job["script"]) for job in found if "script" in job]
        place = r"\$AGENT\b"
    return [line for job, lines in scripts for line in spread(ours(lines), job, place)]


def spread(lines: list[str], job: dict[str, Any], place: str) -> list[str]:
    if not any(re.search(place, line) for line in lines):
        return lines
    matrix = job.get("strategy", {}).get("matrix") or job["parallel"]["matrix"][0]
    (agents,) = matrix.values()
    assert tuple(agents) == AGENTS
    return [re.sub(place, agent, line) for line in lines for agent in agents]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return made(tmp_path)


def made(tmp_path: Path) -> Path:
    config = tmp_path / "pytest.ini"
    config.write_text(CONFIG, "utf-8")
    for agent in AGENTS:
        folder = tmp_path / "tests" / "agents" / agent
        folder.mkdir(parents=True)
        assert main(["init", "--framework", "plain", str(folder)]) == 0
        plugged = folder / "conftest.py"
        plugged.write_text(plugged.read_text("utf-8").replace('"support"', f'"{agent}"'), "utf-8")
    return tmp_path


Done = subprocess.CompletedProcess[str]
Shell = Callable[[str], Done]


@pytest.fixture
def shell(project: Path) -> Shell:
    """Runs a line of a job, as its service does."""
    return lambda line: ran(line, project)


def ran(line: str, project: Path) -> Done:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    told = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(project / SUMMARY)}
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", line],  # noqa: S607 - as the services call it
        cwd=project, env={**os.environ, "PATH": path, **told},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


class Lines:
    """Runs lines in one project, the same line once, and knows what each has written itself."""

    def __init__(self, project: Path) -> None:
        self.project = project
        self._ran: dict[str, tuple[Done, dict[str, bytes]]] = {}

    def run(self, line: str) -> tuple[Done, dict[str, bytes]]:
        if line not in self._ran:
            files = [self.project / name for name in WRITTEN.findall(line)]
            for file in files:
                file.unlink(missing_ok=True)
            done = ran(line, self.project)
            written = {
                str(file.relative_to(self.project)): file.read_bytes()
                for file in files
                if file.exists()
            }
            self._ran[line] = done, written
        return self._ran[line]


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> Lines:
    return Lines(made(tmp_path_factory.mktemp("lines")))


def test_every_file_is_there() -> None:
    assert len(WORKFLOWS) == 3
    assert len(GITLAB) == 2


@pytest.mark.parametrize("name", FILES)
def test_the_commands_work(lines: Lines, name: str) -> None:
    verdicts = 0
    for line in commands(name):
        done, files = lines.run(line.replace("--tripwire-repeat=10", "--tripwire-repeat=2"))

        assert done.returncode == 0, done.stdout + done.stderr
        verdicts += "tripwire gate passed: 4 of 4 cells contained" in done.stdout
        for written in WRITTEN.findall(line):
            assert files[written]
    assert verdicts == (2 if name == ".gitlab-ci.yml" else 1)


@pytest.mark.parametrize("lost", AGENTS)
def test_a_lost_shard_fails_the_gate_and_the_page_is_there(
    project: Path, shell: Shell, lines: Lines, lost: str
) -> None:
    *shards, verdict = commands(SHARDS)
    (project / "reports").mkdir()
    for line in shards:
        if lost not in line:
            for name, report in lines.run(line)[1].items():
                (project / name).write_bytes(report)

    done = shell(verdict)

    assert done.returncode == 1, done.stderr
    assert f"not run: {lost} on deadline" in done.stdout
    assert "::error" in done.stdout
    assert lost in (project / SUMMARY).read_text("utf-8")
    assert lost in (project / "tripwire" / "report.html").read_text("utf-8")


def test_no_report_at_all_fails_the_gate(shell: Shell) -> None:
    assert shell(commands(SHARDS)[-1]).returncode == 2


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_asks_for_no_more_than_it_needs(name: str) -> None:
    file = WORKFLOWS[name]
    events = file[True]  # `on` is a truth value in YAML 1.1

    assert file["permissions"] == {"contents": "read"}
    assert "pull_request_target" not in events
    assert "secrets." not in str(file)
    for _, job in jobs({name: file}):
        assert job["timeout-minutes"] <= 60
        assert "permissions" not in job
        for step in job["steps"]:
            assert re.fullmatch(r"actions/[\w-]+@v\d+", step.get("uses", "actions/x@v1"))
    for step in steps({name: file}, "actions/checkout"):
        assert step["with"]["persist-credentials"] is False
    # What a check is required of, it is required of on every way to the branch.
    if "pull_request" in events:
        assert events["pull_request"] is None
        assert "merge_group" in events
        assert "pull_request" in file["concurrency"]["cancel-in-progress"]


@pytest.mark.parametrize("name", WORKFLOWS)
def test_what_was_written_is_kept_when_the_gate_fails(name: str) -> None:
    for _, job in jobs({name: WORKFLOWS[name]}):
        uploads = steps({"": {"jobs": {"": job}}}, "actions/upload-artifact")
        assert [step["if"] for step in uploads] == ["${{ !cancelled() }}"]
        run = next(line for line in ours([s["run"] for s in job["steps"] if "run" in s]))
        assert uploads[0]["with"]["path"] in run


def test_the_verdict_of_shards_is_never_skipped() -> None:
    job = WORKFLOWS[SHARDS]["jobs"]["gate"]

    assert job["if"] == "${{ always() }}"
    assert job["needs"] == "shard"
    (kept,) = steps({"": {"jobs": {"": job}}}, "actions/download-artifact")
    every = steps(WORKFLOWS, "actions/upload-artifact")
    shards = [step["with"]["name"] for step in every if "matrix" in step["with"]["name"]]
    prefix = kept["with"]["pattern"].removesuffix("*")
    assert [name.startswith(prefix) for name in shards] == [True]


def test_jobs_on_gitlab_keep_what_they_wrote() -> None:
    for file in GITLAB.values():
        for job in file.values():
            if "script" in job:
                assert job["artifacts"]["when"] == "always"
                assert "expire_in" in job["artifacts"]
    assert GITLAB[".gitlab-ci.yml, in the place of the job `agents`"]["gate"]["when"] == "always"
