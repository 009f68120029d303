"""Plugs the two specialists in."""

import pytest

from pytest_tripwire import Agent


@pytest.fixture
def tripwire_agent() -> Agent:
    from openai_agents.agent import Support

    return Support()
