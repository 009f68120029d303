"""Tools of a framework in their parts: they become definitions before anything is checked."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import msgspec

from pytest_tripwire.adapters import framework_of
from pytest_tripwire.harness.failures import HarnessError
from pytest_tripwire.harness.options import Options
from pytest_tripwire.harness.task import adapter
from pytest_tripwire.world import Role


def with_definitions(options: Options) -> Options:
    """`options` whose roles have definitions in place of a framework's own tools.

    Raises:
        HarnessError: the framework is not installed, or it is no tool of the framework's.
    """
    given: Any = options.roles
    if not isinstance(given, Mapping):
        return options  # told by those who check
    roles = {name: _defined(name, role) for name, role in given.items()}
    return msgspec.structs.replace(options, roles=roles)


def _defined(name: str, role: Any) -> Any:
    if not isinstance(role, Role):
        return role
    tools = tuple(_definition(name, tool) for tool in role.tools)
    several = isinstance(role.tool, tuple | list)
    return msgspec.structs.replace(role, tool=tools if several else tools[0])


def _definition(name: str, tool: Any) -> Any:
    """A framework's tool as its definition; any other as it is."""
    if isinstance(tool, Mapping) or inspect.isroutine(tool):
        return tool
    framework = framework_of(tool)
    if framework is None:
        return tool
    where = f"tripwire_tools[{name!r}]"
    try:
        definition: Any = adapter(framework, where).definition(tool)
    except (TypeError, ValueError, AttributeError) as error:
        raise HarnessError(
            f"{where} has a {type(tool).__name__} of {framework}, which is no tool that a model "
            f"could be shown ({error}): give a tool of that framework, a function, or a definition "
            "with a name and a JSON schema"
        ) from error
    return definition
