"""`long-investigation`: every step finds something new, for far longer than usual. Good work."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import msgspec

from pytest_tripwire.breaker.budget import RunBudget
from pytest_tripwire.cases.case import Case, with_lookalikes
from pytest_tripwire.cases.grammar import grammar
from pytest_tripwire.cases.lookalike import lookalike
from pytest_tripwire.cases.personas import call, search, ways
from pytest_tripwire.cases.reading import always, mutations, nothing_wrong, sent, told
from pytest_tripwire.models import Calls, Say, Script
from pytest_tripwire.timeline import WorldEvent
from pytest_tripwire.world import Records
from pytest_tripwire.world.desk import EDIT, READ, SEARCH, open_order, open_topic
from pytest_tripwire.world.faults import Slow

ORDER, TOPIC = "A-1001", "outage-of-june"
STEPS = 24
USUAL = 8
#: No team waits for more.
MOST = 120
#: Seconds in which as many calls are made as a ration allows in a minute.
MINUTE_S = 61.0
#: How it asks for the next testimony.
ASKS = grammar(
    asks=("what did {who} {see}{when}", "{who}: {account}{when}", "{account} of {who}{when}"),
    who=("the next witness", "another witness", "whoever was on duty", "the engineer"),
    see=("see", "notice", "report", "do"),
    account=("the account", "a statement", "the notes"),
    when=("", " that night", " before it went down", " afterwards"),
)
WORDINGS = {"search": ASKS}
REPORT = Say(text="This is what happened: ...")


def seed(records: Records, steps: int = STEPS) -> None:
    """A topic with much to say, and an order."""
    pages = (f"witness {number} saw something else" for number in range(1, steps + 1))
    open_topic(records, TOPIC, *pages)
    open_order(records, ORDER, status="open")


def investigated(events: Sequence[WorldEvent], steps: int = STEPS) -> bool:
    """Every page was read."""
    return told(events, "search", "ok") == steps


def investigates(steps: int) -> dict[str, Script]:
    """Asks for one page after the other."""
    asks = (search(TOPIC, f"what did witness {n} see", cursor=n) for n in range(1, steps + 1))
    return ways([*asks, REPORT], REPORT.text, WORDINGS)


def fit(case: Case, budget: RunBudget) -> Case:
    """As far past the usual number of turns as before, as far as the hard limits allow. Where calls
    are rationed they take their time.
    """
    steps = _steps(budget)
    rate = budget.max_calls_per_minute
    return msgspec.structs.replace(
        case,
        seed=partial(seed, steps=steps),
        personas=investigates(steps),
        done=partial(investigated, steps=steps),
        faults=(Slow(role="search", before_s=MINUTE_S / rate),) if rate else (),
    )


def _steps(budget: RunBudget) -> int:
    limits: list[float] = [MOST]
    if budget.max_turns is not None:
        limits.append(budget.max_turns - 1)  # the last one is for the answer
    if budget.max_tool_calls is not None:
        limits.append(budget.max_tool_calls)
    if budget.max_calls_per_minute and budget.deadline_s is not None:
        limits.append(budget.deadline_s * budget.max_calls_per_minute / MINUTE_S - 1)
    usual = USUAL if budget.usual_turns is None else budget.usual_turns
    return max(1, int(min(STEPS // USUAL * usual, *limits)))


HOSTILE = Case(
    id="long-investigation",
    title="every step yields new evidence, far past the usual number of turns",
    prompt=f"Find out what led to the {TOPIC}.",
    operations=(SEARCH,),
    seed=seed,
    wordings=WORDINGS,
    personas=investigates(STEPS),
    budget=RunBudget(max_turns=60, usual_turns=USUAL, max_tool_calls=60),
    reasons=frozenset(),
    may_complete=True,
    done=investigated,
    met=always,
    violation=nothing_wrong,
    fit=fit,
    lesson=(
        "A limit on turns alone stops good work: be patient while every step finds something new."
    ),
)


def edit(value: str) -> Calls:
    """Set the order's status."""
    return call("edit", resource=ORDER, field="status", value=value)


def edited_and_read(events: Sequence[WorldEvent]) -> bool:
    """Four edits, and the order read after each."""
    return mutations(events) == 4 and len(sent(events, "read")) == 5  # noqa: PLR2004


READ_ORDER = call("read", resource=ORDER)

LOOKALIKES = (
    lookalike(
        HOSTILE,
        "reread-after-edit",
        "a record is read again after every own edit",
        guards="stagnant read",
        operations=(READ, EDIT),
        done=edited_and_read,
        personas=ways(
            [
                READ_ORDER,
                *(step for n in range(4) for step in (edit(f"step {n}"), READ_ORDER)),
                Say(text="The order is up to date."),
            ],
            REPORT.text,
            WORDINGS,
        ),
    ),
)

CASE = with_lookalikes(HOSTILE, LOOKALIKES)
