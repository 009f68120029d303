"""Which commit a report is about and which run of a CI service made it."""

from __future__ import annotations

from collections.abc import Mapping

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
