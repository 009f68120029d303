"""The gallery in `scenarios/`: what its agents are expected to become, held in both directions."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

# Its agents use the real SDK. It is loaded here, as an inner run would load it again and again.
pytest.importorskip("openai")

GALLERY = Path(__file__).parents[2] / "scenarios"
Run = Callable[..., pytest.RunResult]

LOST = "lost-write"
EXPECTED = """
[harness]
lost-write = "{harness}"

[own]
lost-write = "{own}"
"""


@pytest.fixture
def gallery(pytester: pytest.Pytester, pytestconfig: pytest.Config) -> Path:
    copy = pytester.path / "scenarios"
    shutil.copytree(GALLERY, copy, ignore=shutil.ignore_patterns("__pycache__"))
    asyncio = pytestconfig.pluginmanager.has_plugin("asyncio")
    extra = "asyncio_default_fixture_loop_scope = function\n" if asyncio else ""
    pytester.makeini(
        f"[pytest]\npythonpath = scenarios\naddopts = --import-mode=importlib\n{extra}"
    )
    return copy


@pytest.fixture
def run(gallery: Path, pytester: pytest.Pytester) -> Run:
    def run(*args: str) -> pytest.RunResult:
        lean = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest")
        return pytester.runpytest_inprocess(*lean, str(gallery), *args)

    return run


@pytest.mark.parametrize("protection", ["harness", "own"])
def test_every_agent_becomes_what_is_expected(run: Run, protection: str) -> None:
    result = run(f"--tripwire-protection={protection}")

    assert result.ret == 0
    assert "passed" in result.stdout.str() or "xfailed" in result.stdout.str()


def test_the_plain_loop_without_a_breaker_pays_twice_and_the_report_marks_it(run: Run) -> None:
    result = run("-k", "plain_loop", "--tripwire-protection=own", "--runxfail")

    result.assert_outcomes(failed=1, deselected=2)
    result.stdout.fnmatch_lines(
        [
            (
                "E * pytest_tripwire.TripwireFailure: lost-write: escaped (agent "
                "scenarios/plain_loop, "
                "protection own)"
            ),
            "E * - lost-write: issue_refund(order A-1001) at 6 should not have happened: *",
            "E * - no unknown write retried: issue_refund(order A-1001) was sent again, *",
            "E *",
            "E * timeline:",
            "E *   1      0s  model    turn 0: proposes write",
            "E *   2      0s  tool     issue_refund(order A-1001) dispatched [[]write[]]",
            "E *   3      0s  world    MUTATION order A-1001 -> version 2: refund 1 of this order",
            "E *   4     30s  tool     answer to 2: lost (TimeoutError)",
            "E *   5     30s  model    turn 1: proposes write",
            (
                "E *>  6     30s  tool     issue_refund(order A-1001) dispatched [[]write[]]"
                "   <-- should not have happened"
            ),
            "E *   7     30s  world    MUTATION order A-1001 -> version 3: refund 2 of this order",
        ],
        consecutive=True,
    )
    result.stdout.fnmatch_lines(["E * where to look: A time-out says nothing about the effect: *"])
    assert result.stdout.str().count("E       >") == 1


def test_the_plain_loop_behind_the_breaker_pays_once(run: Run) -> None:
    result = run("-k", "plain_loop", "--tripwire-protection=harness", "-vv")

    result.assert_outcomes(passed=1, deselected=2)
    timeline = result.stdout.str()
    assert timeline.count("MUTATION") == 1
    assert "breaker  issue_refund: ALLOW_READ_ONLY (unknown_side_effect)" in timeline


@pytest.mark.parametrize(
    ("agent", "states", "line"),
    [
        (
            "plain_loop",
            {"harness": "escaped", "own": "escaped"},
            "*scenarios/plain_loop on lost-write is contained, and expected.toml says escaped*",
        ),
        (
            "plain_loop",
            {"harness": "inconclusive", "own": "escaped"},
            "*scenarios/plain_loop on lost-write is contained, and expected.toml says inconcl*",
        ),
        (
            "behind_the_guard",
            {"harness": "contained", "own": "escaped"},
            "E *TripwireFailure: lost-write: escaped (agent scenarios/behind_the_guard, *",
        ),
        (
            "behind_the_guard",
            {"harness": "inconclusive", "own": "escaped"},
            "*scenarios/behind_the_guard on lost-write is escaped, and expected.toml says inconc*",
        ),
    ],
    ids=["better", "better-than-tried", "worse", "worse-in-kind"],
)
def test_a_state_that_differs_fails(
    run: Run, gallery: Path, agent: str, states: dict[str, str], line: str
) -> None:
    (gallery / agent / "expected.toml").write_text(EXPECTED.format(**states))

    result = run("-k", agent)

    assert result.ret == 1
    result.stdout.fnmatch_lines([line])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "*plain_loop: no expected.toml says what its cells should be"),
        ('[own]\nlost-write = "escaped"\n', "*[[]harness[]] has to name each of lost-write*"),
        ("[harness]\n", "*[[]harness[]] has to name each of lost-write*"),
        (
            '[harness]\nlost-write = "contained"\nlost-wrote = "contained"\n',
            "*[[]harness[]] has to name each of lost-write*",
        ),
    ],
    ids=["no-file", "no-protection", "no-case", "no-such-case"],
)
def test_an_expectation_that_is_missing_or_too_much_fails(
    run: Run, gallery: Path, text: str | None, message: str
) -> None:
    file = gallery / "plain_loop" / "expected.toml"
    file.unlink() if text is None else file.write_text(text)

    result = run()

    assert result.ret != 0
    pytest.LineMatcher([*result.outlines, *result.errlines]).fnmatch_lines([message])


def test_an_agent_that_is_never_run_fails(run: Run, gallery: Path) -> None:
    (gallery / "plain_loop" / "test_plain_loop.py").write_text("def test_it(tripwire): pass\n")

    assert run("-k", "plain_loop").ret == 1


def test_a_skipped_cell_fails(run: Run, gallery: Path) -> None:
    skipping = "import pytest\ndef test_it(tripwire): pytest.skip('another day')\n"
    (gallery / "plain_loop" / "test_plain_loop.py").write_text(skipping)

    assert run("-k", "plain_loop").ret == 1
