"""Files that others read while we write them."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def written(path: Path, text: str) -> None:
    """Write a file so that whoever reads it finds the old one or the new one, and never a part.
    What is no file, such as a pipe or `/dev/null`, is written to as it stands.

    Raises:
        OSError: if it cannot be written there.
    """
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8", newline="\n")
        return
    # Behind a link, as `/dev/stdout` is one, lies the file that is meant.
    path = path.resolve()
    number, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    beside = Path(name)
    try:
        with os.fdopen(number, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        # mkstemp lets nobody else read; what is here is no secret.
        beside.chmod(0o644)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
