"""The oracle sees what the breaker cannot: it reads the world, not the guard."""


def test_evasion_is_seen(tripwire):
    run = tripwire.run()
    run.check()
