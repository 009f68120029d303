"""What a session pays for having the plugin installed: a few small modules of its own."""

from __future__ import annotations

import json

import pytest

OURS = {
    "pytest_tripwire",
    "pytest_tripwire.cases",
    "pytest_tripwire.cases.catalogue",
    "pytest_tripwire.plugin",
    "pytest_tripwire.plugin.brief",
    "pytest_tripwire.plugin.cells",
    "pytest_tripwire.plugin.clash",
    "pytest_tripwire.plugin.fixtures",
    "pytest_tripwire.plugin.junit",
    "pytest_tripwire.plugin.known",
    "pytest_tripwire.plugin.options",
    "pytest_tripwire.plugin.reporter",
    "pytest_tripwire.plugin.transport",
}

# Of the standard library: pluggy before 1.6 reads the metadata of what it loads by its entry point.
SMALL = {"email.feedparser", "email.parser"}

# At the end of a session: what is imported late costs as much as what is imported early.
PROBE = """
import json
import pathlib
import sys

import pytest

@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    worker = getattr(config, "workerinput", {}).get("workerid", "main")
    path = pathlib.Path(__file__).with_name(f"modules-{worker}.json")
    path.write_text(json.dumps(sorted(sys.modules)))
"""

UNRELATED = """
def test_one(): pass
def test_two(tmp_path): pass
def test_three(request): request.getfixturevalue("tmp_path")
"""

PLUGIN = ("-p", "tripwire", "-p", "tripwire_clash")


def modules(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, *args: str, of: str = "main"
) -> set[str]:
    """All that is loaded when a session with these arguments and no other plugins ends."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeconftest(PROBE)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", *args)
    assert result.ret in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    return set(json.loads((pytester.path / f"modules-{of}.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize("tests", ["", UNRELATED], ids=["empty", "unrelated"])
def test_a_session_loads_little_of_us_and_nothing_because_of_us(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, tests: str
) -> None:
    pytester.makepyfile(test_unrelated=tests)

    without = modules(pytester, monkeypatch)
    found = modules(pytester, monkeypatch, *PLUGIN)

    assert {name for name in found if name.startswith("pytest_tripwire")} == OURS
    assert not {name for name in without if name.startswith("pytest_tripwire")}
    assert found - without <= OURS | SMALL


def test_workers_load_as_little(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("xdist")
    pytester.makepyfile(test_unrelated=UNRELATED)
    workers = ("-p", "xdist", "-n", "1")

    without = modules(pytester, monkeypatch, *workers, of="gw0")
    found = modules(pytester, monkeypatch, *workers, *PLUGIN, of="gw0")

    assert {name for name in found if name.startswith("pytest_tripwire")} == OURS
    assert found - without <= OURS | SMALL


def test_the_public_names_are_loaded_when_they_are_asked_for(pytester: pytest.Pytester) -> None:
    script = """
        import sys
        import pytest_tripwire
        assert "msgspec" not in sys.modules
        assert set(pytest_tripwire.__all__) <= set(dir(pytest_tripwire))
        for name in pytest_tripwire.__all__:
            assert getattr(pytest_tripwire, name) is not None, name
        assert "msgspec" in sys.modules
        assert not {"openai", "hypothesis", "vcr", "xdist"} & set(sys.modules)
        try:
            pytest_tripwire.Tripwir
        except AttributeError as error:
            assert str(error) == "module 'pytest_tripwire' has no attribute 'Tripwir'"
        else:
            raise AssertionError
        """
    assert pytester.runpython(pytester.makepyfile(script=script)).ret == 0


def test_the_breaker_needs_no_pytest(pytester: pytest.Pytester) -> None:
    script = """
        import sys
        from pytest_tripwire import Breaker, RunBudget, tool_spec, Harness
        assert not {"pytest", "_pytest"} & set(sys.modules)
        """
    assert pytester.runpython(pytester.makepyfile(script=script)).ret == 0
