"""Collects cells where reports come together, and has the gate decide at the end."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tripwire.plugin import options, transport

if TYPE_CHECKING:
    from pytest_tripwire.gate import Verdict
    from pytest_tripwire.oracle import Cell


class Reporter:
    """Owner of what is known of a session's cells. Workers only pass on what they collected."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._is_worker = hasattr(config, "workerinput")
        self._gate = bool(config.getoption("tripwire_gate"))
        self._planned: dict[tuple[str, str, str], None] = {}
        self._cells: list[Cell] = []
        self._verdict: Verdict | None = None

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Take what a report brings; in the controller these are the workers' reports too."""
        if not self._is_worker:
            self._plan(getattr(report, transport.PLANNED_ON_REPORT, None))
            self._cells += transport.decode(report)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Take what this process collected; with xdist the controller collects nothing."""
        self._plan(session.config.stash.get(transport.PLANNED, None))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:  # noqa: ARG002
        """Take what a worker collected, even if no test of it was run."""
        output = getattr(node, "workeroutput", None) or {}
        self._plan(output.get(transport.PLANNED_ON_REPORT))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, object, object]:
        """Have the last word on the exit status, after every hook of the project's. A worker's
        plan goes first: xdist sends it as soon as those hooks are through.
        """
        if self._is_worker:
            planned = [list(plan) for plan in self._planned]
            session.config.workeroutput[transport.PLANNED_ON_REPORT] = planned  # type: ignore[attr-defined]
        try:
            return (yield)
        finally:
            self._settle(session)

    def _settle(self, session: pytest.Session) -> None:
        """Let the gate decide the exit status, unless pytest itself has something worse to say."""
        if not self._is_worker and self._gate and not self._decided().passed:
            good = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
            if session.exitstatus in good:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """The table of cells, and the gate's word."""
        ran = not self._config.getoption("collectonly")
        if not self._is_worker and (self._gate or (ran and (self._cells or self._planned))):
            from pytest_tripwire.plugin.summary import write

            write(terminalreporter, self._decided(), gate=self._gate)

    def _plan(self, planned: list[list[str]] | None) -> None:
        for agent, case, test in planned or ():
            self._planned[agent, case, test] = None

    def _nameless(self) -> int:
        """How many tests were collected and never came to say which agent they are about."""
        named = {test for agent, _, test in self._planned if agent}
        return len({test for agent, _, test in self._planned if not agent} - named)

    def _decided(self) -> Verdict:
        if self._verdict is None:
            from pytest_tripwire.cases.catalogue import CASE_IDS
            from pytest_tripwire.gate import decide

            self._verdict = decide(
                declared=tuple(self._config.getini("tripwire_agents")),
                collected=tuple(dict.fromkeys(agent for agent, *_ in self._planned if agent)),
                catalogue=CASE_IDS,
                cells=tuple(self._cells),
                protection=options.protection(self._config),
                nameless=self._nameless(),
            )
        return self._verdict
