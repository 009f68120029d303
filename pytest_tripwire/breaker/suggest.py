"""What a message says about a name that is not known."""

from __future__ import annotations

from collections.abc import Iterable


def suggestion(given: object, known: Iterable[str], *, what: str) -> str:
    """The nearest of the `known` names, and then all of them, as `what`: e.g. `Limits: a, b`."""
    import difflib  # for these messages alone

    names = sorted(known)
    near = difflib.get_close_matches(str(given), names, n=1)
    meant = f" Did you mean {near[0]!r}?" if near else ""
    return f"{meant} {what}: {', '.join(names)}.".lstrip()
