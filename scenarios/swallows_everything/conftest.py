"""Plugs the bad agent in."""

import pytest
from swallows_everything.agent import run


@pytest.fixture
def tripwire_agent():
    return run
