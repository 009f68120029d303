"""What the breaker costs, as ratios within one run: `python -m benchmarks`.

Absolute times are worth nothing on a shared machine, so every subject takes turns with what it is
compared with, and only the ratio is told. Nothing here runs in CI but for a smoke test.
"""
