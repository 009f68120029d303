"""Stops a process with its own hand at a chosen point of the package, which knows nothing of it."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import Any, Self, TypeAlias

import msgspec

ROOT = Path(__file__).parents[2]
_PACKAGE = f"{ROOT / 'pytest_tripwire'}{os.sep}"
_WORLD = str(Path(__file__).with_name("world.py"))


Trace: TypeAlias = Callable[[FrameType, str, Any], Any]


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
        self._point = point
        self._tell = tell

    def __enter__(self) -> Self:
        if self._point is not None:
            each = self._at_function if self._point.function else self._at_line
            enter = _entering(each(self._point), self._is_watched, lines=not self._point.function)
            threading.settrace(enter)
            sys.settrace(enter)
        return self

    def __exit__(
        self, _k: type[BaseException] | None, _e: BaseException | None, _t: TracebackType | None
    ) -> None:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type] - as the standard library documents

    def _is_watched(self, code: CodeType) -> bool:
        if not code.co_filename.startswith((_PACKAGE, _WORLD)) or code.co_name == "<module>":
            return False
        file, _, function = self._point.function.partition(":") if self._point else ("", "", "")
        if not function:
            return True
        return code.co_qualname == function and code.co_filename.endswith(file)

    def _at_line(self, point: Point) -> Trace:
        wanted = point.step

        def each(frame: FrameType, _event: str, _arg: Any) -> Trace:
            self.steps += 1
            if self.steps == wanted:
                self._end(frame, point.act)
            return each

        return each

    def _at_function(self, point: Point) -> Trace:
        left = point.nth

        def each(frame: FrameType, event: str, _arg: Any) -> Trace:
            nonlocal left
            if event == point.event:
                left -= 1
                if left == 0:
                    self._end(frame, point.act)
            return each

        return each

    def _end(self, frame: FrameType, act: int) -> None:
        name = frame.f_code.co_filename.removeprefix(_PACKAGE).rpartition("crash/")[2]
        self._tell(f"{name}:{frame.f_lineno} in {frame.f_code.co_qualname}")
        os.kill(os.getpid(), act)


def _entering(each: Trace, is_watched: Callable[[CodeType], bool], *, lines: bool) -> Trace:
    """Is asked at every call of whatever function, so it has nothing to look up but that."""
    known: dict[CodeType, bool] = {}

    def enter(frame: FrameType, event: str, arg: Any) -> Trace | None:
        code = frame.f_code
        watched = known.get(code)
        if watched is None:
            watched = known[code] = is_watched(code)
        if not watched:
            return None
        frame.f_trace_lines = lines
        return each(frame, event, arg)

    return enter
