"""The page for whoever is on call: its code and its commands do what it says, in its order."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from pytest_tripwire.console.records.options import VARIABLE

from .conftest import Command

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "operate.md"
TEXT = PAGE.read_text("utf-8")
BLOCK = re.compile(
    r"^<!-- [^\n]* follows this page -->\n```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
FILE = re.compile(r"# ([\w./-]+)\n")
#: Ids on the page, which are drawn anew for each run.
RUN, KEY = "3f9a41c7e0b2", "b85d0e6f"


class Reader:
    """Follows the page in a folder of its own."""

    def __init__(self, folder: Path, command: Command, setenv: Callable[[str, str], None]) -> None:
        self._folder = folder
        self._command = command
        self._setenv = setenv
        self._namespace: dict[str, Any] = {"__name__": "page"}
        self.printed = ""

    def write(self, name: str, text: str) -> None:
        (self._folder / name).write_text(text, encoding="utf-8")

    def execute(self, text: str) -> None:
        self._namespace["line"] = self.printed
        exec(compile(text, str(PAGE), "exec"), self._namespace)  # noqa: S102

    def type(self, text: str) -> None:
        for line in self.own(text).splitlines():
            words = shlex.split(line)
            if words[0] == "export":
                name, _, value = words[1].partition("=")
                self._setenv(name, value)
                continue
            assert words[0] == "agent-tripwire"
            status = self._command(*words[1:])
            assert (status, self._command.err) == (0, ""), line
            self.printed = self._command.out

    def own(self, text: str) -> str:
        """`text` with the ids of this run."""
        record = self._namespace["record"]
        return text.replace(RUN, record.run_id[:12]).replace(KEY, record.writes[0].key[:8])

    def shows(self, text: str) -> None:
        """Line by line; `...` stands for anything in a line, alone for any lines."""
        pattern = "\n".join(re.escape(each) for each in self.own(text).splitlines())
        pattern = re.sub(r"^\\\.\\\.\\\.$", r"(?:.*\\n?)*?", pattern, flags=re.MULTILINE)
        pattern = pattern.replace(r"\.\.\.", ".*")
        assert re.fullmatch(f"{pattern}\n*", self.printed), f"{text}\nis not\n{self.printed}"


def blocks() -> Iterator[tuple[str, str]]:
    return iter(BLOCK.findall(TEXT))


@pytest.fixture
def application(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that the page's `shop` is imported from, and forgotten with."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv(VARIABLE, raising=False)
    assert "shop" not in sys.modules
    yield tmp_path
    sys.modules.pop("shop", None)


def test_the_page_does_what_it_says(
    application: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    pytest.importorskip("sqlalchemy")
    reader, shown = Reader(application, command, monkeypatch.setenv), 0
    for language, text in blocks():
        file = FILE.match(text)
        if file is not None:
            reader.write(file[1], text)
        elif language == "python":
            reader.execute(text)
        elif language == "console":
            reader.type(text)
        else:
            shown += 1
            reader.shows(text)
    assert shown == 7


def test_every_block_is_followed() -> None:
    assert len(re.findall(r"^```\w+$", TEXT, re.MULTILINE)) == len(list(blocks()))


def test_what_it_says_of_refusals_is_what_the_command_says() -> None:
    """The words in the table are those of the command."""
    folder = Path(__file__).parents[2] / "pytest_tripwire" / "console" / "records"
    code = "".join(each.read_text("utf-8") for each in folder.glob("*.py"))
    table = TEXT.partition("\n## When the command refuses\n")[2].partition("\n## ")[0]

    words = [
        re.sub(r"\d+", "*", each) for each in re.findall(r"^\| \*(.*?)\* \|", table, re.MULTILINE)
    ]
    assert len(words) == 7
    for each in words:
        said = fnmatchcase(code, f"*{each}*")
        assert said, each
