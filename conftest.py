"""What every suite in this repository shares."""

from __future__ import annotations

import compileall
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

PACKAGE = Path(__file__).parent / "pytest_tripwire"

#: Plugins that hardly any inner run is about, and that cost it more time to load than all else
#: together; a run asks for one by `-p`. Shuffled, one about an order of items would fail by chance.
BLOCKED = ("randomly", "hypothesispytest", "asyncio", "anyio", "rerunfailures")
LEAN = " ".join(f"-p no:{name}" for name in BLOCKED)


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    # Strict config rejects the option of a plugin that is not there, and no async plugin is needed.
    if not pluginmanager.has_plugin("asyncio"):
        parser.addini("asyncio_default_fixture_loop_scope", "unused without pytest-asyncio")


def pytest_configure(config: pytest.Config) -> None:
    # Done once: the processes of tests leave nothing compiled behind them, see `inner_runs`.
    if not hasattr(config, "workerinput"):
        compileall.compile_dir(PACKAGE, quiet=2)


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
