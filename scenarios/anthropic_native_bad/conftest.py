"""Plugs the bad agent in."""

import pytest

from pytest_tripwire import Agent


@pytest.fixture
def tripwire_agent() -> Agent:
    from anthropic_native_bad.agent import run

    return run
