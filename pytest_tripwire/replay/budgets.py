"""Budgets by workflow class, as `--budget` reads them and `--suggest` writes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from pytest_tripwire.breaker.budget import RunBudget
from pytest_tripwire.replay import tables

#: The class of a run that says none.
DEFAULT_CLASS = "default"
#: Tables that may stand in one file.
TOP = ("budget", "classes", "tools")


class Budgets(msgspec.Struct, frozen=True, kw_only=True):
    """Limits for runs.

    Args:
        plain: for every run whose class has no limits of its own.
        classes: by workflow class.
    """

    plain: RunBudget | None = None
    classes: Mapping[str, RunBudget] = {}

    def of(self, workflow: str | None) -> RunBudget | None:
        """The limits for a run of that class; None if there are none."""
        return self.classes.get(workflow or DEFAULT_CLASS, self.plain)

    def picked(self, name: str) -> RunBudget:
        """The limits of one class.

        Raises:
            TableError: if there is no such class; says which there are.
        """
        if name not in self.classes:
            known = ", ".join(sorted(self.classes)) or "none"
            raise tables.TableError(f"there is no class {name!r} among the budgets ({known})")
        return self.classes[name]


def budgets_of(content: Mapping[str, Any], file: str) -> Budgets:
    """The budgets that stand in a file.

    Raises:
        TableError: if there are none, or one of them is wrong.
    """
    tables.only(content, TOP, file)
    classes = tables.table(content.get("classes", {}), f"{file}: classes")
    if not classes and "budget" not in content:
        raise tables.TableError(
            f"{file}: there is no budget; write a table [budget], or [classes.NAME] for each "
            "workflow class"
        )
    plain = content.get("budget")
    return Budgets(
        plain=None if plain is None else _budget(plain, f"{file}: budget"),
        classes={
            name: _budget(fields, f"{file}: classes.{name}") for name, fields in classes.items()
        },
    )


def _budget(fields: Any, where: str) -> RunBudget:
    try:
        return RunBudget.from_mapping(tables.table(fields, where))
    except tables.TableError:
        raise
    except ValueError as error:
        raise tables.TableError(f"{where}: " + "; ".join(str(error).splitlines())) from None
