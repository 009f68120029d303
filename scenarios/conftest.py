"""Holds every cell of the gallery against the `expected.toml` beside its agent.

The bad agents are here to be caught, so a cell that is expected to escape has to fail its test,
in pytest's own terms a strict xfail. A state that differs, in either direction, fails the suite.

What an agent `needs`, by the same file, may not be installed: then its folder is left out, and the
summary says so. Naming such a folder on the command line is an error.
"""

from __future__ import annotations

import tomllib
from collections.abc import Generator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

from pytest_tripwire import TripwireFailure
from pytest_tripwire.cases import CASE_IDS
from pytest_tripwire.plugin import options, transport

HERE = Path(__file__).parent
CONTAINED = "contained"


def missing(folder: Path) -> list[str]:
    """What the agent in a folder needs and nobody has installed."""
    file = folder / "expected.toml"
    needs = tomllib.loads(file.read_text("utf-8")).get("needs", []) if file.is_file() else []
    return [name for name in needs if not is_installed(name)]


def is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def reason(folder: Path) -> str:
    names = missing(folder)
    verb = "is" if len(names) == 1 else "are"
    return (
        f"{folder.name}: not collected: {', '.join(names)} {verb} not installed, "
        "see requirements/adapters.txt"
    )


def named(config: pytest.Config) -> list[Path]:
    """The paths on the command line."""
    start = config.invocation_params.dir
    return [(start / arg.split("::")[0]).resolve() for arg in config.args]


def left_out() -> list[Path]:
    return [folder for folder in sorted(HERE.iterdir()) if missing(folder)]


def pytest_configure(config: pytest.Config) -> None:
    for folder in left_out():
        if any(path.is_relative_to(folder) for path in named(config)):
            raise pytest.UsageError(reason(folder))


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    return True if missing(collection_path) else None


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    for folder in left_out():
        if any(folder.is_relative_to(path) for path in named(config)):
            terminalreporter.write_line(reason(folder), yellow=True)


def expected_states(config: pytest.Config, folder: Path) -> dict[str, str]:
    """What `expected.toml` says of this agent under the protection at hand."""
    file = folder / "expected.toml"
    if not file.is_file():
        raise pytest.UsageError(f"{folder.name}: no expected.toml says what its cells should be")
    table = tomllib.loads(file.read_text("utf-8"))
    protection = options.protection(config) or options.DEFAULT_PROTECTION
    states = table.get(protection, {})
    if set(states) != set(CASE_IDS):
        wanted = ", ".join(CASE_IDS)
        raise pytest.UsageError(f"{file}: [{protection}] has to name each of {wanted}")
    return states


def in_gallery(item: pytest.Item) -> bool:
    return HERE in item.path.parents


def case_of(item: pytest.Item) -> str | None:
    callspec = getattr(item, "callspec", None)
    return callspec.params.get("tripwire") if callspec else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in filter(in_gallery, items):
        case = case_of(item)
        if case is None:
            continue
        state = expected_states(config, item.path.parent)[case]
        if state != CONTAINED:
            reason = f"expected to be {state}"
            item.add_marker(pytest.mark.xfail(strict=True, raises=TripwireFailure, reason=reason))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if call.when != "teardown" or not in_gallery(item) or case_of(item) is None:
        return report
    cells = transport.decode(report)
    wrong = differences(expected_states(item.config, item.path.parent), cells)
    if report.passed and (wrong or not cells):
        report.outcome = "failed"
        report.longrepr = "\n".join(wrong) or f"{item.nodeid}: no cell was judged"
    return report


def differences(expected: dict[str, str], cells: list) -> list[str]:
    return [
        f"{cell.agent} on {cell.case} is {cell.state}, and expected.toml says {expected[cell.case]}"
        for cell in cells
        if cell.state != expected[cell.case]
    ]
