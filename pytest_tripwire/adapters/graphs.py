"""What adapters of frameworks with several agents have in common."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any


class Clones:
    """Owner of the clones of agents that can reach each other, on several ways or in a circle."""

    def __init__(self) -> None:
        # With the agent, so that no other gets its id.
        self._made: dict[int, tuple[Any, Any]] = {}

    def of(self, agent: Any, make: Callable[[Any], Any], fill: Callable[[Any, Any], None]) -> Any:
        """The clone of an agent, the same each time.

        Args:
            agent: the team's own.
            make: makes a clone that reaches no other agent yet.
            fill: gives the clone, its second argument, what the agent has.
        """
        if id(agent) not in self._made:
            self._made[id(agent)] = (agent, make(agent))
            fill(*self._made[id(agent)])
        return self._made[id(agent)][1]


class Unguarded:
    """Says what may stay though nobody decides about it.

    Args:
        names: of whatever that is.
    """

    def __init__(self, names: Collection[str] = ()) -> None:
        self._names = frozenset(names)

    def need(self, name: str, owner: str, instead: str = "") -> None:
        """Raise TypeError for something that nothing can be put before, unless it may stay.

        Args:
            name: its name, or what it is.
            owner: the agent that has it.
            instead: what else to do in this framework, as a part of a sentence.
        """
        if name not in self._names:
            raise TypeError(
                f"nothing can be put before what {name!r} of {owner!r} does. Leave it out, "
                f"{instead + ', ' if instead else ''}or, if it only reads, pass "
                f"unguarded=[{name!r}] to guarded()"
            )
