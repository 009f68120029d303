"""What the modules of a project import. Nothing of it is run."""

from __future__ import annotations

import ast
import os
from collections.abc import Collection, Iterator
from pathlib import Path

#: Of a project that has more files, a part tells enough.
_MOST = 5000
_LARGEST_BYTES = 1_000_000
_MADE = frozenset({"__pycache__", "build", "dist", "node_modules", "site-packages"})


def modules(folder: Path, *, most: int = _MOST) -> Iterator[Path]:
    """The Python files of a project, without hidden folders, environments and what tools made.

    Args:
        folder: of the project.
        most: how many of them at most.
    """
    left = most
    for here, inner, names in os.walk(folder):
        inner[:] = sorted(name for name in inner if not _is_foreign(Path(here, name)))
        for name in sorted(names):
            if name.endswith(".py"):
                if not left:
                    return
                left -= 1
                yield Path(here, name)


def _is_foreign(folder: Path) -> bool:
    made = folder.name in _MADE or folder.name.startswith(".")
    return made or (folder / "pyvenv.cfg").exists()


def imported(file: Path, roots: Collection[str]) -> set[str]:
    """Which of these packages a file imports; none of a file that cannot be read."""
    try:
        if file.stat().st_size > _LARGEST_BYTES:
            return set()
        source = file.read_bytes()
        if not any(root.rpartition(".")[2].encode() in source for root in roots):
            return set()
        tree = ast.parse(source)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    names = {name for node in ast.walk(tree) for name in _names(node)}
    return {root for root in roots if any(f"{name}.".startswith(f"{root}.") for name in names)}


def _names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (each.name for each in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        # `from google import adk` may bring a module as well as a name in one.
        yield from (f"{node.module}.{each.name}" for each in node.names)


def is_own(root: str, file: Path, folder: Path) -> bool:
    """Say whether `root`, imported by `file`, is a module of the project's and no framework."""
    name = root.partition(".")[0]
    homes = (folder, folder / "src", file.parent)
    return any((home / f"{name}.py").is_file() or any((home / name).glob("*.py")) for home in homes)


def dotted(file: Path, folder: Path) -> str:
    """How a file is imported; empty if it is a test, or cannot be imported by a name."""
    inside = file.relative_to(folder).with_suffix("")
    parts = inside.parts[1:] if inside.parts[0] == "src" else inside.parts
    parts = parts[:-1] if parts[-1:] == ("__init__",) else parts
    is_test = any(part.startswith("test") or part == "conftest" for part in parts)
    return "" if is_test or not all(map(str.isidentifier, parts)) else ".".join(parts)
