"""Where a verdict goes besides the terminal. Each of them renders the same object."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

from pytest_tripwire.gate.annotation import error
from pytest_tripwire.gate.markdown import markdown
from pytest_tripwire.gate.report import Report, encode
from pytest_tripwire.gate.verdict import Verdict

#: Where GitHub Actions wants a job's summary, and how it says that it is there.
SUMMARY, ACTIONS = "GITHUB_STEP_SUMMARY", "GITHUB_ACTIONS"


def files(
    verdict: Verdict, whole: Report, *, json: Path | None, html: Path | None
) -> Iterator[tuple[Path, bytes]]:
    """The content of each file that is asked for."""
    if json is not None:
        yield json, encode(whole)
    if html is not None:
        # Large, and rarely asked for.
        from pytest_tripwire.gate.html import page

        yield html, page(verdict).encode()


def written(path: Path, content: bytes, *, more: bool = False) -> str:
    """Write a file, or append to it, with the folders that it is in; what went wrong, if it did."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab" if more else "wb") as file:
            file.write(content)
    except OSError as problem:
        return f"{path} was not written: {problem.strerror}"
    return ""


def replaced(path: Path, content: bytes) -> str:
    """Write a file that there is anew, as a whole or not at all; what went wrong, if it did."""
    file, fresh = path.resolve(), None
    try:
        # What takes its place asks for no leave of the file itself.
        with file.open("r+b"):
            mode = stat.S_IMODE(file.stat().st_mode)
        with NamedTemporaryFile(dir=file.parent, prefix=f".{file.name}.", delete=False) as made:
            fresh = Path(made.name)
            made.write(content)
        fresh.chmod(mode)
        fresh.replace(file)
    except OSError as problem:
        if fresh is not None:
            with suppress(OSError):
                fresh.unlink()
        return f"{path} was not written: {problem.strerror}"
    return ""


def summary(environment: Mapping[str, str], verdict: Verdict) -> str:
    """Append the verdict to the summary of a job on GitHub, where there is one; what went wrong."""
    path = environment.get(SUMMARY)
    return written(Path(path), markdown(verdict).encode(), more=True) if path else ""


def annotation(environment: Mapping[str, str], verdict: Verdict) -> str:
    """The line by which GitHub marks a job whose gate fails; empty anywhere else."""
    on_github = environment.get(ACTIONS) == "true"
    return error(verdict) if on_github and not verdict.passed else ""
