"""Where a verdict goes besides the terminal. Each of them renders the same object."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_tripwire.plugin import options

if TYPE_CHECKING:
    import pytest

    from pytest_tripwire.gate import Report, Verdict

#: Where GitHub Actions wants a job's summary, and how it says that it is there.
SUMMARY, ACTIONS = "GITHUB_STEP_SUMMARY", "GITHUB_ACTIONS"


def files(
    config: pytest.Config, verdict: Verdict, made: Callable[[], Report]
) -> Iterator[tuple[str, str]]:
    """Write what options ask for. (what went wrong, where) for each file that cannot be written."""
    for option, content in (
        ("--tripwire-report", lambda: _json(made())),
        ("--tripwire-html", lambda: _page(verdict)),
    ):
        path = options.output(config, option)
        if path is not None and (problem := _written(path, content())):
            yield problem, f"{option}={path}"


def summary(environment: Mapping[str, str], verdict: Verdict) -> str:
    """Append the verdict to the summary of a job on GitHub, where there is one. What went wrong."""
    path = environment.get(SUMMARY)
    if not path:
        return ""
    from pytest_tripwire.gate.markdown import markdown

    return _written(Path(path), markdown(verdict).encode(), more=True)


def annotation(environment: Mapping[str, str], verdict: Verdict) -> str:
    """The line by which GitHub marks a job whose gate fails; empty anywhere else."""
    if environment.get(ACTIONS) != "true" or verdict.passed:
        return ""
    from pytest_tripwire.gate.annotation import error

    return error(verdict)


def _json(made: Report) -> bytes:
    from pytest_tripwire.gate.report import encode

    return encode(made)


def _page(verdict: Verdict) -> bytes:
    from pytest_tripwire.gate.html import page

    return page(verdict).encode()


def _written(path: Path, content: bytes, *, more: bool = False) -> str:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab" if more else "wb") as file:
            file.write(content)
    except OSError as error:
        return f"{type(error).__name__}: {error.strerror}"
    return ""
