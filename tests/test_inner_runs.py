"""Runs of pytest within tests run what the test has written last."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

Run = Callable[[pytest.Pytester], Callable[..., pytest.RunResult]]


@pytest.mark.parametrize(
    "run",
    [lambda at: at.runpytest_inprocess, lambda at: at.runpytest_subprocess],
    ids=["in this process", "in one of its own"],
)
def test_modules_that_are_written_twice_within_a_second_are_run_as_they_stand(
    pytester: pytest.Pytester, run: Run
) -> None:
    for number in (1, 2):
        test = f"from helper import NUMBER\ndef test_{number}(): assert NUMBER == {number}"
        for path in pytester.makepyfile(helper=f"NUMBER = {number}", test_it=test).parent.glob("*"):
            os.utime(path, (1_700_000_000, 1_700_000_000))

        result = run(pytester)("-v")

        result.stdout.fnmatch_lines([f"test_it.py::test_{number} PASSED*"])
    assert not list(pytester.path.rglob("*.pyc"))
