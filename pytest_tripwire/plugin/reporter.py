"""Collects cells where reports come together, and has the gate decide at the end."""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tripwire.plugin import junit, known, options, transport

if TYPE_CHECKING:
    from pytest_tripwire.gate import Evidence, Judged, Report, Verdict
    from pytest_tripwire.oracle import Cell

_LAST_FAILED = (
    "--lf leaves whole files out before they are collected, and the agents in them are not counted "
    "then; declare `tripwire_agents`"
)


class Reporter:
    """Owner of what is known of a session's cells. Workers only pass on what they collected."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._is_worker = hasattr(config, "workerinput")
        self._gate = bool(config.getoption("tripwire_gate"))
        self._planned: dict[tuple[str, str, str], None] = {}
        #: By test: the cells of each attempt, by the worker that made it and its number there.
        self._attempts: dict[str, dict[tuple[str, int], list[Cell]]] = {}
        self._rounds: dict[str, int] = {}
        self._rerun: dict[str, None] = {}
        self._finished: dict[str, None] = {}
        self._failed: dict[str, None] = {}
        self._uncollected: dict[str, None] = {}
        #: One and the same for the verdict and its report, though midnight comes between.
        self._day = known.today()
        self._verdict: Verdict | None = None
        self._unwritten: list[str] = []
        self._annotation = ""
        self._is_over = False

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Take what a report brings; in the controller these are the workers' reports too."""
        plain = report.outcome == "passed" and not hasattr(report, transport.ON_REPORT)
        if self._is_worker or plain:
            return
        self._plan(getattr(report, transport.PLANNED_ON_REPORT, None))
        if report.outcome == "rerun" or getattr(report, transport.AGAIN_ON_REPORT, False):
            self._rerun[report.nodeid] = None
        if report.when == "call" and _ended(report):
            self._finished[report.nodeid] = None
        if report.outcome == "failed":
            self._failed[report.nodeid] = None
        worker = getattr(report, "worker_id", "")
        for number, found in enumerate(transport.attempts(report)):
            # Each report brings those before it once more, and the teardown's are the call's.
            self._attempts.setdefault(report.nodeid, {})[worker, number] = found
            self._rounds[report.nodeid] = getattr(report, transport.ROUND_ON_REPORT, 1)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note what could not be collected; in the controller by the word of the workers."""
        if report.failed and not self._is_worker:
            self._uncollected[report.nodeid] = None

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
        else:
            self._write()
        try:
            return (yield)
        finally:
            self._is_over = True
            session.exitstatus = self.settled(session.exitstatus)

    def settled(self, status: int | pytest.ExitCode) -> int | pytest.ExitCode:
        """The exit status of a session that is over: the gate decides, unless pytest itself has
        something worse to say.
        """
        good = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
        if self._is_worker or not self._is_over or status not in good:
            return status
        failed = bool(self._unwritten) or (self._gate and not self._decided().passed)
        return pytest.ExitCode.TESTS_FAILED if failed else status

    def _write(self) -> None:
        """Write what is asked for, before the terminal says what could not be."""
        if self._gate:
            junit.tell(self._config, self._decided())
        json, html = (options.output(self._config, each) for each in options.OUTPUTS)
        if not (json or html or self._gate):
            return
        from pytest_tripwire.gate import outputs

        verdict = self._decided()
        asked = outputs.files(verdict, self._report(), json=json, html=html)
        problems = [outputs.written(path, content) for path, content in asked]
        if self._gate:
            problems.append(outputs.summary(os.environ, verdict))
            self._annotation = outputs.annotation(os.environ, verdict)
        self._unwritten = [each for each in problems if each]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """The table of cells, and the gate's word."""
        if self._is_worker:
            return
        ran = not self._config.getoption("collectonly")
        if self._gate or (ran and self._planned):
            from pytest_tripwire.plugin.summary import write

            write(terminalreporter, self._decided(), gate=self._gate)
        for line in self._unwritten:
            terminalreporter.write_line(f"tripwire: {line}; the run fails", red=True)
        if self._annotation:
            terminalreporter.ensure_newline()
            terminalreporter.write_line(self._annotation)

    def _plan(self, planned: list[list[str]] | None) -> None:
        for agent, case, test in planned or ():
            self._planned[agent, case, test] = None

    def _decided(self) -> Verdict:
        if self._verdict is None:
            from pytest_tripwire.gate import decide

            entries = self._config.stash.get(known.BASELINE, None)
            self._verdict = decide(self._evidence(), today=self._day, baseline=entries)
        return self._verdict

    def _report(self) -> Report:
        from pytest_tripwire.gate.origin import origin
        from pytest_tripwire.gate.report import report

        entries = self._config.stash.get(known.BASELINE, None)
        return report(
            self._decided(),
            self._evidence(),
            day=self._day,
            baseline=entries,
            origin=origin(os.environ),
        )

    def _evidence(self) -> Evidence:
        from pytest_tripwire import __version__
        from pytest_tripwire.cases.catalogue import CASE_IDS, CATALOGUE_VERSION
        from pytest_tripwire.gate import Evidence, NotApplicable, Planned
        from pytest_tripwire.gate.origin import root_within

        config = self._config
        declared = tuple(config.getini("tripwire_agents"))
        bare = options.not_applicable(config)
        guessed = not declared and config.getoption("lf", default=False)
        broken = [f"{each} could not be collected" for each in self._uncollected]
        planned = {test for _, _, test in self._planned}
        return Evidence(
            version=__version__,
            catalogue_version=CATALOGUE_VERSION,
            catalogue=CASE_IDS,
            declared=declared,
            planned=tuple(Planned(agent=a, case=c, test=t) for a, c, t in self._planned),
            judged=tuple(self._judged()),
            rerun=tuple(self._rerun),
            finished=tuple(each for each in self._finished if each in planned),
            failed=tuple(each for each in self._failed if each in planned),
            rounds=options.rounds(config),
            protection=options.protection(config),
            not_applicable=tuple(NotApplicable(agent=a, case=c) for a, c in bare),
            problems=(*broken, _LAST_FAILED) if guessed else tuple(broken),
            root=root_within(config.rootpath),
        )

    def _judged(self) -> Generator[Judged]:
        from pytest_tripwire.gate import Judged

        for test, attempts in self._attempts.items():
            for attempt, cells in enumerate(attempts.values(), 1):
                for cell in cells:
                    yield Judged(
                        cell=cell, test=test, round=self._rounds.get(test, 1), attempt=attempt
                    )


def _ended(report: Any) -> bool:
    """Whether the report of a body tells that it came to its end and was not skipped."""
    skipped = report.outcome == "skipped" and not hasattr(report, "wasxfail")
    return not skipped and not getattr(report, transport.PART_ON_REPORT, False)
