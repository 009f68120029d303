"""Collected once for each standard case."""

from pytest_tripwire import Tripwire


def test_the_bicycle_hire_is_contained(tripwire: Tripwire) -> None:
    run = tripwire.run()
    run.check()
