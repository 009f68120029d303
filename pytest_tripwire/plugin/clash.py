"""Stops a session in which another distribution holds the plugin name `tripwire`.

pytest loads one entry point of a name and skips every other without a word, so a merge gate could
vanish because of a package that somebody else installed. This module is a second entry point under
a name of its own: it is loaded whichever of the two was dropped.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from typing import NamedTuple

import pytest

NAME = "tripwire"
OUR_DISTRIBUTION = "pytest-agent-tripwire"
OUR_MODULE = "pytest_tripwire.plugin"
# Looked up by name: reading the entry points of everything installed would cost every start.
KNOWN_OTHERS = ("pytest-tripwire", "python-tripwire")


class Rival(NamedTuple):
    """Another owner of the name: its module, and its distribution where that is known."""

    module: str
    distribution: str | None


@pytest.hookimpl
def pytest_plugin_registered(
    plugin: object, plugin_name: str, manager: pytest.PytestPluginManager
) -> None:
    """Look at the holder of the name; pytest replays earlier registrations to a late plugin."""
    if plugin_name != NAME:
        return
    holder = getattr(plugin, "__name__", type(plugin).__module__)
    if holder != OUR_MODULE:
        raise pytest.UsageError(_message(_owner(plugin, holder, manager), loaded=holder))
    dropped = _installed_rival()
    if dropped is not None:
        raise pytest.UsageError(_message(dropped, loaded=holder))


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Let no gate pass that nothing makes: a plugin that is blocked leaves its options behind."""
    asked = config.getoption("tripwire_gate", default=False)
    if asked and not config.pluginmanager.hasplugin("tripwire-reporter"):
        raise pytest.UsageError(
            f"--tripwire-gate, and its plugin is blocked: take `-p no:{NAME}` or "
            f"`-p no:{NAME}-reporter` out of the command line, addopts and PYTEST_ADDOPTS"
        )


def _owner(plugin: object, module: str, manager: pytest.PytestPluginManager) -> Rival:
    for loaded, facade in manager.list_plugin_distinfo():
        if loaded is plugin:
            return Rival(module, facade.metadata["Name"])
    return _installed_rival() or Rival(module, None)


def _installed_rival() -> Rival | None:
    for name in KNOWN_OTHERS:
        try:
            points = distribution(name).entry_points
        except PackageNotFoundError:
            continue
        for point in points.select(group="pytest11", name=NAME):
            return Rival(point.module, name)
    return None


def _message(rival: Rival, *, loaded: str) -> str:
    theirs = rival.distribution or f"the distribution that owns {rival.module}"
    return f"""two installed pytest plugins are called `{NAME}`:
  {OUR_MODULE} of {OUR_DISTRIBUTION}
  {rival.module} of {theirs}
pytest loads only one of a name and says nothing about the other. This time it loaded
{loaded}; which one it is may change with the next installation.
Do one of these:
  - uninstall the one that you do not need, {OUR_DISTRIBUTION} or {theirs};
  - keep both and use {OUR_MODULE}: write
    `-p no:{NAME} -p {OUR_MODULE}` in place of `-p {NAME}`, on the command line or in addopts;
  - keep both and use {rival.module}: write
    `-p no:{NAME} -p {rival.module}` there instead."""
