"""What an agent outside is waited for with: signals, a key, a child's end, and the time."""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
import time
from enum import StrEnum
from types import FrameType, TracebackType
from typing import Any, BinaryIO, Self

#: Real seconds between two looks at the clock: on some systems no signal ends a longer wait.
_LOOK_S = 0.2
_LINE = 1024


class Sign(StrEnum):
    """What ended a wait."""

    NEXT = "next"  #: The user says that the agent has come to its end.
    KEYBOARD = "keyboard"
    TERMINATED = "terminated"
    CLOSED = "closed"  #: Whoever spoke the Model Context Protocol has hung up.
    ENDED = "ended"  #: The command has ended.
    TIME = "time"


#: Names, as not every system has every signal.
_SIGNALS = {
    "SIGINT": Sign.KEYBOARD,
    "SIGTERM": Sign.TERMINATED,
    "SIGHUP": Sign.TERMINATED,
    "SIGUSR1": Sign.NEXT,
}


class Span:
    """Real time that begins when it is first asked for.

    Args:
        seconds: how much there is.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end: float | None = None

    def left(self) -> float:
        """Seconds that are left of it."""
        now = time.monotonic()
        if self._end is None:
            self._end = now + self._seconds
        return self._end - now


class Waiting:
    """Waits in the main thread. While it is entered, signals are signs and end nothing."""

    def __init__(self) -> None:
        # Of all queues the one that a signal handler may put into.
        self._signs: queue.SimpleQueue[Sign] = queue.SimpleQueue()
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        """Take the signals over, but for those that the process was told to ignore."""
        if threading.current_thread() is threading.main_thread():
            for name, sign in _SIGNALS.items():
                number = getattr(signal, name, None)
                if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._handler(sign))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Give them back."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()

    def ring(self, sign: Sign) -> None:
        """Give a sign; from any thread."""
        self._signs.put(sign)

    def wait(self, seconds: float) -> Sign:
        """The next sign; `Sign.TIME` when there was none for so many real seconds."""
        span = Span(seconds)
        while (left := span.left()) > 0:
            try:
                return self._signs.get(timeout=min(left, _LOOK_S))
            except queue.Empty:
                continue
        return Sign.TIME

    def on_enter(self, screen: BinaryIO) -> None:
        """Take the Enter key for `Sign.NEXT`, from now on."""
        # Not by the stream itself: a thread that is killed while it holds that aborts the process.
        number = screen.fileno()

        def read() -> None:
            while typed := os.read(number, _LINE):
                for _ in range(typed.count(b"\n")):
                    self.ring(Sign.NEXT)

        threading.Thread(target=read, name="tripwire-enter", daemon=True).start()

    def _handler(self, sign: Sign) -> Any:
        def handle(_number: int, _frame: FrameType | None) -> None:
            self.ring(sign)

        return handle


def has_keyboard(screen: BinaryIO) -> bool:
    """Whether somebody can press Enter for this process; reading a terminal from the background
    would stop it.
    """
    if not screen.isatty():
        return False
    if sys.platform == "win32":
        return True
    try:
        return os.tcgetpgrp(screen.fileno()) == os.getpgrp()
    except OSError:
        return False
