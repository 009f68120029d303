"""A team's tools, or the world's own, played by the world."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from pytest_tripwire.timeline import ToolSpec, spec_of
from pytest_tripwire.world.faults import NotAcceptedError, PolicyDeniedError, RateLimitedError
from pytest_tripwire.world.operation import Operation
from pytest_tripwire.world.records import UnknownRecordError
from pytest_tripwire.world.roles import Role, Slot
from pytest_tripwire.world.schema import SchemaError, Shape, problems, shape_of, smallest
from pytest_tripwire.world.stage import Stage
from pytest_tripwire.world.work import Work

#: Errors of the business that prove that it did nothing.
NOTHING_HAPPENED = (NotAcceptedError, RateLimitedError, UnknownRecordError)


#: Where a schema keeps what its parts point to.
_SHARED = ("$defs", "definitions")


class BindingError(ValueError):
    """A role does not fit the tool that is to play it."""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """An operation, and the tool that plays it."""

    operation: Operation
    role: Role
    shape: Shape

    def names(self, *slots: Slot) -> tuple[str, ...]:
        """The arguments that carry one of these meanings."""
        return tuple(name for name, meaning in self.role.args.items() if meaning in slots)

    def spec(self) -> ToolSpec:
        """What is declared beside the team's tool; without that, what the role tells of it."""
        declared = spec_of(self.role.tool)
        if declared is not None:
            return msgspec.structs.replace(declared, name=self.shape.name)
        operation, own_shape = self.operation, self.role.result is None
        return ToolSpec(
            name=self.shape.name,
            effect=operation.effect,
            operation=operation.kind,
            identity=self.names(Slot.RESOURCE, Slot.TARGET) or None,
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

    def arguments(self, slots: Mapping[str, Any]) -> dict[str, Any]:
        """The tool's arguments with `slots` in their places and order; what it requires besides
        gets the least value that its schema allows.
        """
        placed = {name: slots[slot] for slot in slots for name in self._carriers(slot)}
        fixed = {n: v for n, v in self.role.args.items() if not isinstance(v, Slot)}
        given = {**placed, **fixed}
        missing = [n for n in self.shape.parameters.get("required", ()) if n not in given]
        return {**given, **{name: self._least(name) for name in missing}}

    def _carriers(self, slot: str) -> list[str]:
        """The arguments with this meaning; a fixed value of the same text is none."""
        args = self.role.args.items()
        return [name for name, each in args if isinstance(each, Slot) and each == slot]

    def _least(self, name: str) -> Any:
        """The least value of an argument; its schema may point to what the whole one defines."""
        whole = self.shape.parameters
        shared: dict[str, Any] = {key: whole[key] for key in _SHARED if key in whole}
        own: dict[str, Any] = whole.get("properties", {}).get(name, {})
        try:
            return smallest({**own, **shared})
        except SchemaError as error:
            raise BindingError(f"{name!r} cannot be filled in: {error}") from error

    def slots(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """What the arguments mean."""
        return {self.role.args[n]: v for n, v in arguments.items() if n in self.role.args}


class Toolset:
    """The tools of one run. Also the binder of its scripted model.

    Args:
        operations: the parts that the case has.
        roles: a team's tools by part; the world's own play the rest.
        stage: where they act.

    Raises:
        BindingError: when a role does not fit its tool.
    """

    def __init__(
        self, *, operations: Sequence[Operation], roles: Mapping[str, Role], stage: Stage
    ) -> None:
        self._parts = {
            each.role: _part(each, roles.get(each.role, each.default)) for each in operations
        }
        self.functions = {part.shape.name: _played(part, stage) for part in self._parts.values()}
        _check_names(self._parts.values())

    def tool_name(self, role: str) -> str:
        """The name of the tool that plays `role`. Raises KeyError for a part the case lacks."""
        return self._parts[role].shape.name

    def arguments(self, role: str, slots: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of that tool, by name, with `slots` in their places."""
        return self._parts[role].arguments(slots)

    def check(self, role: str, slots: Mapping[str, Any]) -> None:
        """Raise BindingError if the tool that plays `role` cannot take these `slots`."""
        part = self._parts[role]
        for problem in problems(part.arguments(slots), part.shape.parameters):
            raise BindingError(
                f"the role {role!r} calls {part.shape.name}, but {problem}. Give that argument a "
                f"meaning or a fixed value in the role's args"
            )

    def specs(self) -> dict[str, ToolSpec]:
        """What the roles declare of each tool, by name."""
        return {part.shape.name: part.spec() for part in self._parts.values()}

    def declared(self) -> dict[str, ToolSpec]:
        """What a team declares beside its own tools, by name."""
        parts = self._parts.values()
        return {part.shape.name: part.spec() for part in parts if spec_of(part.role.tool)}

    def schemas(self) -> list[dict[str, Any]]:
        """Name, description and parameters of each tool, in JSON Schema."""
        return [part.shape.as_schema() for part in self._parts.values()]


def _part(operation: Operation, role: Role) -> Part:
    shape = _shape(operation, role)
    part = Part(operation=operation, role=role, shape=shape)
    known = part.shape.parameters.get("properties", {})
    for argument in role.args:
        if argument not in known:
            raise BindingError(
                f"the role {operation.role!r} maps {argument!r}, but {part.shape.name} takes "
                f"{', '.join(known) or 'no arguments'}"
            )
    _check_meanings(part)
    return part


def _check_meanings(part: Part) -> None:
    """See that a role says where what it acts on goes, and means the slots that it writes."""
    role = part.operation.role
    for name, value in part.role.args.items():
        if not isinstance(value, Slot) and isinstance(value, str) and value in Slot.__members__:
            raise BindingError(
                f"the role {role!r} gives {name!r} the fixed text {value!r}: for the meaning of "
                f"that name write {value}, from pytest_tripwire.world, without quotes"
            )
    for slot in part.operation.needs:
        if not part.names(slot):
            raise BindingError(
                f"the role {role!r} says of no argument that it is the {slot.name}: map the one "
                f'that names what {part.shape.name} acts on, such as {{"order_id": {slot.name}}}'
            )


def _shape(operation: Operation, role: Role) -> Shape:
    try:
        return shape_of(role.tool)
    except (TypeError, ValueError, AttributeError) as error:
        raise BindingError(
            f"tripwire_tools[{operation.role!r}] has the tool {role.tool!r}: give a function, or a "
            "tool definition with a name and a JSON schema, that the agent can be shown"
        ) from error


def _check_names(parts: Iterable[Part]) -> None:
    first: dict[str, str] = {}
    for part in parts:
        role, name = part.operation.role, part.shape.name
        if first.setdefault(name, role) != role:
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
    if inspect.iscoroutinefunction(part.role.tool):

        async def tool(*args: Any, **kwargs: Any) -> Any:
            return await start(*args, **kwargs).arun()
    else:

        def tool(*args: Any, **kwargs: Any) -> Any:
            return start(*args, **kwargs)()

    tool.__name__ = tool.__qualname__ = part.shape.name
    tool.__doc__ = part.shape.doc
    tool.__annotations__ = dict(getattr(part.role.tool, "__annotations__", {}))
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
    return {_shape(each, roles.get(each.role, each.default)).name for each in operations}


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
