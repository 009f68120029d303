"""Tells what is reported while the body of a test is under way, such as a subtest."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from pytest_tripwire.plugin import transport

_NAME = "tripwire-body"


def watch(config: pytest.Config) -> None:
    """Watch the bodies of tests from now on. A session without any test of ours pays for no hook
    that is called for each test.
    """
    if not config.pluginmanager.hasplugin(_NAME):
        config.pluginmanager.register(Body(), _NAME)


class Body:
    """Marks a body that is under way."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """What is reported meanwhile is about a part of it."""
        item.stash[transport.BODY] = True
        if transport.PART in item.stash:  # of the same test, run once more
            del item.stash[transport.PART]
        try:
            return (yield)
        finally:
            del item.stash[transport.BODY]
