"""Reads a page as strictly as a browser does not: nothing unknown, nothing left open."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

from pytest_tripwire.gate.text import flat

VOID = {"meta"}
# All that the page may be made of. Nothing that an agent writes may become any of it.
_ELEMENTS = """
    html head meta title style body nav header main section h1 h2 h3 p a b strong small span bdi ul
    li dl dt dd div time table caption thead tbody tr th td details summary svg defs g path use
    circle text
"""
_ATTRIBUTES = """
    lang charset http-equiv content name id class href rel style role tabindex scope open aria-label
    aria-labelledby aria-hidden width height viewbox d x y cx cy r
"""
ELEMENTS, ATTRIBUTES = frozenset(_ELEMENTS.split()), frozenset(_ATTRIBUTES.split())


class Node:
    """An element."""

    def __init__(self, tag: str, attributes: dict[str, str | None]) -> None:
        self.tag = tag
        self.attributes = attributes
        self.children: list[Node | str] = []

    def __getitem__(self, name: str) -> str:
        return self.attributes[name] or ""

    def walk(self) -> Iterator[Node]:
        yield self
        for child in self.children:
            if isinstance(child, Node):
                yield from child.walk()

    def all(self, tag: str, class_: str = "") -> list[Node]:
        """Elements of a name, and of a class."""
        return [
            each
            for each in self.walk()
            if each.tag == tag
            and (not class_ or class_ in (each.attributes.get("class") or "").split())
        ]

    @property
    def text(self) -> str:
        """All text in it, in one line."""
        return flat("".join(self.texts()))

    def texts(self) -> Iterator[str]:
        """Its pieces, what stands apart on the page with a space between."""
        for child in self.children:
            if isinstance(child, str):
                yield child
            elif child.tag != "style":
                yield from child.texts()
                yield " " if child.tag in {"li", "dd", "dt", "td", "th", "p", "text"} else ""


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Node("", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert tag in ELEMENTS, tag
        assert set(names) <= ATTRIBUTES, (tag, names)
        assert len(names) == len(set(names)), (tag, names)
        node = Node(tag, dict(attrs))
        self.open[-1].children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        raise AssertionError(f"<{tag}/> means nothing in HTML: {attrs}")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag, f"</{tag}> closes nothing"

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"a declaration: {data}")

    def handle_pi(self, data: str) -> None:
        raise AssertionError(f"an instruction: {data}")


def tree(page: str) -> Node:
    """The page's `html` element. Fails for anything that the page does not write itself."""
    parser = _Parser()
    head, rest = page.split("\n", 1)
    assert head == "<!doctype html>"
    parser.feed(rest)
    parser.close()
    assert parser.open == [parser.root]
    (html,) = (each for each in parser.root.children if isinstance(each, Node))
    return html
