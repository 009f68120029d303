"""Lines that are said at the end, kept on disk once there are many."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

_IN_MEMORY = 2**20


class Spool:
    """Owner of lines that wait. They hold no line break themselves."""

    def __init__(self) -> None:
        # Closed by `close`, as it outlives the call that makes it.
        self._file = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115
        self.count = 0

    def add(self, line: bytes) -> None:
        """Keep one."""
        self._file.write(line + b"\n")
        self.count += 1

    def __iter__(self) -> Iterator[bytes]:
        self._file.seek(0)
        for line in self._file:
            yield line.removesuffix(b"\n")

    def close(self) -> None:
        """Give the disk back."""
        self._file.close()
