"""A test that leaves a module behind is told so, and the next one does not find it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

CONFTEST = """
from left_behind import LeftBehind

def pytest_sessionstart(session):
    folders = session.config._tmp_path_factory
    session.config.pluginmanager.register(LeftBehind(folders.getbasetemp()))
"""

TESTS = """
def test_leaves(tmp_path, monkeypatch):
    (tmp_path / "shop.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    import shop

def test_is_tidy(tmp_path, monkeypatch):
    import sys
    assert "shop" not in sys.modules
"""


def test_what_a_test_leaves_behind_is_an_error_of_its_own(pytester: pytest.Pytester) -> None:
    shutil.copy(Path(__file__).with_name("left_behind.py"), pytester.path)
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(TESTS)

    result = pytester.runpytest_inprocess()

    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["*left in sys.modules: shop"])
    result.stdout.fnmatch_lines(["ERROR *::test_leaves*"])
