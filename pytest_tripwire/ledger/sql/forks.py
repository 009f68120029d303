"""What a fork of this process must not find."""

from __future__ import annotations

import itertools
import os
import threading
import weakref
from typing import Protocol


class Forkable(Protocol):
    """Something that a fork would break."""

    def before_fork(self) -> None:
        """Let go of what must not be inherited, and begin nothing."""

    def after_fork(self) -> None:
        """Go on, in the process that has forked."""

    def in_child(self) -> None:
        """Go on, in the new process."""


#: By the order in which they came, so that two threads that fork take their locks in one order.
_KNOWN: weakref.WeakValueDictionary[int, Forkable] = weakref.WeakValueDictionary()
_NUMBERS = itertools.count()


class _Forking(threading.local):
    """What a thread that is forking has told, and has to tell again: no other has come between."""

    told: tuple[Forkable, ...] = ()


_FORKING = _Forking()


def tell_of_forks(thing: Forkable) -> None:
    """Call `thing` at each fork, for as long as it lives.

    SQLite remembers for a whole process which locks it has. A fork inherits the memory and not the
    locks: what it writes could be lost without a word, also by a connection of its own.
    """
    _KNOWN[next(_NUMBERS)] = thing


def _before() -> None:
    _FORKING.told = tuple(_KNOWN.values())
    for each in _FORKING.told:
        each.before_fork()


def _after() -> None:
    told, _FORKING.told = _FORKING.told, ()
    for each in told:
        each.after_fork()


def _in_child() -> None:
    told, _FORKING.told = _FORKING.told, ()
    for each in told:
        each.in_child()


# Once for all stores: Python forgets none of what is registered.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_in_child)
