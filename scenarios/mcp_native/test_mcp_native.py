"""Collected once for each standard case."""

from pytest_tripwire import Tripwire


def test_client_of_the_protocol_is_contained(tripwire: Tripwire) -> None:
    run = tripwire.run()
    run.check()
