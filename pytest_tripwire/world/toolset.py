"""A team's tools, or the world's own, played by the world."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from pytest_tripwire.timeline import ToolSpec
from pytest_tripwire.world.operation import Operation
from pytest_tripwire.world.roles import Role, Slot
from pytest_tripwire.world.schema import parameters, summary
from pytest_tripwire.world.stage import Stage


class BindingError(ValueError):
    """A role does not fit the tool that is to play it."""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """An operation and the tool that plays it."""

    operation: Operation
    role: Role

    def names(self, *slots: Slot) -> tuple[str, ...]:
        """The arguments that carry one of these meanings."""
        return tuple(name for name, meaning in self.role.args.items() if meaning in slots)

    def spec(self) -> ToolSpec:
        """What the role tells of the tool, in the breaker's terms."""
        return ToolSpec(
            name=self.role.name,
            effect=self.operation.effect,
            operation=self.operation.kind,
            identity=self.names(Slot.RESOURCE),
            wording=self.names(Slot.WORDING),
            volatile=self.names(Slot.NONCE),
            result_id=self.operation.result_id if self.role.result is None else None,
        )


class Toolset:
    """The tools of one run. Also the binder of its scripted model.

    Args:
        operations: the parts that the case has.
        roles: a team's tools by part; the world's own play the rest.
        stage: where they act.

    Raises:
        BindingError: when a role names no part of the case, or does not fit its tool.
    """

    def __init__(
        self, *, operations: Sequence[Operation], roles: Mapping[str, Role], stage: Stage
    ) -> None:
        _check_parts(operations, roles)
        self._parts = {
            each.role: Part(operation=each, role=roles.get(each.role, each.default))
            for each in operations
        }
        _check_names(self._parts.values())
        for part in self._parts.values():
            _check_arguments(part)
        self.functions = {part.role.name: _played(part, stage) for part in self._parts.values()}

    def tool_name(self, role: str) -> str:
        """The name of the tool that plays `role`. Raises KeyError for a part the case lacks."""
        return self._parts[role].role.name

    def arguments(self, role: str, slots: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of that tool, by name, with `slots` in their places."""
        return {
            name: slots[meaning] if isinstance(meaning, Slot) else meaning
            for name, meaning in self._parts[role].role.args.items()
            if not isinstance(meaning, Slot) or meaning in slots
        }

    def specs(self) -> dict[str, ToolSpec]:
        """What the roles declare of each tool, by name."""
        return {part.role.name: part.spec() for part in self._parts.values()}

    def schemas(self) -> list[dict[str, Any]]:
        """Name, description and parameters of each tool, in JSON Schema."""
        tools = [part.role.tool for part in self._parts.values()]
        return [
            {"name": each.__name__, "description": summary(each), "parameters": parameters(each)}
            for each in tools
        ]


def _played(part: Part, stage: Stage) -> Callable[..., Any]:
    """The team's tool with the world's body. `start` is the instant part of it: see `Staged`."""
    signature, role = inspect.signature(part.role.tool), part.role

    def start(*args: Any, **kwargs: Any) -> Callable[[], Any]:
        given = signature.bind(*args, **kwargs).arguments
        slots = {role.args[name]: value for name, value in given.items() if name in role.args}
        rest = stage.enter(part.operation, role.name, slots)
        return rest if role.result is None else functools.partial(_shaped, role.result, rest)

    tool: Callable[..., Any]
    if inspect.iscoroutinefunction(role.tool):

        @functools.wraps(role.tool)
        async def tool(*args: Any, **kwargs: Any) -> Any:
            return start(*args, **kwargs)()
    else:

        @functools.wraps(role.tool)
        def tool(*args: Any, **kwargs: Any) -> Any:
            return start(*args, **kwargs)()

    tool.__dict__.pop("__wrapped__", None)
    tool.__dict__["__signature__"] = signature
    tool.__dict__["start"] = start
    return tool


def _shaped(shape: Callable[[Any], Any], rest: Callable[[], Any]) -> Any:
    return shape(rest())


def _check_parts(operations: Sequence[Operation], roles: Mapping[str, Role]) -> None:
    for name, role in roles.items():
        if not isinstance(role, Role):
            raise BindingError(
                f"tripwire_tools[{name!r}] is {role!r}: give a Role, such as "
                f'Role(issue_credit, {{"order": RESOURCE, "note": WORDING}})'
            )
        if not _has_face(role.tool):
            raise BindingError(
                f"tripwire_tools[{name!r}] has the tool {role.tool!r}: give a function, whose name "
                "and signature the agent can be shown"
            )
    unknown = sorted(set(roles) - {each.role for each in operations})
    if unknown:
        known = ", ".join(each.role for each in operations)
        raise BindingError(
            f"tripwire_tools names the role {unknown[0]!r}, which the case does not have; "
            f"its roles are {known}"
        )


def _has_face(tool: Any) -> bool:
    return callable(tool) and hasattr(tool, "__name__")


def _check_names(parts: Iterable[Part]) -> None:
    first: dict[str, str] = {}
    for part in parts:
        role, name = part.operation.role, part.role.name
        if first.setdefault(name, role) != role:
            raise BindingError(
                f"the roles {first[name]!r} and {role!r} are both played by a tool called "
                f"{name!r}, and a model tells tools apart by their names: give one for each"
            )


def _check_arguments(part: Part) -> None:
    name, taken = part.role.name, inspect.signature(part.role.tool).parameters
    for argument in part.role.args:
        if argument not in taken:
            raise BindingError(
                f"the role {part.operation.role!r} maps {argument!r}, but {name} takes "
                f"{', '.join(taken) or 'no arguments'}"
            )
    for argument, parameter in taken.items():
        needed = parameter.default is inspect.Parameter.empty
        if needed and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            _check_given(part, argument)


def _check_given(part: Part, argument: str) -> None:
    if argument not in part.role.args:
        raise BindingError(
            f"{part.role.name} requires {argument!r}, and the role {part.operation.role!r} does "
            f"not say what it means: add {argument!r} to its args, with a Slot or a fixed value"
        )
