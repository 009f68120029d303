"""Which framework `agent-tripwire init` takes a project to be written in."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_tripwire.adapters import FRAMEWORKS
from pytest_tripwire.console.starting.evidence import seen
from pytest_tripwire.console.starting.frameworks import KNOWN
from pytest_tripwire.console.starting.imports import modules
from pytest_tripwire.console.starting.installed import lacking

from .conftest import Command

Project = dict[str, str]


def lay(folder: Path, files: Project) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


def shown(folder: Path, *installed: str) -> list[str]:
    """The names of the frameworks that a project shows, the clearest first."""
    found = seen(folder, is_installed=lambda known: known.name in installed)
    return [each.known.name for each in found]


SHOWS: dict[str, tuple[Project, list[str]]] = {
    "an import": ({"a.py": "import langgraph.graph\n"}, ["langchain"]),
    "an import of a name": ({"a.py": "from pydantic_ai import Agent\n"}, ["pydantic-ai"]),
    "an import in a function": ({"a.py": "def f():\n    import agents\n"}, ["openai-agents"]),
    "a part of a shared package": ({"a.py": "from google import adk\n"}, ["adk"]),
    "an import in a package": ({"src/acme/a.py": "from google.adk.agents import x\n"}, ["adk"]),
    "requirements": ({"requirements-dev.txt": "# us\n-r x.txt\nMcp[cli] >= 2\n"}, ["mcp"]),
    "requirements in a folder": ({"requirements/base.txt": "google_adk==2\n"}, ["adk"]),
    "dependencies": ({"pyproject.toml": "[project]\ndependencies = ['mcp[cli]>1']\n"}, ["mcp"]),
    "an extra": (
        {"pyproject.toml": "[project.optional-dependencies]\nx = ['openai-agents ; a']\n"},
        ["openai-agents"],
    ),
    "a group": (
        {"pyproject.toml": "[dependency-groups]\nx = [{include-group = 'mcp'}, 'openai']\n"},
        ["openai"],
    ),
    "dependencies of Poetry": (
        {"pyproject.toml": "[tool.poetry.group.x.dependencies]\nanthropic = '^1'\n"},
        ["anthropic"],
    ),
    # The clearest first.
    "code before a list": (
        {"a.py": "import anthropic\n", "requirements.txt": "langchain\n"},
        ["anthropic", "langchain"],
    ),
    "a framework before the client below it": (
        {"a.py": "import openai\n", "b.py": "import openai, agents\n"},
        ["openai-agents", "openai"],
    ),
    "what more files import": (
        {"a.py": "import agents\n", "b.py": "import langchain\n", "c.py": "import langchain\n"},
        ["langchain", "openai-agents"],
    ),
    # What only looks like it.
    "a module of the project's": ({"agents/x.py": "", "a.py": "from agents import x\n"}, []),
    "a module in the source folder": ({"src/agents.py": "", "src/a/b.py": "import agents\n"}, []),
    "a module beside it": ({"x/mcp.py": "", "x/a.py": "import mcp\n"}, []),
    "a relative import": ({"p/a.py": "from .agents import x\nfrom . import mcp\n"}, []),
    "another package of the name's beginning": ({"a.py": "import agentsmith, mcp_x\n"}, []),
    "another part of a shared package": ({"a.py": "from google import genai\n"}, []),
    "words": ({"a.py": "'''\nimport agents\n'''\n# import mcp\n"}, []),
    "an environment": ({"env/pyvenv.cfg": "", "env/lib/a.py": "import mcp\n"}, []),
    "what is hidden or made": ({".x/a.py": "import mcp\n", "build/a.py": "import mcp\n"}, []),
    "a longer name in a list": ({"requirements.txt": "mcp-server\n-e ./mcp\n#mcp\n"}, []),
    "a folder of the name without modules": ({"mcp/x.json": "", "a.py": "import mcp\n"}, ["mcp"]),
    # What cannot be read.
    "no Python": ({"a.py": "import mcp\n(", "b.py": "import agents\n\0"}, []),
    "no TOML": ({"pyproject.toml": "dependencies = ['mcp'\n"}, []),
    "TOML of another shape": (
        {"pyproject.toml": "project = 1\ntool = {poetry = {group = [1]}}\n"
         "dependency-groups = 'mcp-x'\n"},
        [],
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", SHOWS)
def test_a_project_shows(tmp_path: Path, what: str) -> None:
    files, expected = SHOWS[what]

    assert shown(lay(tmp_path, files)) == expected


def test_what_happens_to_be_installed_says_least(tmp_path: Path) -> None:
    lay(tmp_path, {"requirements.txt": "openai\n"})

    assert shown(tmp_path, "langchain", "mcp") == ["openai", "langchain", "mcp"]


def test_a_name_in_another_encoding_is_no_trouble(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_bytes(b"mcp \xff\n")
    (tmp_path / "b.py").write_bytes(b"# -*- coding: latin-1 -*-\n# \xe4\nimport agents\n")
    (tmp_path / "c.py").symlink_to("nowhere.py")

    assert shown(tmp_path) == ["openai-agents"]


def test_a_large_project_is_read_in_part(tmp_path: Path) -> None:
    lay(tmp_path, {f"m{number}.py": "" for number in range(9)})

    assert len(list(modules(tmp_path, most=5))) == 5


def test_several_that_are_found_are_told_with_how_to_choose(
    tmp_path: Path, command: Command
) -> None:
    lay(tmp_path, {"acme.py": "import pydantic_ai\n", "requirements.txt": "langgraph\n"})

    command("init", "--dry-run", str(tmp_path))

    assert f"found: Pydantic AI (imported by {tmp_path / 'acme.py'})\n" in command.out
    also = f"(named in {tmp_path / 'requirements.txt'}); take it by --framework langchain\n"
    assert f"  also: LangChain and LangGraph {also}" in command.out
    assert "from acme import make_agent" in command.out


@pytest.mark.parametrize("name", ["langchain", "LangGraph", "langchain_core"])
def test_the_user_chooses_by_any_of_its_names(tmp_path: Path, command: Command, name: str) -> None:
    lay(tmp_path, {"acme.py": "import pydantic_ai\n"})

    assert command("init", "--framework", name, str(tmp_path)) == 0

    assert command.out.startswith("taken: LangChain and LangGraph, as you ask")
    assert "create_agent" in (tmp_path / "conftest.py").read_text("utf-8")


def test_every_framework_with_an_adapter_can_be_begun_with(command: Command) -> None:
    assert {each.extra for each in FRAMEWORKS.values()} <= {each.name for each in KNOWN}

    command("init", "--help")
    words = set(re.findall(r"[\w-]+", command.out))
    assert {each.name for each in KNOWN} <= words
    for told in ("exit status", "--dry-run", "TODO"):
        assert told in command.out


def test_what_is_missing_or_too_old_is_to_be_installed_first(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    mcp = next(each for each in KNOWN if each.name == "mcp")
    monkeypatch.syspath_prepend(tmp_path)
    told = "First install what it needs: pip install --upgrade 'pytest-agent-tripwire[mcp]'"

    for version, expected in (("1.27.1", True), ("2.0", False), ("2.1.0rc1", False)):
        folder = tmp_path / f"mcp-{version}.dist-info"
        lay(folder, {"METADATA": f"Metadata-Version: 2.1\nName: mcp\nVersion: {version}\n"})
        assert lacking(mcp) is expected, version
        command("init", "--dry-run", "--framework", "mcp", str(tmp_path))
        assert (told in command.out) is expected
        (folder / "METADATA").unlink()
        folder.rmdir()
