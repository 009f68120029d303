"""Plugs the bad agent in."""

import pytest
from behind_the_guard.agent import run


@pytest.fixture
def tripwire_agent():
    return run
