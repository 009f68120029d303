"""The shapes of events, drawn once for the page and used by every timeline."""

from __future__ import annotations

from pytest_tripwire.gate.html.markup import Markup, el

#: Around the origin, at most 6 to each side; with what each says.
SHAPES: dict[str, tuple[str, str]] = {
    "ask": ("M-5 -5H5V5H-5Z", "model request"),
    "unasked": ("M-5 -5H5V5H-5ZM-5 5L5 -5", "request that is held back"),
    "allow": ("M-4.5 0L-1 4L5 -4.5", "call let through"),
    "refuse": ("M-4.5 -4.5L4.5 4.5M-4.5 4.5L4.5 -4.5", "call not let through"),
    "settled": ("M-2 0A2 2 0 1 0 2 0A2 2 0 1 0 -2 0Z", "outcome noted"),
    "mode": ("M-2.5 -6H2.5L6 -2.5V2.5L2.5 6H-2.5L-6 2.5V-2.5Z", "what the run may do changes"),
    "note": ("M-4 5V-5L5 -2L-4 1", "note of the breaker"),
    "read": ("M-4 -5.5L6 0L-4 5.5Z", "read begins"),
    "write": ("M-4 -5.5L6 0L-4 5.5Z", "write begins"),
    "handoff": ("M-5 -5L0 0L-5 5M0 -5L5 0L0 5", "hand-off begins"),
    "told": ("M-4.5 0A4.5 4.5 0 1 0 4.5 0A4.5 4.5 0 1 0 -4.5 0Z", "answer"),
    "untold": (
        "M-4.5 0A4.5 4.5 0 1 0 4.5 0A4.5 4.5 0 1 0 -4.5 0ZM-3 3L3 -3",
        "answer that is not plainly ok",
    ),
    "mutation": ("M0 -6.5L6.5 0L0 6.5L-6.5 0Z", "business changed"),
    "change": ("M0 -6.5L6.5 0L0 6.5L-6.5 0Z", "changed by others"),
    "resume": ("M-5 -5L0 0L-5 5ZM0 -5L5 0L0 5Z", "operator resumes"),
}


def definitions() -> Markup:
    """The shapes, to be put on the page once. Each has an area that a pointer finds."""
    area = el("path", d="M-14 -12H14V12H-14Z", class_="area")
    made = [
        el("g", area, el("path", d=path), id=f"g-{name}", class_=f"g {name}")
        for name, (path, _) in SHAPES.items()
    ]
    return el("svg", el("defs", made), width=0, height=0, aria_hidden="true", class_="defs")


def used(name: str, x: float, y: float, *, title: str = "", class_: str | None = None) -> Markup:
    """One shape at its place."""
    told = el("title", title) if title else None
    return el("use", told, href=f"#g-{name}", x=x, y=y, class_=class_)
