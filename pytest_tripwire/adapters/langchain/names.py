"""Tools of one run that have one name."""

from __future__ import annotations

from pytest_tripwire.timeline import ToolSpec

#: What decides what is known of a write's outcome. By what it is known again the guard compares.
_DECIDES = (
    "requires_approval",
    "late_effect_s",
    "definite_failures",
    "denials",
    "composite",
    "error_field",
)


def refuse_another(known: ToolSpec | None, spec: ToolSpec) -> None:
    """Raises TypeError for a write that is declared in another way than one of the same name: the
    declaration that came last would hold for both, and what one has made would be made again.
    """
    if known is None or not (known.mutates and spec.mutates):
        return
    fields = [name for name in _DECIDES if getattr(known, name) != getattr(spec, name)]
    if not _settled_alike(known, spec):
        fields.append("reconcile")
    if fields:
        raise TypeError(
            f"two tools of this run are called {spec.name!r}, and are declared with different "
            f"{', '.join(fields)}: a run tells tools apart by their names, and would take what one "
            "has written for something else. Declare them alike, rename one of them, or give one "
            "of the agents a run of its own: run.child(...)"
        )


def _settled_alike(known: ToolSpec, spec: ToolSpec) -> bool:
    """Whether both name one read, or each has a callable, which may well be made for each agent."""
    one, other = known.reconcile, spec.reconcile
    return one == other or (callable(one) and callable(other))
