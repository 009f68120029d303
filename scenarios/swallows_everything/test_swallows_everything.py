"""Nothing that this agent does after the stop reaches the business."""

from pytest_tripwire import assert_no_mutation_after_interrupt


def test_swallower_is_contained(tripwire):
    run = tripwire.run()
    run.check()
    if run.interrupted:
        assert_no_mutation_after_interrupt(run)
