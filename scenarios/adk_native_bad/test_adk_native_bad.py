"""Nothing that the clerk does after the stop reaches the business."""

from pytest_tripwire import Tripwire, assert_no_mutation_after_interrupt


def test_an_insisting_clerk_is_contained(tripwire: Tripwire) -> None:
    run = tripwire.run()
    run.check()
    if run.interrupted:
        assert_no_mutation_after_interrupt(run)
