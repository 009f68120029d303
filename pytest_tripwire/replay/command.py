"""`agent-tripwire replay`: reads, replays, reports. Holds one trace at a time."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import BinaryIO, TextIO

import msgspec

from pytest_tripwire.replay import suggest, tables
from pytest_tripwire.replay.budgets import Budgets, budgets_of
from pytest_tripwire.replay.options import Wanted
from pytest_tripwire.replay.problem import Item, Problem
from pytest_tripwire.replay.progress import Progress
from pytest_tripwire.replay.reading import Source, read, sources
from pytest_tripwire.replay.report import JsonReport, Report, TextReport
from pytest_tripwire.replay.report.as_text import blind
from pytest_tripwire.replay.report.plain import flat
from pytest_tripwire.replay.run import Replay, run
from pytest_tripwire.replay.suggest.collect import History, is_hostile
from pytest_tripwire.replay.summary import Summary
from pytest_tripwire.replay.trace import Trace

OK = 0
FAILED = 1


class Streams(msgspec.Struct, frozen=True, kw_only=True):
    """Where the command reads and writes.

    Args:
        stdin: bytes.
        stdout: bytes; the report is UTF-8 whatever the locale says.
        stderr: text; for the bar and for notes.
        clock: seconds, from any beginning.
    """

    stdin: BinaryIO
    stdout: BinaryIO
    stderr: TextIO
    clock: Callable[[], float]


def execute(wanted: Wanted, streams: Streams, *, replay: Replay) -> int:
    """Do what is wanted; the exit status.

    Args:
        wanted: what the user asks for.
        streams: where to read and write.
        replay: feeds one trace to a breaker.
    """
    command = _Command(wanted, streams, replay)
    return command.suggested() if wanted.suggest else command.replay()


class _Command:
    """One call of the command."""

    def __init__(self, wanted: Wanted, streams: Streams, replay: Replay) -> None:
        self._wanted = wanted
        self._streams = streams
        self._replay = replay
        self._watched = streams.stdout.isatty()
        self._found = list(sources(wanted.paths))
        self._progress = self._bar(passes=2 if wanted.suggest else 1)

    def replay(self) -> int:
        """Report on every trace."""
        summary = Summary()
        report = self._report()
        replayed = run(
            self._items(self._streams.stdin),
            settings=self._wanted.settings,
            replay=self._replay,
            budgets=self._wanted.budgets,
        )
        with closing(report):
            for item in replayed:
                summary.add(item)
                report.add(item)
                if not isinstance(item, Problem):
                    self._progress.replayed(item.verdict.steps)
            self._progress.clear()
            report.finish(summary)
        if self._wanted.as_json:
            for note in blind(summary):
                self._note(note)
        failed = summary.problems or (self._wanted.check and not self._is_right(summary))
        return FAILED if failed else OK

    def _is_right(self, summary: Summary) -> bool:
        """Whether every labelled run went as was expected. A check that checks nothing is none."""
        if not summary.hazards:
            self._note("--check: no run that counts is labelled, so nothing was checked")
        return bool(summary.hazards) and not summary.wrong

    def suggested(self) -> int:
        """Write budgets that fit, and look whether they do."""
        with tempfile.TemporaryFile() as copy:
            stdin = self._kept(copy)
            history = History()
            problems = self._collected(stdin, history)
            if not history.classes:
                self._progress.clear()
                self._note("there is no good run to read budgets off")
                return FAILED
            text = "\n".join(suggest.as_toml(history.classes, self._wanted.margin))
            copy.seek(0)
            verified = self._verified(stdin, text)
        self._progress.clear()
        for line in ("", *verified.lines()):
            text += f"\n{line}"
        self._line(text)
        if history.hostile:
            self._note(f"{history.hostile} labelled hostile were left out")
        return FAILED if problems or verified.by_budget or verified.failed else OK

    def _collected(self, stdin: BinaryIO, history: History) -> int:
        """Feed `history`; how many problems there were. Each is told."""
        problems = 0
        for item in suggest.collect(
            self._items(stdin),
            history,
            settings=self._wanted.settings,
            name=self._wanted.class_name,
        ):
            if isinstance(item, Problem):
                problems += 1
                self._note(f"{item.where}: {item.reason}")
            else:
                self._progress.replayed(item.length)
        return problems

    def _verified(self, stdin: BinaryIO, text: str) -> suggest.Verified:
        """What the budgets in `text` do to the runs that they were read off."""
        budgets = budgets_of(tables.parse(text, "the suggested budgets"), "the suggested budgets")
        if self._wanted.class_name is not None:
            budgets = Budgets(plain=budgets.picked(self._wanted.class_name))
        good = (
            item for item in self._items(stdin) if isinstance(item, Trace) and not is_hostile(item)
        )
        return suggest.verify(
            run(good, settings=self._wanted.settings, replay=self._replay, budgets=budgets)
        )

    def _items(self, stdin: BinaryIO) -> Iterator[Item]:
        return read(
            self._found, stdin=stdin, grouping=self._wanted.grouping, on_bytes=self._progress.read
        )

    def _kept(self, copy: BinaryIO) -> BinaryIO:
        """Standard input, so that it can be read twice."""
        if not any(isinstance(each, Source) and each.is_stdin for each in self._found):
            return self._streams.stdin
        shutil.copyfileobj(self._streams.stdin, copy)
        copy.seek(0)
        return copy

    def _report(self) -> Report:
        return JsonReport(self._bytes) if self._wanted.as_json else TextReport(self._line)

    def _bar(self, *, passes: int) -> Progress:
        watched = self._wanted.progress and self._streams.stderr.isatty()
        sizes = [each.size for each in self._found if isinstance(each, Source)]
        total = passes * sum(sizes) if all(sizes) else 0
        screen = self._streams.stderr if watched else None
        return Progress(screen, self._streams.clock, total)

    def _line(self, line: str) -> None:
        self._bytes(line.encode("utf-8", "replace") + b"\n")

    def _bytes(self, data: bytes) -> None:
        self._progress.clear()
        self._streams.stdout.write(data)
        if self._watched:
            self._streams.stdout.flush()

    def _note(self, text: str) -> None:
        self._progress.clear()
        print(f"agent-tripwire: {flat(text, 1000)}", file=self._streams.stderr)


def streams() -> Streams:
    """Those of this process."""
    import time

    return Streams(
        stdin=sys.stdin.buffer,
        stdout=sys.stdout.buffer,
        stderr=sys.stderr,
        clock=time.monotonic,
    )
