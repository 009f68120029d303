"""The failure that README.md shows is the one that is printed today.

To update README.md: UPDATE_README=1 python -m pytest tests/docs/test_readme_output.py
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable
from itertools import dropwhile, takewhile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"

SHOWN = re.compile(
    r"<!-- output of: pytest (?P<args>.*?) -->\n```text\n(?P<text>.*?)```\n<!-- end of output -->",
    re.DOTALL,
)
HOW = "UPDATE_README=1 python -m pytest tests/docs/test_readme_output.py"


@pytest.fixture
def printed(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """What pytest prints in the root of the repository, as a reader's terminal shows it."""
    ours = {"CI", "BUILD_NUMBER", "FORCE_COLOR", "PY_COLORS"}
    for name in [name for name in os.environ if name in ours or name.startswith("PYTEST_")]:
        if name != "PYTEST_ADDOPTS":
            monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(ROOT)

    def run(*args: str) -> str:
        # In this process: it takes longer to start another than to run one case.
        result = pytester.runpytest_inprocess("-p", "no:cacheprovider", *args)
        assert result.ret == pytest.ExitCode.TESTS_FAILED, result.stdout.str()
        return result.stdout.str()

    return run


def stable(output: str) -> str:
    """From the heading of the failed test to the end of the tripwire table: nothing before and
    after it is the same on another machine."""
    lines = [line.rstrip() for line in output.splitlines()]
    from_heading = dropwhile(lambda line: not line.startswith("___"), lines)
    shown = takewhile(lambda line: "short test summary info" not in line, from_heading)
    return "\n".join(shown) + "\n"


def test_readme_shows_what_is_printed(printed: Callable[..., str]) -> None:
    readme = README.read_text(encoding="utf-8")
    block = SHOWN.search(readme)
    assert block is not None, "README.md has no <!-- output of: pytest ... --> with a text block"

    now = stable(printed(*shlex.split(block["args"])))

    assert "should not have happened" in now
    assert "= tripwire =" in now
    if os.environ.get("UPDATE_README"):
        start, end = block.span("text")
        README.write_text(readme[:start] + now + readme[end:], encoding="utf-8")
        return
    if block["text"] != now:
        pytest.fail(
            f"README.md shows another failure than this; run\n{HOW}\n\n{now}", pytrace=False
        )
