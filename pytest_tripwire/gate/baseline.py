"""The baseline: which cells are known to fail, why, where that is worked on, and until when."""

from __future__ import annotations

import datetime as dt
import tomllib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from pytest_tripwire.oracle import CHECKS

#: Days for which an entry may excuse a cell.
LONGEST = 90
#: Days before its end at which a report reminds of an entry.
REMIND = 14
TABLE = "known_failing"
_TEXTS = ("agent", "case", "check", "reason", "issue")
_FIELDS = (*_TEXTS, "expires")

#: What is wrong with the name of a case; empty for one that exists.
CaseProblem: TypeAlias = Callable[[str], str]


class BaselineError(ValueError):
    """A baseline says something that cannot be. One line for each thing that is wrong."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One demand that a cell is known not to meet.

    Args:
        agent: the agent's id.
        case: the case's id.
        check: the demand, by the name that reports give it.
        reason: why it does not hold yet.
        issue: where that is worked on.
        expires: the last day on which it is excused.
    """

    agent: str
    case: str
    check: str
    reason: str
    issue: str
    expires: dt.date

    @property
    def key(self) -> tuple[str, str]:
        """The cell."""
        return self.agent, self.case

    def expired(self, today: dt.date) -> bool:
        """Whether its day has passed."""
        return today > self.expires

    @property
    def why(self) -> str:
        """Until when, why, and where that is worked on."""
        return f"until {self.expires}: {self.reason} ({self.issue})"


def read(path: Path, *, today: dt.date, case_problem: CaseProblem) -> tuple[str, tuple[Entry, ...]]:
    """The text of a baseline file as it stands, ends of lines included, and its entries.

    Raises:
        BaselineError: as `parse` does, and for a file that cannot be read or is no UTF-8.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            text = file.read()
    except OSError as error:
        raise BaselineError(str(error.strerror)) from None
    except UnicodeDecodeError as error:
        raise BaselineError(f"it is no UTF-8 ({error.reason})") from None
    return text, parse(text, today=today, case_problem=case_problem, checks=CHECKS)


def parse(
    text: str, *, today: dt.date, case_problem: CaseProblem, checks: Collection[str]
) -> tuple[Entry, ...]:
    """The entries of a baseline file.

    Args:
        text: the file's text, in TOML: tables `[[known_failing]]`.
        today: from which day on an entry's time counts.
        case_problem: knows the cases.
        checks: the demands that may be excused.

    Raises:
        BaselineError: for anything that is malformed or unknown; nothing of it is used then.
    """
    try:
        whole = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BaselineError(f"it is no TOML: {error}") from None
    tables = whole.pop(TABLE, [])
    problems = [f"unknown name {name!r}: write tables [[{TABLE}]]" for name in whole]
    if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
        raise BaselineError(f"{TABLE} is no list of tables: write [[{TABLE}]] above each entry")
    entries = []
    for number, table in enumerate(tables, 1):
        found = [*_malformed(table, today), *_unknown(table, case_problem, checks)]
        problems += [f"entry {number}{_place(table)}: {each}" for each in found]
        if not found:
            entries.append(Entry(**table))
    problems += _repeated(entries)
    if problems:
        raise BaselineError("\n".join(problems))
    return tuple(entries)


def _place(table: Mapping[str, Any]) -> str:
    named = [str(table[name]) for name in ("agent", "case") if isinstance(table.get(name), str)]
    return f" ({' on '.join(named)})" if named else ""


def _malformed(table: Mapping[str, Any], today: dt.date) -> list[str]:
    has = f"an entry has {', '.join(_FIELDS)}"
    problems = [f"unknown name {name!r}; {has}" for name in table if name not in _FIELDS]
    missing = [name for name in _FIELDS if name not in table]
    if missing:
        problems.append(f"{', '.join(missing)} missing; {has}")
    for name in _TEXTS:
        value = table.get(name, "-")
        if not isinstance(value, str) or not value.strip():
            problems.append(f"{name} is {value!r}: write a text")
    return problems + _untimely(table.get("expires", today), today)


def _untimely(expires: Any, today: dt.date) -> list[str]:
    # A date with a time is a date to Python too.
    if not isinstance(expires, dt.date) or isinstance(expires, dt.datetime):
        return [f"expires is {expires!r}: write a day, without quotes and time, such as {today}"]
    last = today + dt.timedelta(days=LONGEST)
    if expires > last:
        return [
            f"expires = {expires} is more than {LONGEST} days from now: write {last} at the latest"
        ]
    return []


def _unknown(
    table: Mapping[str, Any], case_problem: CaseProblem, checks: Collection[str]
) -> list[str]:
    case, check = table.get("case"), table.get("check")
    if not isinstance(case, str):
        return []
    if problem := case_problem(case):
        return [problem]
    if not isinstance(check, str) or check in {case, *checks}:
        return []
    names = ", ".join(repr(each) for each in [case, *checks])
    return [f"no demand is called {check!r}; those that may be excused are {names}"]


def _repeated(entries: list[Entry]) -> list[str]:
    seen: set[tuple[str, str, str]] = set()
    problems = []
    for each in entries:
        key = (each.agent, each.case, each.check)
        if key in seen:
            problems.append(f"{each.agent} on {each.case} excuses {each.check!r} twice: keep one")
        seen.add(key)
    return problems
