"""Which commit a report is about and which run of a CI service made it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

#: Where a service says so: the commit, then the run. A job that is tried again is of the same run.
#: Source: the documentation of GitHub Actions and of GitLab CI, default and predefined variables.
_SERVICES = (("GITHUB_SHA", "GITHUB_RUN_ID"), ("CI_COMMIT_SHA", "CI_PIPELINE_ID"))


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """Where a report comes from.

    Args:
        commit: what was tried; empty where nobody says.
        run: the id of the CI run, whose shards belong together; empty where nobody says.
    """

    commit: str = ""
    run: str = ""


def origin(environment: Mapping[str, str]) -> Origin | None:
    """What a CI service tells by its environment; None where there is none that is known."""
    for commit, run in _SERVICES:
        made = Origin(commit=environment.get(commit, ""), run=environment.get(run, ""))
        if made.commit or made.run:
            return made
    return None


def root_within(folder: Path) -> str:
    """The way from the top of a repository down to `folder`, with slashes; empty for the top, and
    where nobody says where that is. What lies above is told to nobody.
    """
    for above in (folder, *folder.parents):
        # A file in a worktree or a submodule.
        if (above / ".git").exists():
            way = folder.relative_to(above).as_posix()
            return "" if way == "." else way
    return ""
