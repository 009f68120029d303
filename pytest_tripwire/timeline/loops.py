"""Which event loop the current code runs under. No framework is imported to find out."""

from __future__ import annotations

import asyncio
import sys
from typing import Any


def in_asyncio() -> bool:
    """Whether this thread is inside a running asyncio loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def trio_module() -> Any:
    """The trio module, if the current task is one of trio's."""
    trio = sys.modules.get("trio")
    if trio is None or in_asyncio():
        return None
    try:
        trio.lowlevel.current_task()
    except RuntimeError:
        return None
    return trio
