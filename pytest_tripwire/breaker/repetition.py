"""The same words again, the same error again.

Both look at how often within the last few, so that something else in between hides nothing.
Fingerprints are kept, never what a model or a tool has said.
"""

from __future__ import annotations

from collections import deque
from hashlib import blake2b
from typing import Any

#: Three of the last five: twice is emphasis, and with four in between it is a way of speaking.
WINDOW = 5
TIMES = 3

_DIGEST_BYTES = 16


class Repetition:
    """Watches the assistant's texts. Letter case and white space do not make another text.

    A turn without text, such as one that only calls tools, takes no place among the last few. Many
    a good agent says the same few words before each step, so whoever sees progress calls `clear`.

    Args:
        window: texts that are looked back over.
        times: how often the same has to be among them.
        digests: what an earlier part of the run has said, as `digests` gives it.
    """

    __slots__ = ("_recent", "_times")

    def __init__(
        self, window: int = WINDOW, times: int = TIMES, digests: tuple[str, ...] = ()
    ) -> None:
        _check("Repetition", window, times)
        self._recent: deque[str] = deque(digests, maxlen=window)
        self._times = times

    @property
    def digests(self) -> tuple[str, ...]:
        """Fingerprints of the last texts, oldest first."""
        return tuple(self._recent)

    def add(self, text: Any) -> bool:
        """Take a text; whether it has now been said so often. What is no text counts as none."""
        said = _said(text)
        if said is None:
            return False
        self._recent.append(said)
        return self._recent.count(said) >= self._times

    def said_last(self, text: Any) -> bool:
        """Whether a text is the one that was taken last."""
        return bool(self._recent) and self._recent[-1] == _said(text)

    def clear(self) -> None:
        """The run got somewhere: what was said before is no loop."""
        self._recent.clear()


class RepeatedError:
    """Watches for one error that keeps coming back whatever is done in between. Success moves it
    out of sight in time, and does not clear it.

    It is counted by turn, so siblings that fail together count once. Errors about different things
    are different: five orders that do not exist are five answers.

    Args:
        window: turns with calls that are looked back over.
        times: in how many of them the same error has to be.
    """

    __slots__ = ("_times", "_turns", "_window")

    def __init__(self, window: int = WINDOW, times: int = TIMES) -> None:
        _check("RepeatedError", window, times)
        self._window = window
        self._times = times
        self._turns: dict[int, set[str]] = {}

    def failed(self, error: str, turn: int, *, about: str = "") -> bool:
        """A call of `turn` failed; whether the same has now happened so often.

        Args:
            error: normalised class of the error, never a text with ids in it.
            turn: number that siblings share, as `Rounds` gives it.
            about: fingerprint of what was asked; left out, errors of one class are all the same.
        """
        seen = self._of(turn)
        if seen is None:
            return False
        mark = _digest(f"{error}\0{about}")
        seen.add(mark)
        return sum(mark in each for each in self._turns.values()) >= self._times

    def succeeded(self, turn: int) -> None:
        """A call of `turn` succeeded: the turn takes its place among the last few."""
        self._of(turn)

    def _of(self, turn: int) -> set[str] | None:
        """The errors of a turn; None for one that is out of sight already."""
        seen = self._turns.setdefault(turn, set())
        for old in sorted(self._turns)[: -self._window]:
            del self._turns[old]
        return seen if turn in self._turns else None


def _check(name: str, window: int, times: int) -> None:
    if not 1 <= times <= window:
        message = f"{name}(window={window!r}, times={times!r}): as many as fit into the window"
        raise ValueError(f"{message}, and at least 1")


def _said(text: Any) -> str | None:
    """The fingerprint of a text, None for what is none."""
    words = text.lower().split() if isinstance(text, str) else []
    return _digest(" ".join(words)) if words else None


def _digest(text: str) -> str:
    # A model's words may hold lone surrogates, which plain UTF-8 refuses.
    data = text.encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=_DIGEST_BYTES).hexdigest()
