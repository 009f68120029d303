"""Workflow classes: limits that suit a kind of work, with the reason for each number.

They are starting points. A team that knows its own runs sets its own numbers, from a replay of what
they really used. Limits in money and tokens are in none of them: with such a limit, a request whose
price or use nobody knows stops the run, so it is set by somebody who tells of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

import msgspec

from pytest_tripwire.breaker.suggest import suggestion


class WorkflowClass(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of work.

    Args:
        what: what it is, in a sentence.
        limits: limits by the names of `RunBudget`'s fields.
        approve_writes: whether every write of it should ask a person first. A budget cannot say so:
            declare `requires_approval` on the tools, or hand this to whoever does.
    """

    what: str
    limits: Mapping[str, Any]
    approve_writes: bool = False


#: Classes by name; where nothing but limits is to be said, the limits alone will do.
Classes: TypeAlias = Mapping[str, "WorkflowClass | Mapping[str, Any]"]

#: The classes that are built in.
#:
#: - `simple_lookup`: 10 calls answer a question about one record, with room for looking it up by
#:   mail, phone and name; one request for each, and two to begin and to end. Nothing is written,
#:   nobody is asked to help, and nobody waits longer than five minutes for a simple answer.
#: - `research`: good runs of 30 to 60 turns exist, so 30 are usual and bind only a run that gets
#:   nowhere, and 80 are the backstop. Two calls a turn, as readers ask side by side. What is
#:   written is a note or a report. Half an hour.
#: - `complex_research`: the same with sub-agents at work: twice the usual turns, and a backstop far
#:   from any good run. Two hours.
#: - `support`: a request of a customer takes some ten turns; a batch over thirty orders has to fit
#:   into the calls. What it changes is a refund, a ticket, a message and their like. A task that
#:   failed three times needs a person. A quarter of an hour.
#: - `financial_write`: one payment, and room to put right what a first one got wrong; few turns.
#:   Three turns of errors are no reason to go on with money. No deadline, as it waits for a
#:   person's approval.
WORKFLOW_CLASSES: Mapping[str, WorkflowClass] = MappingProxyType(
    {
        "simple_lookup": WorkflowClass(
            what="One question about one record; reads only.",
            limits={
                "max_turns": 12,
                "deadline_s": 300,
                "max_tool_calls": 10,
                "max_side_effects": 0,
                "max_subagents": 0,
            },
        ),
        "research": WorkflowClass(
            what="Reading until a question is answered, and a report of it.",
            limits={
                "max_turns": 80,
                "usual_turns": 30,
                "deadline_s": 1800,
                "max_tool_calls": 160,
                "max_side_effects": 10,
                "max_subagents": 3,
            },
        ),
        "complex_research": WorkflowClass(
            what="Research over many sources, with sub-agents.",
            limits={
                "max_turns": 200,
                "usual_turns": 60,
                "deadline_s": 7200,
                "max_tool_calls": 400,
                "max_side_effects": 25,
                "max_subagents": 10,
            },
        ),
        "support": WorkflowClass(
            what="A customer's request, with the writes that it takes.",
            limits={
                "max_turns": 30,
                "usual_turns": 12,
                "deadline_s": 900,
                "max_tool_calls": 60,
                "max_side_effects": 5,
                "max_attempts_per_task": 3,
                "max_subagents": 2,
            },
        ),
        "financial_write": WorkflowClass(
            what="A payment or its like: few turns, and a person approves.",
            limits={
                "max_turns": 12,
                "max_tool_calls": 20,
                "max_side_effects": 2,
                "max_consecutive_errors": 3,
                "max_attempts_per_task": 2,
                "max_calls_per_minute": 20,
                "max_subagents": 0,
            },
            approve_writes=True,
        ),
    }
)


def workflow_class(name: str, classes: Classes | None = None) -> WorkflowClass:
    """A class by name; one of `classes` goes before a built-in one of the same name. Raises
    ValueError with the names there are.
    """
    given: Any = name  # as the caller gave it, whatever the annotation says
    known: dict[str, WorkflowClass | Mapping[str, Any]] = {**WORKFLOW_CLASSES, **(classes or {})}
    if not isinstance(given, str) or given not in known:
        there_are = suggestion(given, known, what="Classes")
        raise ValueError(f"{given!r}: there is no such workflow class. {there_are}")
    found = known[name]
    return found if isinstance(found, WorkflowClass) else WorkflowClass(what=name, limits=found)


def for_class(name: str, classes: Classes | None = None) -> dict[str, Any]:
    """The limits of a class, by the names of `RunBudget`'s fields. Raises as `workflow_class`."""
    return dict(workflow_class(name, classes).limits)
