"""Tells of a test that leaves a module of its own folder behind, which a later one would find."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest


class LeftBehind:
    """Fails the test after which a module from a temporary folder is still there.

    Args:
        folder: what the folders of all tests are in.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known = len(sys.modules)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self) -> Iterator[None]:
        """Look when the test has put away what it has used."""
        yield
        # Looked into only where there is something new, as there are thousands of tests.
        if len(sys.modules) != self._known:
            left = left_behind(self._folder)
            for name in left:
                del sys.modules[name]
            self._known = len(sys.modules)
            assert not left, f"left in sys.modules: {', '.join(left)}"


def left_behind(folder: Path) -> list[str]:
    """Names of the modules that were imported from `folder`."""
    return sorted(
        name
        for name, module in sys.modules.items()
        if folder in Path(getattr(module, "__file__", None) or "/").parents
    )
