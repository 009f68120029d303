"""What a run has been told of a server's tools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pytest_tripwire.adapters.bridge import Bridge
from pytest_tripwire.adapters.given import Given
from pytest_tripwire.adapters.mcp.fitting import Anew, Schemas
from pytest_tripwire.adapters.mcp.hints import spec_of_tool
from pytest_tripwire.adapters.mcp.serving import failed
from pytest_tripwire.guard import BreakerRun, UndeclaredToolError
from pytest_tripwire.guard.errors import NotBegun
from pytest_tripwire.timeline import Effect, ToolSpec


class Taken:
    """Owner of the tools of one server that one run knows. It does not hold the run.

    Args:
        specs: declarations by name; they outweigh what the server says of its tools.
        hints: whether the annotations of the server's tools count as declarations.
    """

    def __init__(self, specs: Mapping[str, ToolSpec] | None, *, hints: bool) -> None:
        self._specs, self._hints = specs, hints
        self._names: set[str] = set()
        self._by_own_word: set[str] = set()
        self._no_longer_reads: set[str] = set()
        self._schemas = Schemas()
        self._whole = False

    def bridge(self, run: BreakerRun) -> Bridge:
        """What lets the run decide."""
        return Bridge(run, self._specs)

    def lacks(self, name: str) -> bool:
        """Whether the server has to be asked for its tools before `name` is called."""
        return not self._whole or name not in self._names

    def read(self, name: str, sent: Mapping[str, Any]) -> Given:
        """The arguments of a call as its tool gets them, as far as its schema tells."""
        return self._schemas.read(name, sent)

    async def check(self, name: str, arguments: Mapping[str, Any], anew: Anew) -> None:
        """See that a call may be sent; `anew` lists the server's tools once more.

        Raises:
            NotBegun: the tool does not take these arguments, or it was taken for a read by its own
                word, and says so no longer.
        """
        await self._schemas.check(name, arguments, anew)
        if name in self._no_longer_reads:
            raise NotBegun(failed(_no_longer_reads(name)))

    def take(self, bridge: Bridge, tools: Iterable[Any]) -> dict[str, UndeclaredToolError]:
        """Take tools in as they are listed. Those that nobody declared are left out and returned,
        by name.
        """
        left_out: dict[str, UndeclaredToolError] = {}
        for tool in tools:
            self._schemas.note(tool)
            spec = spec_of_tool(tool) if self._hints else None
            if tool.name in self._names:
                self._compare(tool.name, spec)
                continue
            try:
                bridge.take(tool.name, asynchronous=True, spec=spec)
            except UndeclaredToolError as error:
                left_out[tool.name] = error
            else:
                self._note(bridge.run, tool.name, spec)
        return left_out

    def complete(self, name: str, left_out: Mapping[str, UndeclaredToolError]) -> None:
        """Every tool of the server was listed, because `name` was called. At first each has to be
        declared; one that the server has added since bars nothing but itself.

        Raises:
            UndeclaredToolError: nobody declared the effect of one.
        """
        barring = left_out.get(name) if self._whole else next(iter(left_out.values()), None)
        if barring is not None:
            raise barring
        self._whole = True

    def _note(self, run: BreakerRun, name: str, spec: ToolSpec | None) -> None:
        self._names.add(name)
        # A declaration of the team's would stand in its place.
        if spec is not None and run.declared(name) is spec and spec.effect is Effect.READ:
            self._by_own_word.add(name)

    def _compare(self, name: str, spec: ToolSpec | None) -> None:
        if name not in self._by_own_word:
            return
        if spec is not None and spec.effect is Effect.READ:
            self._no_longer_reads.discard(name)
        else:
            self._no_longer_reads.add(name)


def _no_longer_reads(name: str) -> str:
    """What a call of a tool is told that is not what it was taken for."""
    return (
        f"The server declares {name!r} otherwise than when this run met it as a read, and so it "
        "was not called. Begin a new run, or say in specs what it does."
    )
