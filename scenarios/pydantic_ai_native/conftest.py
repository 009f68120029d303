"""Plugs the clerk in."""

import pytest

from pytest_tripwire import Agent


@pytest.fixture
def tripwire_agent() -> Agent:
    from pydantic_ai_native.agent import Desk

    return Desk()
