"""Collected once for each standard case. `run()` starts an event loop of its own."""

from pytest_tripwire import Tripwire


def test_async_loop_is_contained(tripwire: Tripwire) -> None:
    run = tripwire.run()
    run.check()
