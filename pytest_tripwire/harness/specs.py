"""What is declared about a run's tools: by their roles, by the case, by the team."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from pytest_tripwire.cases.case import Case
from pytest_tripwire.harness.failures import HarnessError
from pytest_tripwire.harness.options import Options
from pytest_tripwire.timeline import ToolSpec
from pytest_tripwire.world import BindingError, Operation, Toolset, check_roles, tool_names
from pytest_tripwire.world.desk import OPERATIONS


def check_names(options: Options, own: Sequence[Operation] = ()) -> None:
    """See that roles and specs name parts and tools that there are: in some standard case, as one
    set serves all of them, or among a case's `own` operations.

    Raises:
        HarnessError: with the names that there are.
    """
    operations = (*OPERATIONS, *own)
    try:
        check_roles(options.roles, operations)
        known = tool_names(options.roles, operations)
    except BindingError as error:
        raise HarnessError(str(error)) from None
    unknown = sorted(set(options.specs) - known)
    if unknown:
        raise HarnessError(
            f"tripwire_specs declares {unknown[0]!r}, but no tool has that name; the tools are "
            f"{', '.join(sorted(known))}"
        )


def declared(
    toolset: Toolset, case: Case, given: Mapping[str, ToolSpec | Mapping[str, Any]]
) -> dict[str, ToolSpec]:
    """The spec of each tool, by name. The team's word outweighs the case's, that the role's. What
    is given about tools of other cases is left out.

    Raises:
        HarnessError: for a field that no spec has.
    """
    specs = toolset.specs()
    for writer, reader in case.reconcile.items():
        read = toolset.tool_name(reader)
        for name in toolset.tools_of(writer):
            specs[name] = msgspec.structs.replace(specs[name], reconcile=read)
    for name, spec in given.items():
        if name in specs:
            specs[name] = _laid_over(specs[name], name, spec)
    return specs


def _laid_over(known: ToolSpec, name: str, given: ToolSpec | Mapping[str, Any]) -> ToolSpec:
    if isinstance(given, ToolSpec) and given.name == name:
        return given
    if isinstance(given, Mapping):
        wrong = sorted(set(given) - set(ToolSpec.__struct_fields__))
        if not wrong:
            return msgspec.structs.replace(known, **given)
        raise HarnessError(f"tripwire_specs[{name!r}]: a ToolSpec has no field {wrong[0]!r}")
    raise HarnessError(
        f"tripwire_specs[{name!r}] is {given!r}: give a ToolSpec(name={name!r}, effect=...), or "
        "some of its fields by name"
    )
