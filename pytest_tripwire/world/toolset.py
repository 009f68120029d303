"""A team's tools, or the world's own, played by the world."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import Any

from pytest_tripwire.timeline import Effect, ToolSpec, spec_of
from pytest_tripwire.world.operation import Operation
from pytest_tripwire.world.parts import (
    NOTHING_HAPPENED,
    BindingError,
    Part,
    names_of,
    parts_of,
)
from pytest_tripwire.world.roles import Role, Slot
from pytest_tripwire.world.stage import Stage
from pytest_tripwire.world.work import Work


class Toolset:
    """The tools of one run. Also the binder of its scripted model.

    Args:
        operations: the parts that the case has.
        roles: a team's tools by part; the world's own play the rest.
        stage: where they act.
        elsewhere: the parts of other cases, of which a team's `roles` may have some too.

    Raises:
        BindingError: when a role does not fit its tools.
    """

    def __init__(
        self,
        *,
        operations: Sequence[Operation],
        roles: Mapping[str, Role],
        stage: Stage,
        elsewhere: Sequence[Operation] = (),
    ) -> None:
        self._parts = {
            each.role: parts_of(each, roles.get(each.role, each.default)) for each in operations
        }
        _check_names(self._all())
        self._roads = _roads({n: r for n, r in roles.items() if n not in self._parts}, elsewhere)
        self.functions = {part.shape.name: _played(part, stage) for part in self._all()}

    def tool_name(self, role: str) -> str:
        """The name of the tool that plays `role`, of several the first one's. Raises KeyError for
        a part the case lacks.
        """
        return self._parts[role][0].shape.name

    def arguments(self, role: str, slots: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of that tool, by name, with `slots` in their places."""
        return self._parts[role][0].arguments(slots)

    def tools_of(self, role: str) -> tuple[str, ...]:
        """The names of all tools that play `role`. Raises KeyError for a part the case lacks."""
        return tuple(part.shape.name for part in self._parts[role])

    def tool_for(
        self, role: str, slots: Mapping[str, Any], offered: AbstractSet[str]
    ) -> str | None:
        """Which of the offered tools plays `role` this time, None where none of them does. Of
        several, each target of the operation's has one of its own, as far as there are enough.
        """
        there = [name for name in self.tools_of(role) if name in offered]
        targets = self._parts[role][0].operation.targets
        target = slots.get(Slot.TARGET)
        place = targets.index(target) if target in targets else 0
        return there[place % len(there)] if there else None

    def arguments_for(self, role: str, slots: Mapping[str, Any], tool: str) -> dict[str, Any]:
        """The arguments of one of the tools that play `role`. Raises KeyError for any other."""
        parts = {part.shape.name: part for part in self._parts[role]}
        return parts[tool].arguments(slots)

    def roads(self) -> tuple[str, ...]:
        """The team's hand-offs where the case has no such part: they only lead to another agent."""
        return self._roads

    def check(self, role: str, slots: Mapping[str, Any]) -> None:
        """Raise BindingError if a tool that plays `role` cannot take these `slots`, or none of them
        has an argument for what the operation is to tell.
        """
        for part in self._parts[role]:
            part.check(slots)
        _check_told(self._parts[role], slots)

    def specs(self) -> dict[str, ToolSpec]:
        """What the roles declare of each tool, by name."""
        return {part.shape.name: part.spec() for part in self._all()}

    def declared(self) -> dict[str, ToolSpec]:
        """What a team declares beside its own tools, by name."""
        return {part.shape.name: part.spec() for part in self._all() if spec_of(part.tool)}

    def schemas(self) -> list[dict[str, Any]]:
        """Name, description and parameters of each tool, in JSON Schema."""
        return [part.shape.as_schema() for part in self._all()]

    def _all(self) -> Iterable[Part]:
        return chain.from_iterable(self._parts.values())


def _roads(roles: Mapping[str, Role], operations: Sequence[Operation]) -> tuple[str, ...]:
    return tuple(
        name
        for each in operations
        if each.effect is Effect.HANDOFF and each.role in roles
        for name in names_of(each, roles[each.role])
    )


def _check_told(parts: Sequence[Part], slots: Mapping[str, Any]) -> None:
    """See that good work can be told from going round: what sets it apart has to get through."""
    operation = parts[0].operation
    for slot in operation.tells:
        if slots.get(slot) and not any(part.names(slot) for part in parts):
            names = ", ".join(part.shape.name for part in parts)
            raise BindingError(
                f"this case is about what {operation.role!r} tells, and no argument of {names} is "
                f"the {slot.name}: without one it cannot be played. Map one, or leave the case out"
            )


def _check_names(parts: Iterable[Part]) -> None:
    first: dict[str, str] = {}
    for part in parts:
        role, name = part.operation.role, part.shape.name
        if name not in first:
            first[name] = role
        elif first[name] == role:
            raise BindingError(
                f"the role {role!r} has two tools called {name!r}, and a model tells tools apart "
                "by their names: give each name once"
            )
        else:
            raise BindingError(
                f"the roles {first[name]!r} and {role!r} are both played by a tool called "
                f"{name!r}, and a model tells tools apart by their names: give one for each"
            )


def _played(part: Part, stage: Stage) -> Callable[..., Any]:
    """The team's tool with the world's body. `start` is the instant part of it: see `Staged`."""
    shape, signature = part.role.result, part.shape.signature

    def start(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        work = stage.enter(part.operation, part.shape.name, part.slots(given))
        return work if shape is None else Shaped(work, shape)

    tool: Callable[..., Any]
    if inspect.iscoroutinefunction(part.tool):

        async def tool(*args: Any, **kwargs: Any) -> Any:
            return await start(*args, **kwargs).arun()
    else:

        def tool(*args: Any, **kwargs: Any) -> Any:
            return start(*args, **kwargs)()

    tool.__name__ = tool.__qualname__ = part.shape.name
    tool.__doc__ = part.shape.doc
    tool.__annotations__ = dict(getattr(part.tool, "__annotations__", {}))
    tool.__dict__["__signature__"] = signature
    tool.__dict__["start"] = start
    return tool


class Shaped:
    """Work whose result is brought into a team's shape."""

    def __init__(self, work: Work, shape: Callable[[Any], Any]) -> None:
        self._work, self._shape = work, shape

    def __call__(self) -> Any:
        """Do the work in this thread."""
        return self._shape(self._work())

    async def arun(self) -> Any:
        """Do the work as a task."""
        return self._shape(await self._work.arun())


def tool_names(roles: Mapping[str, Role], operations: Sequence[Operation]) -> set[str]:
    """Names of the tools that play these parts, where a team's own play those of `roles`.

    Raises:
        BindingError: for a tool that no agent can be shown.
    """
    return {
        name for each in operations for name in names_of(each, roles.get(each.role, each.default))
    }


def check_roles(roles: Mapping[str, Any], operations: Sequence[Operation]) -> None:
    """Raise BindingError for what is no role, or plays a part that is none of these."""
    known = tuple(dict.fromkeys(each.role for each in operations))
    for name, role in roles.items():
        if not isinstance(role, Role):
            raise BindingError(
                f"tripwire_tools[{name!r}] is {role!r}: give a Role, such as "
                f'Role(pay_back, {{"order": RESOURCE, "note": WORDING}})'
            )
        if name not in known:
            raise BindingError(
                f"tripwire_tools names the role {name!r}; the roles are {', '.join(known)}"
            )


__all__ = ["NOTHING_HAPPENED", "BindingError", "Toolset", "check_roles", "tool_names"]
