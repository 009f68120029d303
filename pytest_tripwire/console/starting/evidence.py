"""Which frameworks a project shows, the clearest first."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from pytest_tripwire.console.starting.dependencies import named
from pytest_tripwire.console.starting.frameworks import KNOWN, Known
from pytest_tripwire.console.starting.imports import dotted, imported, is_own, modules
from pytest_tripwire.console.starting.installed import is_installed


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What a project shows of one framework.

    Args:
        known: which one.
        importing: the files that import it.
        naming: the dependency files that name it.
        installed: whether it is installed here.
    """

    known: Known
    importing: tuple[Path, ...] = ()
    naming: tuple[Path, ...] = ()
    installed: bool = False

    @property
    def is_shown(self) -> bool:
        """Whether there is anything that speaks for it."""
        return bool(self.importing or self.naming or self.installed)

    @property
    def weight(self) -> tuple[int, bool, int]:
        """Code says more than a list of dependencies, and that more than what happens to be
        installed. What agents of another framework use too says less than that framework.
        """
        kind = 3 if self.importing else 2 if self.naming else 1
        return kind, not self.known.aside, len(self.importing)


def seen(folder: Path, *, is_installed: Callable[[Known], bool] = is_installed) -> list[Seen]:
    """Every framework that a project shows, the clearest first.

    Args:
        folder: of the project.
        is_installed: says of a framework whether it is installed.
    """
    importing, naming = _importing(folder), list(named(folder))
    every = [
        Seen(
            known=known,
            importing=tuple(importing.get(known.name, ())),
            naming=tuple(path for path, names in naming if names & set(known.distributions)),
            installed=is_installed(known),
        )
        for known in KNOWN
    ]
    shown = [each for each in every if each.is_shown]
    return sorted(shown, key=lambda each: each.weight, reverse=True)


def _importing(folder: Path) -> dict[str, list[Path]]:
    """The files that import a framework, by its name."""
    of_root = {root: known.name for known in KNOWN for root in known.roots}
    found: dict[str, list[Path]] = {}
    for file in modules(folder):
        roots = imported(file, of_root)
        names = {of_root[root] for root in roots if not is_own(root, file, folder)}
        for name in names:
            found.setdefault(name, []).append(file)
    return found


def home(seen: Seen, folder: Path) -> str:
    """The module in which a project seems to have its agent; empty if none can be named."""
    return next(filter(None, (dotted(file, folder) for file in seen.importing)), "")
