"""Plugs the plain loop in."""

import pytest
from plain_loop.agent import run


@pytest.fixture
def tripwire_agent():
    return run
