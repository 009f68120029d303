"""Where a verdict goes besides the terminal. Each of them renders the same object."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

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
        if more:
            with path.open("ab") as file:
                file.write(content)
        else:
            _as_a_whole(path, content)
    except OSError as problem:
        return f"{path} was not written: {problem.strerror}"
    return ""


def replaced(path: Path, content: bytes) -> str:
    """Write a file that there is anew, as a whole or not at all; what went wrong, if it did."""
    try:
        with path.open("r+b"):
            _swap(path.resolve(), content)
    except OSError as problem:
        return f"{path} was not written: {problem.strerror}"
    return ""


def _as_a_whole(path: Path, content: bytes) -> None:
    """Two sessions may write one file at once. Where nothing can take its place, such as that of a
    device, a link, or a file in a folder that takes no other, it is written to.
    """
    if not path.is_symlink() and (path.is_file() or not path.exists()):
        with suppress(OSError):
            _swap(path, content)
            return
    path.write_bytes(content)


def _swap(file: Path, content: bytes) -> None:
    """Put another file in the place of this one, with its mode if it is there."""
    mode = None
    if file.exists():
        # What takes its place asks for no leave of the file itself.
        with file.open("r+b"):
            mode = stat.S_IMODE(file.stat().st_mode)
    fresh = file.with_name(f".{file.name}.{token_hex(4)}")
    try:
        # Those of `tempfile` are for their owner alone.
        with fresh.open("xb") as made:
            made.write(content)
        if mode is not None:
            fresh.chmod(mode)
        fresh.replace(file)
    except OSError:
        with suppress(OSError):
            fresh.unlink()
        raise


def summary(environment: Mapping[str, str], verdict: Verdict) -> str:
    """Append the verdict to the summary of a job on GitHub, where there is one; what went wrong."""
    path = environment.get(SUMMARY)
    return written(Path(path), markdown(verdict).encode(), more=True) if path else ""


def annotation(environment: Mapping[str, str], verdict: Verdict) -> str:
    """The line by which GitHub marks a job whose gate fails; empty anywhere else."""
    on_github = environment.get(ACTIONS) == "true"
    return error(verdict) if on_github and not verdict.passed else ""
