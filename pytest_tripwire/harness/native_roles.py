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
    tool = role.tool if isinstance(role, Role) else None
    if tool is None or isinstance(tool, Mapping) or inspect.isroutine(tool):
        return role
    framework = framework_of(tool)
    if framework is None:
        return role
    where = f"tripwire_tools[{name!r}]"
    try:
        definition = adapter(framework, where).definition(tool)
    except (TypeError, ValueError, AttributeError) as error:
        raise HarnessError(
            f"{where} has a {type(tool).__name__} of {framework}, which is no tool that a model "
            f"could be shown ({error}): give a tool of that framework, a function, or a definition "
            "with a name and a JSON schema"
        ) from error
    return msgspec.structs.replace(role, tool=definition)
