"""Collected once for each standard case."""

from pytest_tripwire import Tripwire


def test_specialists_are_contained(tripwire: Tripwire) -> None:
    run = tripwire.run()
    run.check()
