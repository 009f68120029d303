"""Recorded traces in, verdicts out: what a breaker would have done with runs that have been.

`agent-tripwire replay` is put together from these parts: `reading` makes traces of files, `prepare`
fills in what a team declares, `drive` feeds one trace to a breaker, `run` does so with all of them,
`score` compares with what was expected, `report` says so, and `suggest` reads budgets off runs that
went well.
"""
