"""A suite that has nothing to do with agents is as it was."""

from __future__ import annotations

import re
from typing import Any

import pytest

SUITE = """
    import pytest

    @pytest.mark.parametrize("number", range(3))
    def test_good(number, tmp_path, record_property):
        record_property("number", number)

    def test_bad():
        assert 1 == 2

    @pytest.fixture
    def broken():
        yield
        raise ValueError("at its end")

    def test_at_its_end(broken):
        pass

    @pytest.mark.skip
    def test_skipped():
        pass

    @pytest.mark.xfail
    def test_expected():
        raise KeyError("x")

    @pytest.mark.xfail
    def test_unexpected():
        pass
"""
#: What differs from run to run, and what is as long as it is.
CHANGING = re.compile(r"\d+\.\d+s|gw\d|\[ *\d+%\]|=|-{3,}| +$")


@pytest.mark.parametrize("workers", ["0", "1"])
def test_the_plugin_changes_no_result(project: Any, workers: str) -> None:
    """Each run in a process of its own, as what is imported is imported for good."""
    project.every_case()
    project.tests(SUITE)
    folder = project.pytester.path

    def told(*options: str) -> tuple[int, list[str], list[str]]:
        more = ("-n", workers) if workers != "0" else ()
        result = project.spawn("-v", "-rA", "--junit-xml=junit.xml", *more, *options)
        junit = (folder / "junit.xml").read_text("utf-8")
        lines = [line for line in result.outlines if not line.startswith("plugins: ")]
        return result.ret, sorted(CHANGING.sub("", line) for line in lines), without_times(junit)

    assert told("-p", "no:tripwire", "-p", "no:tripwire-name-clash") == told()


def without_times(junit: str) -> list[str]:
    """Each test, in any order: workers are not always as fast."""
    plain = CHANGING.sub("", re.sub(r'time(stamp)?="[^"]*"', "", junit))
    found = re.findall(r"<testcase[^>]*/>|<testcase.*?</testcase>", plain, re.DOTALL)
    assert len(found) == 8
    return sorted(found)
