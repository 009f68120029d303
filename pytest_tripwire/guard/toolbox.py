"""The tools of one run: what they are, what is declared about them, and how they are read by the
breaker itself.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from pytest_tripwire.breaker.reconcile import Reconcile
from pytest_tripwire.guard.calling import (
    Plain,
    accepted,
    bind,
    enter,
    is_async,
    is_generator,
    plain_of,
    signature_of,
    staged_start,
)
from pytest_tripwire.guard.errors import UndeclaredToolError
from pytest_tripwire.guard.keys import keyed, takes_key
from pytest_tripwire.timeline import Effect, Outcome, Status, ToolSpec, WriteEntry, spec_of


class Toolbox:
    """Owner of a run's tools.

    Args:
        declared: declarations by name; they outweigh `@tool_spec`.
        default_effect: what a tool does whose effect nobody declared; None makes that an error.
        approve_writes: whether every write asks a person first.
        parent: that of the run that this one works for; its tools can be read, not called.
        take_in: is told of the write that is about to be settled by a read: once it is, nobody
            could tell any more that its run had died over it.
    """

    def __init__(
        self,
        declared: Mapping[str, ToolSpec],
        *,
        default_effect: Effect | None = None,
        approve_writes: bool = False,
        parent: Toolbox | None = None,
        take_in: Callable[[WriteEntry], object] = lambda _: None,
    ) -> None:
        self._declared = declared
        self._default_effect = default_effect
        self._approve_writes = approve_writes
        self._parent = parent
        self._take_in = take_in
        self._tools: dict[str, Callable[..., Any]] = {}
        self._specs: dict[str, ToolSpec] = {}
        self._signatures: dict[str, inspect.Signature | None] = {}
        self._plain: dict[str, Plain | None] = {}
        self._unstaged: set[str] = set()
        #: By a function's own name: its declaration, and the name that it was first given here.
        self._first_names: dict[str, tuple[ToolSpec, str]] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._tools

    def of_child(self, specs: Mapping[str, ToolSpec]) -> Toolbox:
        """That of a run that works for this one."""
        return Toolbox(
            {**self._declared, **specs},
            default_effect=self._default_effect,
            approve_writes=self._approve_writes,
            parent=self,
            take_in=self._take_in,
        )

    def asked_first(self, specs: Mapping[str, ToolSpec]) -> dict[str, ToolSpec]:
        """`specs`, with a person asked before each write where the workflow class says so."""
        return asked_first(specs, approve_writes=self._approve_writes)

    def add(
        self, name: str | None, tool: Callable[..., Any], table: Mapping[str, ToolSpec]
    ) -> ToolSpec:
        """Take a tool in, under `name` or its own; returns what is declared about it. Raises
        UndeclaredToolError where nothing is, and TypeError for what cannot be guarded.
        """
        spec = self._spec(name, tool, table)
        self._refuse_another(spec)
        signature = signature_of(tool)
        if is_generator(tool):
            raise TypeError(
                f"the tool {spec.name!r} is a generator: it works after it has returned, when "
                "nothing is watched any more. Guard a function that returns its whole result"
            )
        if spec.mutates and spec.key_argument and not takes_key(signature, spec.key_argument):
            raise TypeError(
                f"the tool {spec.name!r} takes no argument {spec.key_argument!r}, where its spec "
                "says that the idempotency key goes. Add the argument, or leave key_argument out"
            )
        self._tools[spec.name], self._specs[spec.name] = tool, spec
        self._signatures[spec.name] = signature
        self._plain[spec.name] = None if self._key_of(spec.name) else plain_of(signature)
        self._unstaged.discard(spec.name)
        if staged_start(tool) is None:
            self._unstaged.add(spec.name)
        return spec

    def _refuse_another(self, spec: ToolSpec) -> None:
        known = self._specs.get(spec.name)
        differs = [] if known is None else different(known, spec)
        if known is not None and differs:
            told = ", ".join(
                f"{name} {getattr(known, name)!r} and {getattr(spec, name)!r}" for name in differs
            )
            raise TypeError(
                f"two tools of this run are called {spec.name!r}, and are declared differently "
                f"({told}): a run tells tools apart by their names, and would take what one has "
                "done for something else. Declare them alike, rename one of them, or guard it in a "
                "run of its own"
            )

    def enter(self, name: str, args: tuple[Any, ...], arguments: Mapping[str, Any]) -> Any:
        """Enter a tool, as far as that is done under the run's lock; the result does the rest."""
        tool = self._tools[name]
        if name in self._unstaged:
            return functools.partial(tool, *args, **arguments)
        return enter(tool, args, arguments)

    def spec(self, name: str) -> ToolSpec:
        """What is declared about a tool, here or by name alone."""
        return self._specs.get(name) or self._declared[name]

    def bound(
        self, name: str, args: tuple[Any, ...], arguments: Mapping[str, Any]
    ) -> tuple[dict[str, Any], str]:
        """The arguments of a call by name, and what is wrong with them (empty if nothing). What a
        model puts where the breaker's own key goes is left out.
        """
        plain = self._plain.get(name)
        if plain is not None and not args:
            named = plain.bind(arguments)
            if named is not None:
                return named, ""
        signature, key = self._signatures.get(name), self._key_of(name)
        if name not in self._tools:
            return bind(signature, args, arguments)[0], "it is not one of this run's tools"
        if key is None or not isinstance(arguments, Mapping):
            return bind(signature, args, arguments)
        named, problem = bind(signature, *keyed(signature, args, arguments, key, ""))
        named.pop(key, None)
        return named, problem

    def with_key(
        self, name: str, args: tuple[Any, ...], arguments: Mapping[str, Any], key: str | None
    ) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
        """The arguments with which a tool is called, the breaker's own key among them."""
        argument = self._key_of(name)
        if argument is None or key is None:
            return args, arguments
        return keyed(self._signatures.get(name), args, arguments, argument, key)

    def has_key(self, name: str) -> bool:
        """Whether a tool takes the breaker's own key."""
        return self._key_of(name) is not None

    def _key_of(self, name: str) -> str | None:
        spec = self._specs.get(name)
        return spec.key_argument if spec is not None and spec.mutates else None

    def _spec(
        self, name: str | None, tool: Callable[..., Any], table: Mapping[str, ToolSpec]
    ) -> ToolSpec:
        declared = spec_of(tool)
        known_as = name or (declared.name if declared else _own_name(tool))
        spec = table.get(known_as) or self._declared.get(known_as) or declared
        if spec is None and self._default_effect is not None:
            spec = ToolSpec(name=known_as, effect=self._default_effect)
        if spec is None:
            raise UndeclaredToolError(known_as)
        if spec.name != known_as:
            operation = self._operation(spec, known_as)
            spec = msgspec.structs.replace(spec, name=known_as, operation=operation)
        return approved_first(spec) if self._approve_writes else spec

    def _operation(self, spec: ToolSpec, known_as: str) -> str:
        """What a tool does to the business that is known under another name here: the same as under
        its own. Raises TypeError where two functions only happen to be called alike, as a factory
        makes them: what one has written would be taken for the other's work.
        """
        if spec.operation is None and spec.mutates:
            first, name = self._first_names.setdefault(spec.name, (spec, known_as))
            if first is not spec and name != known_as:
                raise TypeError(
                    f"the tools {name!r} and {known_as!r} are two functions called {spec.name!r}, "
                    "and would count as one operation: what one has done is not done again by the "
                    f'other. Say what each does: @tool_spec(..., operation="{known_as}")'
                )
        return spec.kind

    # -- reconciling reads

    def narrowed(self, request: Reconcile) -> Reconcile:
        """The request with those arguments that the read takes: no other is part of the question,
        and so no other can be merely repeated by the answer. Raises whatever the store raises.
        """
        self._take_in(request.entry)
        read = self._reader(request)
        taken = accepted(signature_of(read), request.arguments) if read is not None else {}
        return msgspec.structs.replace(request, arguments=taken)

    def read(self, request: Reconcile) -> Outcome:
        """Make the read that a decision waits for."""
        read = self._reader(request)
        if read is None or is_async(read) or not _asks_it_all(request):
            return _no_answer("no sync read of all that it is about")
        try:
            result = read(**request.arguments)
        except Exception as error:  # noqa: BLE001 - a failed read only proves nothing
            return _no_answer(type(error).__name__)
        return Outcome(status=Status.OK, result=result)

    async def aread(self, request: Reconcile) -> Outcome:
        """The same, sync or async."""
        read = self._reader(request)
        if read is None or not _asks_it_all(request):
            return _no_answer("no read of all that it is about")
        try:
            result = read(**request.arguments)
            if inspect.isawaitable(result):
                result = await result
        except Exception as error:  # noqa: BLE001 - a failed read only proves nothing
            return _no_answer(type(error).__name__)
        return Outcome(status=Status.OK, result=result)

    def _reader(self, request: Reconcile) -> Callable[..., Any] | None:
        return self.known(request.read) if isinstance(request.read, str) else request.read

    def known(self, name: str) -> Callable[..., Any] | None:
        """A tool by name, of this run or of those that it works for; None if there is none."""
        own = self._tools.get(name)
        return own if own is not None or self._parent is None else self._parent.known(name)


#: By what a write is known again, whoever proposes it.
_KNOWN_BY = (
    "kind",
    "identity",
    "resource_patterns",
    "wording",
    "volatile",
    "repeatable",
    "key_argument",
)


def different(one: ToolSpec, other: ToolSpec) -> list[str]:
    """The fields in which two declarations of one name differ, as far as what one has written would
    not be known again by the other.
    """
    if one.effect is not other.effect:
        return ["effect"]
    if not one.mutates:
        return []
    return [name for name in _KNOWN_BY if getattr(one, name) != getattr(other, name)]


def asked_first(specs: Mapping[str, ToolSpec], *, approve_writes: bool) -> dict[str, ToolSpec]:
    """`specs`, with a person asked before each write if `approve_writes`."""
    if not approve_writes:
        return dict(specs)
    return {name: approved_first(spec) for name, spec in specs.items()}


def approved_first(spec: ToolSpec) -> ToolSpec:
    """`spec`, and a person is asked before it writes."""
    if not spec.mutates or spec.requires_approval:
        return spec
    return msgspec.structs.replace(spec, requires_approval=True)


def _no_answer(error: str) -> Outcome:
    return Outcome(status=Status.TRANSIENT, error=error)


def _asks_it_all(request: Reconcile) -> bool:
    """Whether a read takes the whole identity of the write. A wider one shows what others wrote."""
    identity = request.spec.identity
    return identity is None or set(identity) <= set(request.arguments)


def _own_name(tool: Callable[..., Any]) -> str:
    return str(getattr(tool, "__name__", type(tool).__name__))
