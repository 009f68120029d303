"""Names of processes, as writes carry them, and whether the process of such a name has ended.

Only one that ran on this machine, in this very space of process numbers, can be known to be gone:
containers may share a host's name and number their processes anew. Whatever cannot be told for
certain is left to the lease.
"""

from __future__ import annotations

import os
import secrets
import socket
from pathlib import Path

_NOBODY_KNOWS = "/?"
_SPACE = Path("/proc/self/ns/pid")
_BOOT = Path("/proc/sys/kernel/random/boot_id")


def owner_name() -> str:
    """A name for this process: machine, process, and a random word."""
    return f"{_machine()}:{os.getpid()}:{secrets.token_hex(4)}"


def is_gone(owner: str) -> bool:
    """Whether the process of that name has certainly ended. A number that another process has by
    now reads as one that lives.
    """
    machine, _, number = owner.rpartition(":")[0].rpartition(":")
    here = _machine()
    if machine != here or here.endswith(_NOBODY_KNOWS) or not number.isdecimal():
        return False
    try:
        text = Path(f"/proc/{int(number)}/stat").read_text("utf-8", "replace")
    except (FileNotFoundError, ProcessLookupError):
        return True
    except (OSError, ValueError):
        return False
    # One that has ended and that its parent has not asked about yet does nothing any more either.
    return text.rpartition(")")[2].split()[:1] in [["Z"], ["X"]]


def _machine() -> str:
    """This machine as long as it is up, and the space in which its processes are numbered; with a
    question mark where nobody can tell.
    """
    try:
        boot = _BOOT.read_text("ascii").strip()[:8]
        space = str(_SPACE.readlink()).rpartition("[")[2].rstrip("]")
    except (OSError, UnicodeDecodeError):
        return f"{socket.gethostname()}{_NOBODY_KNOWS}"
    return f"{socket.gethostname()}/{boot}.{space}"
