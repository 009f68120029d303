"""Plugs the loop in."""

import pytest


@pytest.fixture
def tripwire_agent():
    from anthropic_loop.agent import run

    return run
