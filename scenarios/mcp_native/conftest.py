"""Plugs the agent in."""

import pytest

from pytest_tripwire import Agent


@pytest.fixture
def tripwire_agent() -> Agent:
    from mcp_native.agent import Support

    return Support()
