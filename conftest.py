"""What every suite in this repository shares."""

from __future__ import annotations

import compileall
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest_plugins = ["pytester"]

PACKAGE = Path(__file__).parent / "pytest_tripwire"

#: Plugins that hardly any inner run is about, and that cost it more time to load than all else
#: together; a run asks for one by `-p`. Shuffled, one about an order of items would fail by chance.
BLOCKED = ("randomly", "hypothesispytest", "asyncio", "anyio", "rerunfailures")
LEAN = " ".join(f"-p no:{name}" for name in BLOCKED)

#: `--hypothesis-profile=few` tries no more examples than these, whatever a test asks for: enough to
#: tell whether another Python or another release of a dependency changes what a test is about.
FEW = 25


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    # Strict config rejects the option of a plugin that is not there, and no async plugin is needed.
    if not pluginmanager.has_plugin("asyncio"):
        parser.addini("asyncio_default_fixture_loop_scope", "unused without pytest-asyncio")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if few(config):
        from hypothesis import settings

        settings.register_profile("few", max_examples=FEW)
    # Done once: the processes of tests leave nothing compiled behind them, see `inner_runs`.
    if not hasattr(config, "workerinput"):
        compileall.compile_dir(PACKAGE, quiet=2)


def few(config: pytest.Config) -> bool:
    """Whether Hypothesis is to try few examples."""
    return bool(config.getoption("--hypothesis-profile", None) == "few")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not few(config):
        return
    for item in items:
        # Where Hypothesis keeps what `@settings` says, of a test and of a state machine. Should it
        # move, more examples are tried than need be.
        test = getattr(item, "obj", None)
        bound(getattr(test, "__func__", test), "_hypothesis_internal_use_settings")
        bound(getattr(item, "cls", None), "settings")


def bound(holder: Any, name: str) -> None:
    """Hold a test's own settings within those of the profile."""
    from hypothesis import settings

    own = getattr(holder, name, None)
    if isinstance(own, settings) and own.max_examples > FEW:
        setattr(holder, name, settings(own, max_examples=FEW))


@pytest.fixture(scope="session", autouse=True)
def inner_runs() -> Iterator[None]:
    """What tests write is run as it stands, and in no time.

    A compiled file counts as that of any source of one size that was written in the same second, so
    that a module which a test writes anew would go on being the old one. Nothing is compiled to
    files, therefore, neither in this process nor in those that tests start.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.dont_write_bytecode", True)
        patch.setenv("PYTHONDONTWRITEBYTECODE", "1")
        patch.setenv("PYTEST_ADDOPTS", LEAN)
        yield


@pytest.fixture
def pytester(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    # Its own fixture takes the options of the outer run away.
    monkeypatch.setenv("PYTEST_ADDOPTS", LEAN)
    return pytester
