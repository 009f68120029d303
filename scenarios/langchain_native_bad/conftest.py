"""Plugs the bad agent in."""

from collections.abc import Iterator

import pytest

from pytest_tripwire import Agent


@pytest.fixture
def tripwire_agent() -> Iterator[Agent]:
    from langchain_native_bad.agent import run
    from langsmith import tracing_context

    # Whatever the environment says, a scripted run is nobody's trace.
    with tracing_context(enabled=False):
        yield run
