"""A cassette around a piece of code: real model traffic is recorded once and played ever after."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from pytest_tripwire.models.cassettes.errors import CassetteError
from pytest_tripwire.models.cassettes.modes import RecordMode
from pytest_tripwire.models.cassettes.names import secrets_of
from pytest_tripwire.models.cassettes.secrets import Secrets
from pytest_tripwire.models.cassettes.tape import Tape, shorter

_INSTALL = "cassettes need vcrpy: pip install 'pytest-agent-tripwire[cassettes]'"
#: What to do about it.
SHARED = (
    "two tests that record want a file each. Name another by path=, or record them one after the "
    "other with --tripwire-record-mode=new_episodes"
)
_NOT_RECORDED = (
    "there is no such cassette, and record mode `none` records none. Record it where `CI` is not "
    "set, or with --tripwire-record-mode=once, and commit it"
)


class Cassette:
    """Records HTTP requests and their answers, or plays them.

    Every request that an HTTP client of this process makes between `open` and `close` is either
    answered from the recording, recorded, or refused with a `CassetteError`; after a refusal all
    are refused. Requests to the scripted model pass.

    Args:
        path: the file. Folders are made as needed.
        mode: what may be recorded.
        environment: the values of its variables whose names say key, token or the like are hidden,
            wherever they stand. Empty by default.
        shown: how the file is called in messages; by default its path.
        ignore: top-level fields of a request's body that may differ.
    """

    def __init__(
        self,
        path: Path,
        *,
        mode: RecordMode = RecordMode.ONCE,
        environment: Mapping[str, str] | None = None,
        shown: str = "",
        ignore: Iterable[str] = (),
    ) -> None:
        self.path = path
        self.mode = mode
        self._shown = shown or path.as_posix()
        self._secrets = Secrets(secrets_of(environment or {}))
        self._ignore = frozenset(ignore)
        self._tape: Tape | None = None
        self._patches = ExitStack()
        self._written = False

    def __repr__(self) -> str:
        state = "closed" if self._tape is None else "records" if self.records else "plays"
        return f"<Cassette {self._shown}, {state}>"

    @property
    def records(self) -> bool:
        """Whether requests may go out."""
        return self._opened().may_record

    @property
    def requests(self) -> int:
        """Requests so far, those to the scripted model left out."""
        return self._opened().requests

    @property
    def unplayed(self) -> tuple[int, ...]:
        """The numbers of the recorded requests that nobody has made yet, from 1."""
        return self._opened().unplayed

    @property
    def problem(self) -> CassetteError | None:
        """Why a request was refused first; None if none was. Agents swallow exceptions, so whoever
        runs one looks here.
        """
        return self._opened().problem

    def open(self) -> Self:
        """Begin. Raises CassetteError where vcrpy is missing, or the file is no cassette."""
        try:
            from pytest_tripwire.models.cassettes import files, recorder
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in {"vcr", "yaml", "wrapt"}:
                raise
            raise CassetteError(_INSTALL) from None
        held = None if self.mode is RecordMode.ALL else files.load(self.path, self._shown)
        self._tape = Tape(
            shown=self._shown,
            recorded=held or (),
            may_record=self._may_record(exists=held is not None),
            secrets=self._secrets,
            ignore=self._ignore,
            missing=_NOT_RECORDED if held is None and self.mode is RecordMode.NONE else "",
        )
        self._patches.enter_context(recorder.Recorder.use(path=self._shown, tape=self._tape))
        return self

    def close(self, *, whole: bool) -> None:
        """End, and write what was recorded. Does nothing the second time.

        Args:
            whole: whether what was to be recorded came to its end. What is cut short is not kept:
                played, it would pass for the whole.

        Raises:
            CassetteError: the file cannot be written, or somebody else has written it meanwhile.
        """
        self._patches.close()
        tape = self._opened()
        if whole and tape.added and tape.problem is None and not self._written:
            from pytest_tripwire.models.cassettes.files import save

            self._written = True
            if self.mode is RecordMode.ONCE and self.path.exists():
                raise CassetteError(
                    f"{self._shown} was written while it was recorded here, and left as it is: "
                    f"{SHARED}"
                )
            try:
                save(self.path, tape.contents())
            except OSError as error:
                raise CassetteError(
                    f"{self._shown} cannot be written ({error.strerror or type(error).__name__}), "
                    "and what was recorded is lost: see to the rights of its folder, or name "
                    "another file by path=, and record again"
                ) from None

    def check(self, *, strict: bool = False) -> None:
        """See that every request had its answer.

        Args:
            strict: whether every recorded request has to have been made, too.

        Raises:
            CassetteError: for the first that was refused, or for what was never asked.
        """
        __tracebackhide__ = True
        if self.problem is not None:
            raise self.problem.with_traceback(None)
        left = self.unplayed
        if strict and left:
            raise CassetteError(
                f"{self._shown}: the agent made {self.requests} requests, and never the recorded "
                f"{shorter(left)}. If the change is meant, record anew with "
                "--tripwire-record-mode=all"
            )

    def _may_record(self, *, exists: bool) -> bool:
        if self.mode is RecordMode.ONCE:
            return not exists
        return self.mode is not RecordMode.NONE

    def _opened(self) -> Tape:
        if self._tape is None:
            raise RuntimeError("this cassette was not opened: call open() first")
        return self._tape
