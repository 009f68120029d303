"""Suggested budgets as TOML that `--budget` reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal

from pytest_tripwire.replay.declarations import key
from pytest_tripwire.replay.report.plain import flat
from pytest_tripwire.replay.suggest.collect import Collected
from pytest_tripwire.replay.suggest.limits import Suggestion, percent, shown, suggestions


def as_toml(classes: Mapping[str, Collected], margin: Decimal) -> Iterator[str]:
    """The lines of the file.

    Args:
        classes: what was used, by workflow class.
        margin: what is laid on top, as a share.
    """
    runs = sum(each.runs for each in classes.values())
    yield f"# Budgets read off {_runs(runs)} that went well, by `agent-tripwire replay --suggest`."
    yield f"# Each limit is the most that any of them needed, and {percent(margin)} more."
    for name in sorted(classes):
        yield ""
        yield f"# From {_runs(classes[name].runs)} of the class {flat(name)}."
        yield f"[classes.{key(name)}]"
        for each in suggestions(classes[name], margin):
            yield _line(each)


def _line(each: Suggestion) -> str:
    if each.value is None:
        return f"# {each.field}: {each.note}"
    return f"{each.field} = {_number(each.value)}  # {each.note}"


def _number(value: int | Decimal) -> str:
    """`value` as TOML writes it: a point has digits on both sides."""
    return str(value) if isinstance(value, int) else shown(value)


def _runs(number: int) -> str:
    return "1 run" if number == 1 else f"{number} runs"
