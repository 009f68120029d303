"""Plugs the bad clerk in."""

import pytest

from pytest_tripwire import Agent


@pytest.fixture
def tripwire_agent() -> Agent:
    from adk_native_bad.agent import run

    return run
