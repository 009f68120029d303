"""Any verdict, for Hypothesis: every kind of event, and text that wants out of its place."""

from __future__ import annotations

import typing
from decimal import Decimal
from typing import Any, get_args

from hypothesis import strategies as st

from pytest_tripwire.gate import Entry, Row, Verdict
from pytest_tripwire.models.diagnosis import Diagnosis
from pytest_tripwire.oracle import Broken, Cell
from pytest_tripwire.timeline import AnyEvent, BudgetLine

HOSTILE = (
    "</style><script>alert(1)</script>",
    "</svg></details></body>",
    "\" onload='alert(1)' x=\"",
    "<!-- <![CDATA[ <?x",
    "&lt;&#60;&copy",
    "\u202eevil\u202c \u2066x",
    "a\x00b\x1b[31mc\r\nd\x85e\u2028f\ud800g",
    "w" * 400,
    "\u05d0\u05d1\u05d2 a \u0301\u0301\u0301 \u5168\u89d2 \U0001f9e8",
    "javascript:alert(1)",
    "https://example.org/\"onclick='x'<b>&amp;",
    "",
)
texts = st.sampled_from(HOSTILE) | st.text(max_size=20)
_NUMBERS = st.integers(0, 12)


def _of(hint: Any) -> st.SearchStrategy[Any]:
    if hint is str:
        return texts
    if hint is int:
        return _NUMBERS
    if hint is float:
        return st.floats(0, 1e6)
    if hint is Decimal:
        return st.decimals(0, 100, places=2)
    if typing.get_origin(hint) is tuple:
        return st.lists(_of(get_args(hint)[0]), max_size=3).map(tuple)
    return st.from_type(hint)


def built(kind: type, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Any value of a class, with some fields by another rule."""
    hints = {
        name: hint for name, hint in typing.get_type_hints(kind).items() if name != "__slots__"
    }
    names = kind.__struct_fields__  # type: ignore[attr-defined]
    return st.builds(
        kind, **{name: fields[name] if name in fields else _of(hints[name]) for name in names}
    )


def _several(one: st.SearchStrategy[Any], most: int) -> st.SearchStrategy[Any]:
    return st.lists(one, max_size=most).map(tuple)


_LIMITS = st.sampled_from(["max_turns", "max_tool_calls", "max_tokens", "deadline_s"]) | texts
events = st.one_of([built(kind) for kind in get_args(AnyEvent)])
cells = built(
    Cell,
    agent=texts,
    events=_several(events, 8),
    budgets=_several(built(BudgetLine, name=_LIMITS), 3),
    broken=_several(built(Broken), 2),
    diagnosis=_several(built(Diagnosis), 2),
)
# Few names, so that agents and cases meet more than once.
_NAMES = st.sampled_from(["a", "b", "c", "c/d"]) | texts
rows = built(Row, agent=_NAMES, case=_NAMES, cell=st.none() | cells, entry=st.none() | built(Entry))
verdicts = built(
    Verdict,
    rows=_several(rows, 5),
    problems=_several(texts, 2),
    notes=_several(texts, 2),
    protections=_several(texts, 2),
    rounds=st.integers(1, 3),
)
