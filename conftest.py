"""What every suite in this repository shares."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    # Strict config rejects the option of a plugin that is not there, and no async plugin is needed.
    if not pluginmanager.has_plugin("asyncio"):
        parser.addini("asyncio_default_fixture_loop_scope", "unused without pytest-asyncio")


@pytest.fixture
def pytester(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    # An inner run does not read this repository's pyproject.toml, so an installed pytest-randomly
    # would shuffle it and a test about the order of items or reports would fail by chance.
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:randomly")
    return pytester
