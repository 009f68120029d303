"""The pages of the documentation, cut into blocks; `page` is parametrized with each of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

_FENCE = re.compile(r"^(`{3,})(\w*)\s*$")
_COMMENT = re.compile(r"^<!--\s*(.*?)\s*-->$")
_INLINE_CODE = re.compile(r"(`+)(.+?)\1")
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*$")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_NOT_IN_A_SLUG = re.compile(r"[^\w\- ]")


@pytest.fixture(scope="module", autouse=True)
def no_authorities(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What is asked is on 127.0.0.1: no client of an SDK is to read the certificates of the world,
    which takes each of them longer than a run of a case."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", "")
        patch.setenv("SSL_CERT_DIR", str(tmp_path_factory.mktemp("authorities")))
        yield


@dataclass(frozen=True)
class Block:
    """One fenced block. `note` is the HTML comment on the line before it, empty if there is none;
    `line` is the line of the page on which the text begins."""

    language: str
    text: str
    line: int
    note: str = ""


@dataclass(frozen=True)
class Page:
    path: Path
    blocks: tuple[Block, ...] = ()
    prose: tuple[tuple[int, str], ...] = field(default=(), repr=False)

    @property
    def name(self) -> str:
        return self.path.relative_to(
            ROOT if ROOT in self.path.parents else self.path.parent
        ).as_posix()

    def links(self) -> Iterator[tuple[int, str]]:
        """(line, target) of every link in the prose."""
        for number, line in self.prose:
            for target in _LINK.findall(_INLINE_CODE.sub("", line)):
                yield number, target

    def anchors(self) -> set[str]:
        """What a `#` may point to in this page, as GitHub makes it from the headings."""
        seen: dict[str, int] = {}
        for _, line in self.prose:
            heading = _HEADING.match(line)
            if heading is not None:
                text = _LINK.sub(lambda link: link[0][1 : link[0].index("]")], heading[1])
                slug = _NOT_IN_A_SLUG.sub("", text.lower()).replace(" ", "-")
                seen[slug] = seen.get(slug, -1) + 1
        return {
            slug if n == 0 else f"{slug}-{n}"
            for slug, last in seen.items()
            for n in range(last + 1)
        }


def read_page(path: Path) -> Page:
    """Cut a page. Raises ValueError for a fence that is never closed."""
    blocks, prose = [], []
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    previous = ""
    for number, line in lines:
        fence = _FENCE.match(line)
        if fence is None:
            prose.append((number, line))
            previous = line
            continue
        note = _COMMENT.match(previous)
        body = _until(fence[1], lines, f"{path}:{number}")
        blocks.append(Block(fence[2], body, number + 1, note[1] if note else ""))
        previous = ""
    return Page(path, tuple(blocks), tuple(prose))


def _until(fence: str, lines: Iterator[tuple[int, str]], where: str) -> str:
    body = []
    for _, line in lines:
        if line.rstrip() == fence:
            return "\n".join(body) + "\n"
        body.append(line)
    raise ValueError(f"{where}: this block is never closed")


def page_paths() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def _pages() -> list[Page]:
    return [read_page(path) for path in page_paths()]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "page" in metafunc.fixturenames:
        pages = _pages()
        metafunc.parametrize("page", pages, ids=[page.name for page in pages])


@pytest.fixture(name="pages")
def all_pages() -> list[Page]:
    return _pages()


@pytest.fixture(name="read_page")
def page_reader() -> Callable[[Path], Page]:
    return read_page


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], Page]:
    """Makes a page of a text, for tests of the tests."""

    def write(text: str) -> Page:
        (tmp_path / "page.md").write_text(text, encoding="utf-8")
        return read_page(tmp_path / "page.md")

    return write
