"""Builds HTML. What is not `Markup` is text of strangers, and is made harmless as it is put in."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import TypeAlias

#: They have no end tag.
_VOID = frozenset({"meta"})


class Markup(str):
    """HTML that this package wrote itself. Nothing else may be made into it."""

    __slots__ = ()


#: What may be put into an element; None is nothing.
Child: TypeAlias = "Markup | str | int | Iterable[Child] | None"


def el(tag: str, *children: Child, **attributes: str | float | bool | None) -> Markup:
    """One element.

    Args:
        tag: its name.
        children: text, elements, or any number of them.
        attributes: by name; `_` stands for `-`, and one at the end is dropped, so that `class_` can
            be written. None and False leave an attribute out.
    """
    opened = f"<{tag}{''.join(_attribute(*each) for each in attributes.items())}>"
    return Markup(opened if tag in _VOID else f"{opened}{join(children)}</{tag}>")


def join(children: Iterable[Child]) -> Markup:
    """Several pieces as one."""
    return Markup("".join(map(_written, children)))


def named(text: str) -> Markup:
    """Text of strangers within a line: whichever way it is read, its neighbours stay in place."""
    return el("bdi", text)


def plain(text: str) -> str:
    """`text` without what is not shown: control characters, surrogates, marks that turn a line."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else " " for each in text)


def _written(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Markup):
        return child
    if isinstance(child, str):
        return html.escape(plain(child), quote=False)
    return str(child) if isinstance(child, int) else join(child)


def _attribute(name: str, value: str | float | bool | None) -> str:  # noqa: FBT001 - as HTML has it
    if value is None or value is False:
        return ""
    written = name.rstrip("_").replace("_", "-")
    if value is True:
        return f" {written}"
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return f' {written}="{html.escape(plain(text))}"'
