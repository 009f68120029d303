"""One tool in its part: where the meanings go, and whether the tool can take them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, TypeVar

import msgspec

from pytest_tripwire.timeline import Effect, ToolSpec, spec_of
from pytest_tripwire.world.faults import NotAcceptedError, PolicyDeniedError, RateLimitedError
from pytest_tripwire.world.operation import Operation
from pytest_tripwire.world.records import UnknownRecordError
from pytest_tripwire.world.roles import Role, Slot
from pytest_tripwire.world.schema import SchemaError, Shape, name_of, problems, shape_of, smallest

_T = TypeVar("_T")

#: Errors of the business that prove that it did nothing.
NOTHING_HAPPENED = (NotAcceptedError, RateLimitedError, UnknownRecordError)

#: Where a schema keeps what its parts point to.
_SHARED = ("$defs", "definitions")


class BindingError(ValueError):
    """A role does not fit the tool that is to play it."""


class Part(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """An operation, and a tool that plays it.

    Args:
        operation: what it does.
        role: what the arguments mean.
        tool: the tool, one of the role's.
        shape: what an agent sees of it.
        alone: whether no other tool plays the operation.
    """

    operation: Operation
    role: Role
    tool: Any
    shape: Shape
    alone: bool = True

    @property
    def known(self) -> Mapping[str, Any]:
        """The schemas of the tool's arguments, by name."""
        properties: Mapping[str, Any] = self.shape.parameters.get("properties", {})
        return properties

    @cached_property
    def args(self) -> Mapping[str, Any]:
        """What the role says of the arguments that this tool has."""
        return {name: value for name, value in self.role.args.items() if name in self.known}

    def names(self, *slots: Slot) -> tuple[str, ...]:
        """The arguments that carry one of these meanings."""
        return tuple(name for name, meaning in self.args.items() if meaning in slots)

    def spec(self) -> ToolSpec:
        """What is declared beside the team's tool; without that, what the role tells of it."""
        declared = spec_of(self.tool)
        if declared is not None:
            return msgspec.structs.replace(declared, name=self.shape.name)
        operation, own_shape = self.operation, self.role.result is None
        identity = self.names(Slot.RESOURCE, Slot.TARGET)
        return ToolSpec(
            name=self.shape.name,
            effect=operation.effect,
            operation=self._kind(),
            # Without a name, what is handed over is the task as a whole.
            identity=identity if identity or operation.effect is Effect.HANDOFF else None,
            wording=self.names(Slot.WORDING),
            volatile=self.names(Slot.NONCE),
            required_fields=self.names(Slot.DETAIL),
            result_id=operation.result_id if own_shape else None,
            result_version=operation.result_version if own_shape else None,
            poll=operation.poll,
            can_diagnose=operation.can_diagnose,
            definite_failures=NOTHING_HAPPENED,
            denials=(PolicyDeniedError,),
        )

    def _kind(self) -> str:
        """The operation's class. Of several hand-offs that name nobody, each leads somewhere else:
        going from one to the next is no going round.
        """
        leads = self.operation.effect is Effect.HANDOFF and not self.names(Slot.TARGET)
        return self.shape.name if leads and not self.alone else self.operation.kind

    def arguments(self, slots: Mapping[str, Any]) -> dict[str, Any]:
        """The tool's arguments with `slots` in their places and order; what it requires besides
        gets the least value that its schema allows.
        """
        placed = {name: slots[slot] for slot in slots for name in self._carriers(slot)}
        fixed = {n: v for n, v in self.args.items() if not isinstance(v, Slot)}
        given = {**placed, **fixed}
        missing = [n for n in self.shape.parameters.get("required", ()) if n not in given]
        return {**given, **{name: self._least(name) for name in missing}}

    def check(self, slots: Mapping[str, Any]) -> None:
        """Raise BindingError if the tool cannot take these `slots`."""
        for problem in problems(self.arguments(slots), self.shape.parameters):
            raise BindingError(
                f"the role {self.operation.role!r} calls {self.shape.name}, but {problem}. Give "
                "that argument a meaning or a fixed value in the role's args"
            )

    def slots(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """What the arguments mean."""
        return {self.args[n]: v for n, v in arguments.items() if isinstance(self.args.get(n), Slot)}

    def _carriers(self, slot: str) -> list[str]:
        """The arguments with this meaning; a fixed value of the same text is none."""
        args = self.args.items()
        return [name for name, each in args if isinstance(each, Slot) and each == slot]

    def _least(self, name: str) -> Any:
        """The least value of an argument; its schema may point to what the whole one defines."""
        whole = self.shape.parameters
        shared: dict[str, Any] = {key: whole[key] for key in _SHARED if key in whole}
        own: dict[str, Any] = self.known.get(name, {})
        try:
            return smallest({**own, **shared})
        except SchemaError as error:
            raise BindingError(f"{name!r} cannot be filled in: {error}") from error


def parts_of(operation: Operation, role: Role) -> tuple[Part, ...]:
    """An operation with each of the tools that play it. Raises BindingError for a role that does
    not fit them.
    """
    alone = len(role.tools) == 1
    parts = tuple(
        Part(operation=operation, role=role, tool=tool, shape=shape, alone=alone)
        for tool, shape in zip(role.tools, shapes_of(operation, role), strict=True)
    )
    _check_arguments(parts)
    for part in parts:
        _check_meanings(part)
    return parts


def shapes_of(operation: Operation, role: Role) -> tuple[Shape, ...]:
    """What an agent sees of the tools that play a role. Raises BindingError where it sees none."""
    return _seen(operation, role, shape_of)


def names_of(operation: Operation, role: Role) -> tuple[str, ...]:
    """Their names alone. Raises BindingError as `shapes_of`."""
    return _seen(operation, role, name_of)


def _seen(operation: Operation, role: Role, look: Callable[[Any], _T]) -> tuple[_T, ...]:
    if not role.tools:
        raise BindingError(
            f"tripwire_tools[{operation.role!r}] has no tool: give one, or several of them, or "
            "leave the role out"
        )
    return tuple(_seen_of(operation, tool, look) for tool in role.tools)


def _seen_of(operation: Operation, tool: Any, look: Callable[[Any], _T]) -> _T:
    try:
        return look(tool)
    except (TypeError, ValueError, AttributeError) as error:
        raise BindingError(
            f"tripwire_tools[{operation.role!r}] has the tool {tool!r}: give a function, or a "
            "tool definition with a name and a JSON schema, that the agent can be shown"
        ) from error


def _check_arguments(parts: tuple[Part, ...]) -> None:
    """See that what the role maps is an argument of some tool of its."""
    for argument in parts[0].role.args:
        if any(argument in part.known for part in parts):
            continue
        takes = "; ".join(
            f"{part.shape.name} takes {', '.join(part.known) or 'no arguments'}" for part in parts
        )
        raise BindingError(f"the role {parts[0].operation.role!r} maps {argument!r}, but {takes}")


def _check_meanings(part: Part) -> None:
    """See that a role says where what it acts on goes, and means the slots that it writes."""
    role = part.operation.role
    for name, value in part.args.items():
        if not isinstance(value, Slot) and isinstance(value, str) and value in Slot.__members__:
            raise BindingError(
                f"the role {role!r} gives {name!r} the fixed text {value!r}: for the meaning of "
                f"that name write {value}, from pytest_tripwire.world, without quotes"
            )
    for slot in part.operation.needs:
        if not part.names(slot) and not _is_about_all(part):
            raise BindingError(
                f"the role {role!r} says of no argument that it is the {slot.name}: map the one "
                f'that names what {part.shape.name} acts on, such as {{"order_id": {slot.name}}}'
                + _way_out(part)
            )


def _is_about_all(part: Part) -> bool:
    """Whether a tool may do without a name of what it acts on, and no argument is left that could
    be one.
    """
    return part.operation.about_all and not _left(part)


def _left(part: Part) -> list[str]:
    return [name for name in part.known if name not in part.args]


def _way_out(part: Part) -> str:
    if not part.operation.about_all:
        return ""
    left = ", ".join(_left(part))
    return f". If none does, as it is about the task as a whole, say what these are: {left}"
