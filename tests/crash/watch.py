"""Stops a process with its own hand at a chosen point of the package, which knows nothing of it."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import Any, Self

import msgspec

ROOT = Path(__file__).parents[2]
_PACKAGE = f"{ROOT / 'pytest_tripwire'}{os.sep}"
_WORLD = str(Path(__file__).with_name("world.py"))


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """Where a life ends.

    Args:
        step: the number of a line of the package or of the world; 0 where a function is named.
        function: `breaker/acting.py:Acting.admit`, by the end of its file's name.
        event: `call`, before its first line, or `return`, after its last.
        nth: the first time or a later one.
        act: SIGKILL, or SIGSTOP, from which it may be woken.
    """

    step: int = 0
    function: str = ""
    event: str = "call"
    nth: int = 1
    act: int = signal.SIGKILL

    def __str__(self) -> str:
        where = f"step {self.step}" if self.step else f"{self.event} of {self.function}"
        return f"{where}{f' no. {self.nth}' if self.nth > 1 else ''}"


#: Never reached: all lines are counted.
COUNT = Point(step=1 << 30)


class Watch:
    """Counts what this process does, and ends it at a point.

    Args:
        point: where; None not to look.
        tell: is told where the process is, before it ends.
    """

    def __init__(self, point: Point | None, tell: Callable[[str], None]) -> None:
        self.steps = 0
        self._point = point or Point()
        self._left = self._point.nth
        self._file, _, self._function = self._point.function.partition(":")
        self._by_line = not self._function
        self._tell = tell
        self._known: dict[CodeType, bool] = {}

    def __enter__(self) -> Self:
        if self._point.step or self._function:
            threading.settrace(self._enter)
            sys.settrace(self._enter)
        return self

    def __exit__(
        self, _k: type[BaseException] | None, _e: BaseException | None, _t: TracebackType | None
    ) -> None:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type] - as the standard library documents

    def _enter(self, frame: FrameType, event: str, _arg: Any) -> Callable[..., Any] | None:
        code = frame.f_code
        watched = self._known.get(code)
        if watched is None:
            watched = self._known[code] = self._is_watched(code)
        if not watched:
            return None
        frame.f_trace_lines = self._by_line
        return self._each(frame, event, None)

    def _is_watched(self, code: CodeType) -> bool:
        if not code.co_filename.startswith((_PACKAGE, _WORLD)) or code.co_name == "<module>":
            return False
        if self._by_line:
            return True
        return code.co_qualname == self._function and code.co_filename.endswith(self._file)

    def _each(self, frame: FrameType, event: str, _arg: Any) -> Callable[..., Any]:
        if self._by_line:
            self.steps += 1
            if self.steps == self._point.step:
                self._end(frame)
        elif event == self._point.event:
            self._left -= 1
            if self._left == 0:
                self._end(frame)
        return self._each

    def _end(self, frame: FrameType) -> None:
        name = frame.f_code.co_filename.removeprefix(_PACKAGE).rpartition("crash/")[2]
        self._tell(f"{name}:{frame.f_lineno} in {frame.f_code.co_qualname}")
        os.kill(os.getpid(), self._point.act)
