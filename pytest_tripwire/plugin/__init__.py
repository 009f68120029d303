"""The pytest plugin. It is imported at every start of pytest, so it imports pytest alone: cases,
breaker and model server are loaded by the first test that asks for them.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, TypeAlias

import pytest

from pytest_tripwire.plugin import brief, cells, junit, known, options, transport
from pytest_tripwire.plugin.fixtures import (
    tripwire,
    tripwire_agent,
    tripwire_agent_id,
    tripwire_breaker,
    tripwire_budget,
    tripwire_cassette,
    tripwire_desk,
    tripwire_for,
    tripwire_model_faults,
    tripwire_persona,
    tripwire_protection,
    tripwire_round,
    tripwire_seed,
    tripwire_specs,
    tripwire_stops,
    tripwire_tools,
)
from pytest_tripwire.plugin.reporter import Reporter

__all__ = [
    "tripwire",
    "tripwire_agent",
    "tripwire_agent_id",
    "tripwire_breaker",
    "tripwire_budget",
    "tripwire_cassette",
    "tripwire_desk",
    "tripwire_for",
    "tripwire_model_faults",
    "tripwire_persona",
    "tripwire_protection",
    "tripwire_round",
    "tripwire_seed",
    "tripwire_specs",
    "tripwire_stops",
    "tripwire_tools",
]

_Status: TypeAlias = int | pytest.ExitCode | None
_REPORTER = "tripwire-reporter"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options and ini values of this plugin."""
    options.add(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> None:
    """Say what is missing, where pytest would only say that it knows no `-n`; take old reports away
    before anything can end the run.
    """
    options.require_xdist(early_config, parser, args)
    options.clear(early_config)


def pytest_configure(config: pytest.Config) -> None:
    """Check what was set, and listen to reports where they come together."""
    config.addinivalue_line(
        "markers",
        "tripwire(cases=None): try only these standard cases in this test; "
        "the gate counts the others as not run",
    )
    config.addinivalue_line(
        "markers",
        "tripwire_cassette(path=None, record_mode=None, strict=False, ignore=()): record the "
        "HTTP traffic of this test once, and play it ever after",
    )
    options.check(config)
    known.load(config)
    if config.pluginmanager.register(Reporter(config), _REPORTER) is None:
        options.check_blocked(config, _REPORTER)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> Generator[None, _Status, _Status]:
    """Once more after all that may set the exit status when a session has ended."""
    status = yield
    reporter = config.pluginmanager.get_plugin(_REPORTER)
    return status if reporter is None or status is None else reporter.settled(status)


def pytest_report_header(config: pytest.Config) -> str | None:
    """Name the model where it is not the scripted one: what a run says is about that one."""
    model = options.model(config)
    name = config.getini("tripwire_model_name")
    return None if model == options.MODELS[0] else f"tripwire: model {name} ({model})"


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each case, and for each round of it. `trylast`, so that every test id ends in
    the case id.
    """
    rounds = options.rounds(metafunc.config)
    if rounds > 1 and "tripwire_desk" in metafunc.fixturenames:
        numbers = range(1, rounds + 1)
        named = [f"{number}of{rounds}" for number in numbers]
        metafunc.parametrize("tripwire_round", numbers, indirect=True, ids=named)
    if "tripwire" in metafunc.fixturenames:
        names = cells.cases_of(metafunc.definition)
        metafunc.parametrize("tripwire", names, indirect=True, ids=names)


def pytest_itemcollected(item: Any) -> None:
    """Note the cell of each test before any hook can drop it; and have the marker alone do: a test
    that is marked and not recorded would ask a real model.
    """
    names = getattr(item, "fixturenames", None)
    if names is None:
        return
    if "tripwire_desk" in names:
        _plan(item)
    if "tripwire_cassette" not in names:
        if item.get_closest_marker("tripwire_cassette") is None:
            return
        # First, so that it is open before an agent is built. The old list is its siblings' too.
        item.fixturenames = ["tripwire_cassette", *names]
    _watch(item.config)


def _watch(config: pytest.Config) -> None:
    from pytest_tripwire.plugin.parts import watch  # for sessions with tests of ours alone

    watch(config)


def _plan(item: pytest.Item) -> None:
    planned = cells.planned(item)
    if planned is not None:
        item.stash[transport.PLAN] = planned
        item.config.stash.setdefault(transport.PLANNED, []).append(planned)
        _watch(item.config)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    """Note what a hook of the project's has added, and how many tests there are of each cell."""
    plans = config.stash.setdefault(transport.PLANNED, [])
    known_tests = {test for _, _, test in plans}
    for item in items:
        if "tripwire_desk" in getattr(item, "fixturenames", ()) and item.nodeid not in known_tests:
            _plan(item)
    config.stash[known.SIBLINGS] = known.siblings(plans)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Note what tests are called now: hooks may rename them, as that of pytest-xdist does."""
    if not session.config.stash.get(transport.PLANNED, None):
        return
    for item in session.items:
        if transport.PLAN in item.stash:
            item.stash[transport.PLAN][-1] = item.nodeid


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let cells travel on reports, which xdist carries to the controller."""
    report = yield
    if transport.BODY in item.stash:
        transport.note_part(item, call, report)
    elif "tripwire_desk" in getattr(item, "fixturenames", ()):
        transport.attach(item, call, report)
        known.excuse(item, call, report)
        brief.cut(call, report)
        transport.note_outcome(item, report)
        junit.note(item)
    elif call.when == "call" and transport.AWAITED in item.stash:
        transport.note_end(item, call)
    return report
