"""The pinned list of standard cases. Reading it loads no case."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_tripwire.cases.case import Case

#: Goes up when a case is added or what it demands changes: never in a minor release.
CATALOGUE_VERSION = 2

CASE_IDS: tuple[str, ...] = (
    "empty-search",
    "ping-pong-handoff",
    "lost-write",
    "rephrased-denial",
    "long-investigation",
    "cost-budget",
    "deadline",
    "stale-resume",
)


class UnknownCaseError(LookupError):
    """There is no standard case of this name."""

    def __init__(self, case_id: object, known: tuple[str, ...] = CASE_IDS) -> None:
        import difflib  # for this message alone

        near = difflib.get_close_matches(str(case_id), known, n=1)
        guess = f" Did you mean {near[0]!r}?" if near else ""
        names = ", ".join(known)
        super().__init__(f"there is no case {case_id!r}.{guess} There are: {names}")


def load_case(case_id: str) -> Case:
    """The standard case of this name, or the look-alike `case/name`. Raises UnknownCaseError with
    the names that exist.
    """
    name, _, lookalike = str(case_id).partition("/")
    if name not in CASE_IDS:
        raise UnknownCaseError(case_id)
    case: Case = import_module(f"pytest_tripwire.cases.{name.replace('-', '_')}").CASE
    if not lookalike:
        return case
    known = {each.id: each for each in case.lookalikes}
    if case_id not in known:
        raise UnknownCaseError(case_id, tuple(known))
    return known[case_id]


def case_problem(case_id: str) -> str:
    """What is wrong with the name of a case or of a look-alike; empty for one that exists."""
    if case_id in CASE_IDS:
        return ""
    try:
        load_case(case_id)
    except UnknownCaseError as error:
        return str(error)
    return ""
