"""The pinned list of standard cases. Reading it loads no case."""

from __future__ import annotations

import difflib
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_tripwire.cases.case import Case

#: Goes up when a case is added or what it demands changes: never in a minor release.
CATALOGUE_VERSION = 1

CASE_IDS: tuple[str, ...] = ("lost-write",)


class UnknownCaseError(LookupError):
    """There is no standard case of this name."""

    def __init__(self, case_id: object) -> None:
        near = difflib.get_close_matches(str(case_id), CASE_IDS, n=1)
        guess = f" Did you mean {near[0]!r}?" if near else ""
        known = ", ".join(CASE_IDS)
        super().__init__(f"there is no case {case_id!r}.{guess} The standard cases are: {known}")


def load_case(case_id: str) -> Case:
    """The standard case of this name. Raises UnknownCaseError with the names that exist."""
    if case_id not in CASE_IDS:
        raise UnknownCaseError(case_id)
    module = import_module(f"pytest_tripwire.cases.{case_id.replace('-', '_')}")
    case: Case = module.CASE
    return case
