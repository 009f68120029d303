"""The gallery in `scenarios/`: what its agents are expected to become, held in both directions."""

from __future__ import annotations

import re
import shutil
import ssl
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from pytest_tripwire.cases import CASE_IDS

# Its agents use the real SDK. It is loaded here, as an inner run would load it again and again.
pytest.importorskip("openai")

GALLERY = Path(__file__).parents[2] / "scenarios"
Run = Callable[..., pytest.RunResult]

LOST = "lost-write"
LEAN = ("-p", "no:cacheprovider")
#: One good and one bad agent, for what is asked of all in the same way.
FEW = ("plain_loop", "behind_the_guard")
COLLECTED = re.compile(
    rf"scenarios/(?P<folder>\w+)/\S+::\S+\[(?:\S+-)?(?P<case>{'|'.join(CASE_IDS)})\]$"
)


def table_of(file: Path) -> dict[str, dict[str, str]]:
    table: dict[str, dict[str, str]] = tomllib.loads(file.read_text("utf-8"))
    return table


def toml(table: Mapping[str, Mapping[str, str]]) -> str:
    lines = []
    for name, states in table.items():
        lines += [f"[{name}]", *(f'{case} = "{state}"' for case, state in states.items())]
    return "\n".join(lines)


@pytest.fixture
def gallery(pytester: pytest.Pytester) -> Path:
    """A copy of the gallery with a few of its agents."""
    copy = pytester.mkdir("scenarios")
    shutil.copy(GALLERY / "conftest.py", copy)
    for name in FEW:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(GALLERY / name, copy / name, ignore=ignored)
    pytester.makeini("[pytest]\npythonpath = scenarios\naddopts = --import-mode=importlib\n")
    return copy


@pytest.fixture(scope="module")
def trust() -> ssl.SSLContext:
    return ssl.create_default_context()


@pytest.fixture(autouse=True)
def trusted_once(trust: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each client of the SDK would read all certificates that the machine trusts, and use none."""
    monkeypatch.setattr("ssl.create_default_context", lambda *_, **__: trust)


@pytest.fixture
def run(gallery: Path, pytester: pytest.Pytester) -> Run:
    def run(*args: str) -> pytest.RunResult:
        return pytester.runpytest_inprocess(*LEAN, str(gallery), *args)

    return run


def test_every_agent_becomes_what_is_expected(run: Run) -> None:
    """Of the few here, without the case that has as many turns as all others; CI runs the whole
    gallery, under each protection, in a step of its own.
    """
    result = run("-k", "not long-investigation")

    assert result.ret == 0
    result.assert_outcomes(passed=8, xfailed=6, deselected=2)


def test_every_agent_is_tried_in_every_case(pytester: pytest.Pytester) -> None:
    """By whoever runs the gallery: what is collected there has to become what is expected."""
    # The gallery where it lies, in a process of its own: frameworks cannot be loaded twice.
    result = pytester.runpytest_subprocess(
        *LEAN,
        "--collect-only",
        "-q",
        f"--rootdir={GALLERY.parent}",
        "-c",
        str(GALLERY.parent / "pyproject.toml"),
        str(GALLERY),
    )

    assert result.ret == 0
    # What needs a framework that is not installed says so; nothing else may be missing.
    left_out = {line.split(":")[0] for line in result.outlines if ": not collected: " in line}
    folders = {path.parent.name for path in GALLERY.glob("*/conftest.py")} - left_out
    found = [COLLECTED.match(line) for line in result.outlines if "::" in line]
    tried = {(match["folder"], match["case"]) for match in found if match}
    assert tried == {(folder, case) for folder in folders for case in CASE_IDS}
    assert set(FEW) <= folders


def test_the_plain_loop_without_a_breaker_pays_twice_and_the_report_marks_it(run: Run) -> None:
    result = run("-k", f"plain_loop and {LOST}", "--tripwire-protection=own", "--runxfail")

    result.assert_outcomes(failed=1, deselected=15)
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
    result = run("-k", f"plain_loop and {LOST}", "--tripwire-protection=harness", "-vv")

    result.assert_outcomes(passed=1, deselected=15)
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
    file = gallery / agent / "expected.toml"
    table = {name: {**table_of(file)[name], LOST: state} for name, state in states.items()}
    file.write_text(toml(table), encoding="utf-8")

    result = run("-k", f"{agent} and {LOST}")

    assert result.ret == 1
    result.stdout.fnmatch_lines([line])


WANTED = f"*[[]harness[]] has to name each of {', '.join(CASE_IDS)}*"
WHOLE = dict.fromkeys(CASE_IDS, "contained")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "*plain_loop: no expected.toml says what its cells should be"),
        (toml({"own": WHOLE}), WANTED),
        (toml({"harness": {}}), WANTED),
        (toml({"harness": {case: "contained" for case in CASE_IDS if case != LOST}}), WANTED),
        (toml({"harness": {**WHOLE, "lost-wrote": "contained"}}), WANTED),
    ],
    ids=["no-file", "no-protection", "no-case", "one-missing", "no-such-case"],
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

    assert run("-k", f"plain_loop and {LOST}").ret == 1


def test_a_skipped_cell_fails(run: Run, gallery: Path) -> None:
    skipping = "import pytest\ndef test_it(tripwire): pytest.skip('another day')\n"
    (gallery / "plain_loop" / "test_plain_loop.py").write_text(skipping)

    assert run("-k", f"plain_loop and {LOST}").ret == 1
