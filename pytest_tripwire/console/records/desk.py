"""What each sub-command of `records` works with."""

from __future__ import annotations

import getpass
from collections.abc import Sequence

import msgspec

from pytest_tripwire.console.records import text
from pytest_tripwire.console.records.text import quoted
from pytest_tripwire.ledger import Store
from pytest_tripwire.replay.command import Streams
from pytest_tripwire.replay.options import UsageError


class RefusedError(Exception):
    """Nothing was done; the message says why, and what can be done instead."""


class Desk(msgspec.Struct, frozen=True, kw_only=True):
    """One call of the command.

    Args:
        store: where the records are.
        now: seconds on the breaker's clock.
        streams: where to write.
        again: what a command line has to say to find the same store; empty where the environment
            names it.
    """

    store: Store
    now: float
    streams: Streams
    again: str = ""

    def say(self, lines: Sequence[str]) -> None:
        """Print what was asked for."""
        text.say(self.streams, lines)

    def note(self, line: str) -> None:
        """Tell what else has to be known."""
        text.note(self.streams, line)

    def command(self, what: str, *ids: str, more: str = "") -> str:
        """A command line that can be copied; `more` are its options, with what the user has to
        fill in in capitals.
        """
        words = [quoted(each) for each in ids]
        options = more.split(" ") if more else []
        # A dash would make an option of an id.
        dashed = any(each.startswith("-") for each in ids)
        line = [*options, "--", *words] if dashed else [*words, *options]
        return " ".join(["agent-tripwire records", what + self.again, *line])


def again(url: str | None) -> str:
    """The option by which a command line finds a store that was named on the command line. What
    may hold a password is not repeated.
    """
    if url is None:
        return ""
    secret = "@" in url or "pass" in url.lower()
    return ' --store "$AGENT_TRIPWIRE_STORE"' if secret else f" --store {quoted(url)}"


def operator_of(name: str | None) -> str:
    """Who does this: `name`, or the user of the machine.

    Raises:
        UsageError: there is no such user.
    """
    try:
        found = getpass.getuser() if name is None else name
    except (OSError, KeyError):
        found = ""
    if not found.strip():
        raise UsageError("say who you are: --operator NAME")
    return found
