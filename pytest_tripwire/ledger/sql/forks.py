"""What a fork of this process must not find."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from typing import Protocol


class Forkable(Protocol):
    """Something that a fork would break."""

    def before_fork(self) -> None:
        """Let go of what must not be inherited, and begin nothing."""

    def after_fork(self) -> None:
        """Go on, in the process that has forked."""

    def in_child(self) -> None:
        """Go on, in the new process."""


def tell_of_forks(thing: Forkable) -> None:
    """Call `thing` at each fork, for as long as it lives.

    SQLite remembers for a whole process which locks it has. A fork inherits the memory and not the
    locks: what it writes could be lost without a word, also by a connection of its own.
    """
    known = weakref.ref(thing)

    def call(name: str) -> Callable[[], None]:
        def told() -> None:
            alive = known()
            if alive is not None:
                getattr(alive, name)()

        return told

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=call("before_fork"),
            after_in_parent=call("after_fork"),
            after_in_child=call("in_child"),
        )
