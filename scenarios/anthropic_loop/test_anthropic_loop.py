"""Collected once for each standard case."""


def test_anthropic_loop_is_contained(tripwire):
    run = tripwire.run()
    run.check()
