"""The page about stores: its agent really runs in two processes, which `serve` starts."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

NEEDS = ["mcp", "openai", "sqlalchemy"]

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "keep-writes.md"
BLOCK = re.compile(
    r"^<!-- [^\n]*test_serve_second_process[^\n]* -->\n```(\w+)\n(.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
BLOCKS = BLOCK.findall(PAGE.read_text("utf-8"))
(AGENT,) = (text for language, text in BLOCKS if language == "python")
TYPED = [text for language, text in BLOCKS if language == "console"]
SHOWN = [text for language, text in BLOCKS if language == "text"]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sh and SIGKILL")


def typed(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    """A line of the page's, with this Python for the reader's."""
    programs = folder / "bin"
    programs.mkdir()
    (programs / "python").symlink_to(sys.executable)
    name, *words = shlex.split(command)
    assert name == "agent-tripwire"
    return subprocess.run(
        [sys.executable, "-m", "pytest_tripwire", *words],
        cwd=folder,
        env={
            **os.environ,
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=120,
    )


def fits(shown: str, printed: str) -> bool:
    """Line by line; `...` stands for anything in a line, alone for any lines."""
    patterns = (re.escape(each).replace(r"\.\.\.", ".*") for each in shown.splitlines())
    whole = "".join(r"(?:.*\n)*" if each == ".*" else f"{each}\n" for each in patterns)
    return re.fullmatch(whole, printed) is not None


@pytest.mark.parametrize(
    ("command", "shown"), [*zip(TYPED, SHOWN, strict=True)], ids=["lost", "deadline", "stale"]
)
def test_the_page_shows_what_comes_of_it(tmp_path: Path, command: str, shown: str) -> None:
    (tmp_path / "agent.py").write_text(AGENT, "utf-8")

    done = typed(tmp_path, command)

    assert done.returncode == 0, done.stdout
    assert fits(shown, done.stdout), done.stdout


def test_without_a_store_the_second_process_pays_again(tmp_path: Path) -> None:
    assert AGENT.count('store="sqlite:///trial.db", ') == 1
    (tmp_path / "agent.py").write_text(AGENT.replace('store="sqlite:///trial.db", ', ""), "utf-8")

    done = typed(tmp_path, TYPED[0])

    assert done.returncode == 1, done.stdout
    assert done.stdout.endswith("lost-write: escaped, answered\n"), done.stdout
    assert done.stdout.count("MUTATION") > 1
