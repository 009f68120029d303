"""Does what the pages say: writes their files, runs their commands, executes their code.

Of each page, in order:

- a Python, TOML or INI block whose first line is `# name.py`, `# pytest.ini` or the like, with or
  without a colon and an explanation after it, is a file. The files of a page make one project.
- a console block holds commands. Those of pytest are really run in that project and have to end
  with status 0, or with what a comment `<!-- exit status: 1 -->` on the line before says. The text
  blocks after it are what the reader sees there; `...` in them stands for anything in a line, and
  alone on a line for any lines.
- any other Python block is executed, all of a page in one namespace.
- every other block needs a comment `<!-- not executed: reason -->` on the line before.

Two things a page need not bring. Commands that install are not run, as that takes a network, but
what they name has to exist. The module `acme_support`, which stands for the reader's own agent, is
the file of that name beside this one: a plain loop.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import tomllib
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

FILE = re.compile(r"^# ([\w./-]+\.(?:py|toml|ini))(?::.*)?$")
NOT_EXECUTED = re.compile(r"^not executed:\s*(\S.*)?$")
STATUS = re.compile(r"^exit status: (\d)$")
GENERATED = re.compile(r"^output of: ")
INSTALLS = re.compile(r"\bpip install\b|\bvenv\b")
EXTRA = re.compile(r"pytest-agent-tripwire\[([\w,]+)\]")

# What makes pytest write in another way than at a reader's terminal.
UNSET = ("CI", "BUILD_NUMBER", "FORCE_COLOR", "PY_COLORS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD")
#: For async tests. Inner runs do without them, except where a page is about them.
ASYNC = {
    # Left unset, this is warned of, and nothing else hangs on it.
    "asyncio": "-o asyncio_default_fixture_loop_scope=function",
    "anyio": "",
}


class Reader:
    """Follows one page in an empty folder."""

    def __init__(self, page: Any, pytester: pytest.Pytester) -> None:
        self._page = page
        self._pytester = pytester
        self._namespace: dict[str, Any] = {"__name__": "page"}
        self._not_run: list[str] = []
        self._output: list[str] | None = None

    def follow(self) -> None:
        shutil.copy(HERE / "acme_support.py", self._pytester.path)
        for block in self._page.blocks:
            try:
                self._do(block)
            except BaseException as error:
                error.add_note(f"in the block at {self._page.name}:{block.line}")
                raise
        assert not self._not_run, f"{self._page.name}: no command runs {', '.join(self._not_run)}"

    def _do(self, block: Any) -> None:
        skipped = NOT_EXECUTED.match(block.note)
        if skipped is not None:
            assert skipped[1], "say why: <!-- not executed: reason -->"
            return
        if GENERATED.match(block.note):
            return  # test_readme_output.py makes it anew
        first = block.text.partition("\n")[0]
        file = FILE.match(first) if block.language in {"python", "toml", "ini"} else None
        if file is not None:
            self._write(file[1], block.text)
        elif block.language == "console":
            self._type(block)
        elif block.language == "python":
            padded = "\n" * (block.line - 1) + block.text
            exec(compile(padded, self._page.name, "exec"), self._namespace)  # noqa: S102
        else:
            assert block.language == "text", _unmarked(block)
            assert self._output is not None, f"no command prints this; {_unmarked(block)}"
            self._output = after(block.text.splitlines(), self._output)

    def _write(self, name: str, text: str) -> None:
        target = self._pytester.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        self._not_run.append(name)
        self._output = None

    def _type(self, block: Any) -> None:
        status = STATUS.match(block.note)
        for line in block.text.splitlines():
            words = shlex.split(line.removeprefix("$ "), comments=True)
            if words[:1] == ["pytest"]:
                self._pytest(words[1:], expected=int(status[1]) if status else 0)
            elif words:
                assert INSTALLS.search(line), f"{_unmarked(block)} (only pytest commands are run)"
                check_names(line)

    def _pytest(self, args: list[str], *, expected: int) -> None:
        # Most pages do less than it takes to start a process; workers need some.
        apart = "-n" in args
        run = self._pytester.runpytest_subprocess if apart else self._pytester.runpytest_inprocess
        result = run(*args)
        self._output = result.outlines
        self._not_run.clear()
        assert result.ret == expected, (
            f"`pytest {shlex.join(args)}` ended with status {result.ret}, the page says {expected}"
        )


def _unmarked(block: Any) -> str:
    return (
        f"a block of {block.language or 'no language'} cannot be executed: write "
        "<!-- not executed: reason --> on the line before"
    )


def after(shown: list[str], output: list[str]) -> list[str]:
    """What is left of `output` after what a page shows of it. Raises AssertionError if the page
    shows something else: lines have to follow each other, except where a line `...` stands."""
    for part in "\n".join(shown).split("\n...\n"):
        patterns = [pattern(line) for line in part.splitlines() if line != "..."]
        for start in range(len(output) - len(patterns) + 1):
            found = output[start : start + len(patterns)]
            if all(map(fnmatchcase, map(str.rstrip, found), patterns)):
                output = output[start + len(patterns) :]
                break
        else:
            raise AssertionError(
                f"the page shows\n{part}\n\nand this was printed:\n" + "\n".join(output)
            )
    return output


def pattern(line: str) -> str:
    """A shown line, with brackets as they stand, any time and any length of a rule."""
    plain = line.rstrip().replace("[", "[[]").replace("...", "*")
    return re.sub(r"={3,}", "=*", re.sub(r"\b\d+\.\d\ds\b", "*s", plain))


def check_names(command: str) -> None:
    """Demand that the extras and requirements that a command installs are there."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for names in EXTRA.findall(command):
        unknown = set(names.split(",")) - set(extras["optional-dependencies"])
        assert not unknown, f"there is no extra {', '.join(sorted(unknown))}"
    for file in re.findall(r"-r (\S+)", command):
        assert (ROOT / file).is_file(), f"there is no {file}"


@pytest.fixture
def follow(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    monkeypatch.setenv("COLUMNS", "80")
    for name in (*UNSET, *(name for name in os.environ if name.startswith("PYTEST_XDIST"))):
        monkeypatch.delenv(name, raising=False)

    def follow(page: Any) -> None:
        options = os.environ["PYTEST_ADDOPTS"]
        for name, instead in ASYNC.items():
            if any(f"@pytest.mark.{name}\n" in block.text for block in page.blocks):
                options = options.replace(f"-p no:{name}", instead)
        monkeypatch.setenv("PYTEST_ADDOPTS", options)
        Reader(page, pytester).follow()

    return follow


def test_the_page_does_what_it_says(page: Any, follow: Callable[[Any], None]) -> None:
    follow(page)


PASSES = "```python\n# test_shown.py\ndef test_one():\n    print('1 [a] in 1.23s')\n```\n"
SHOWS = "```console\npytest -rP\n```\n\n```text\n1 [a] in 9.87s\n```\n"

WRONG = {
    "code that fails": ("```python\nassert 1 == 2, 'one is not two'\n```\n", "one is not two"),
    "code that does not compile": ("```python\nassert (\n```\n", "was never closed"),
    "a block that nothing executes": ("```yaml\na: 1\n```\n", "a block of yaml cannot be executed"),
    "a block without a language": ("```\na\n```\n", "a block of no language cannot be executed"),
    "a mark without a reason": ("<!-- not executed: -->\n```yaml\na: 1\n```\n", "say why"),
    "an unknown command": ("```console\nls\n```\n", "only pytest commands are run"),
    "an unknown extra": (
        "```console\npip install 'pytest-agent-tripwire[openai,moon]'\n```\n",
        "there is no extra moon",
    ),
    "an unknown requirements file": ("```console\npip install -r moon.txt\n```\n", "no moon.txt"),
    "a file that nothing runs": (PASSES, "no command runs test_shown.py"),
    "output of nothing": ("```text\nhello\n```\n", "no command prints this"),
    "a test that fails": (PASSES.replace("print", "fail") + SHOWS, "ended with status 1"),
    "a test that passes": (
        PASSES + SHOWS.replace("```console", "<!-- exit status: 1 -->\n```console"),
        "ended with status 0, the page says 1",
    ),
    "other output": (PASSES + SHOWS.replace("[a]", "[b]"), "the page shows\n1 [b] in 9.87s"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_page_is_found_wrong_for(
    wrong: str, written: Callable[[str], Any], follow: Callable[[Any], None]
) -> None:
    text, complaint = WRONG[wrong]

    with pytest.raises((AssertionError, SyntaxError)) as caught:
        follow(written(f"# A page\n\n{text}"))

    assert complaint in str(caught.value)
    assert "page.md" in f"{caught.value} {getattr(caught.value, '__notes__', '')}"


def test_a_right_page_is_found_right(
    written: Callable[[str], Any], follow: Callable[[Any], None]
) -> None:
    follow(written(PASSES + SHOWS + "```text\n...\n=== 1 passed in 0.00s ===\n```\n"))


def test_lines_of_output_follow_each_other_unless_dots_stand_between() -> None:
    output = ["a", "b", "c", "d"]

    assert after(["a", "b"], output) == ["c", "d"]
    assert after(["a", "...", "c"], output) == ["d"]
    for wrong in (["a", "c"], ["c", "...", "a"], ["a", "...", "b", "d"], ["e"]):
        with pytest.raises(AssertionError):
            after(wrong, output)
