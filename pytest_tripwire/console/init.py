"""`agent-tripwire init`: look what a project is written in, write what it begins with, say so."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pytest_tripwire.console.init_options import Wanted
from pytest_tripwire.console.reports import say
from pytest_tripwire.console.starting import files, settings, words
from pytest_tripwire.console.starting.evidence import Seen, home, seen
from pytest_tripwire.console.starting.files import File
from pytest_tripwire.console.starting.frameworks import KNOWN, PLAIN, Known, called
from pytest_tripwire.console.starting.installed import lacking
from pytest_tripwire.console.starting.settings import Config
from pytest_tripwire.replay.command import FAILED, OK, Streams
from pytest_tripwire.replay.options import UsageError


def execute(wanted: Wanted, streams: Streams) -> int:
    """Write what a project begins with; the exit status.

    Raises:
        UsageError: for a folder that there is not, or that cannot be written to, and for a
            framework that there is not.
    """
    asked = None if wanted.framework is None else _asked(wanted.framework)
    try:
        _check(wanted.folder)
        return _Start(wanted, streams).made(asked)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UsageError(f"{error.filename}: {error.strerror}") from None


def _asked(name: str) -> Known:
    known = called(name)
    if known is None:
        names = ", ".join(each.name for each in KNOWN)
        raise UsageError(f"--framework {name}: there is no such framework here; there are {names}")
    return known


def _check(folder: Path) -> None:
    if not folder.exists():
        raise UsageError(f"{folder}: there is no such folder")
    if not folder.is_dir():
        raise UsageError(f"{folder}: it is no folder; give the one that your project is in")


class _Start:
    """One call of the command."""

    def __init__(self, wanted: Wanted, streams: Streams) -> None:
        self._wanted = wanted
        self._streams = streams

    def made(self, asked: Known | None) -> int:
        """Do all of it; the exit status."""
        folder = self._wanted.folder
        shown = seen(folder)
        known = asked or (shown[0].known if shown else PLAIN)
        self._say(words.found(known, shown, asked=asked is not None))
        tests = files.tests_folder(folder)
        config = settings.config_of(folder)
        is_part = config is not None and config.path.parent != folder
        plugged, test = files.starting(
            known,
            tests,
            module=_home(known, shown, folder),
            part=folder.resolve().name if is_part else "",
        )
        new = [self._is_new(file) for file in (plugged, test)]
        self._configure(config, settings.whole(folder, tests))
        self._say([""])
        if lacking(known):
            self._say(words.lacks(known))
        if new[0]:
            self._say(words.to_change(plugged))
        self._say(words.then(test))
        return OK if all(new) else FAILED

    def _is_new(self, file: File) -> bool:
        """Write a file and say so, or say why not; whether it is new."""
        dry = self._wanted.dry_run
        is_new = not files.is_there(file) if dry else self._written(file)
        if not is_new:
            self._say(words.left(file, done=files.has_sign(file)))
        elif dry:
            self._say(words.would_write(file))
        else:
            self._say(words.wrote(file))
        return is_new

    def _configure(self, config: Config | None, made: Config) -> None:
        """Write a configuration where there is none, or say what is to be added to it."""
        if config is not None:
            self._say(words.add(config))
            return
        self._is_new(File(path=made.path, text=made.text, sign="tripwire_agents"))

    def _written(self, file: File) -> bool:
        try:
            return files.written(file)
        except OSError as error:
            raise UsageError(f"{file.path} cannot be written: {error.strerror}") from None

    def _say(self, lines: Iterable[str]) -> None:
        say(self._streams, list(lines))


def _home(known: Known, shown: list[Seen], folder: Path) -> str:
    """The module in which the project seems to have its agent; empty if none can be named."""
    return next((home(each, folder) for each in shown if each.known is known), "")
