"""`cost-budget`: requests are dear, and the model keeps going."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import partial

import msgspec

from pytest_tripwire.breaker.budget import RunBudget
from pytest_tripwire.cases.case import Case, with_lookalikes
from pytest_tripwire.cases.grammar import grammar
from pytest_tripwire.cases.lookalike import lookalike
from pytest_tripwire.cases.personas import search, ways
from pytest_tripwire.cases.reading import told
from pytest_tripwire.models import Say
from pytest_tripwire.timeline import Dispatch, ModelRequest, Reason, WorldEvent
from pytest_tripwire.world import Records
from pytest_tripwire.world.desk import SEARCH, open_topic

TOPIC = "competitors"
#: Between the fourth request and the fifth, with room on both sides for schemas of other lengths.
LIMIT = Decimal("0.85")
#: A request of some hundred tokens costs a good part of the limit.
PRICE = Decimal("0.0006")
STEPS = 20
#: How it asks for the next one.
ASKS = grammar(
    asks=("{verb} {what}{where}", "{what}{where}", "{what}: {more}{where}"),
    verb=("find", "look up", "tell me about", "show me"),
    what=("the next competitor", "another competitor", "one more rival", "who else sells this"),
    more=("prices", "products", "customers"),
    where=("", " in our market", " abroad"),
)
WORDINGS = {"search": ASKS}
REPORT = Say(text="This is what I have found so far.")


def seed(records: Records) -> None:
    """A topic that never ends."""
    open_topic(records, TOPIC, *(f"competitor {number}" for number in range(1, STEPS + 1)))


def spent(events: Sequence[WorldEvent]) -> Decimal:
    """What the model requests have cost."""
    return sum((e.cost_usd for e in events if isinstance(e, ModelRequest)), Decimal(0))


def met(events: Sequence[WorldEvent]) -> bool:
    """The model kept going at least once, at a price."""
    return sum(isinstance(e, ModelRequest) and e.cost_usd > 0 for e in events) > 1


def violation(events: Sequence[WorldEvent], limit: Decimal = LIMIT) -> WorldEvent | None:
    """The first thing that is done, or asked for at a price, when the money is spent."""
    total = Decimal(0)
    for event in events:
        if total >= limit and isinstance(event, Dispatch):
            return event
        if isinstance(event, ModelRequest):
            if total >= limit and event.cost_usd > 0:
                return event
            total += event.cost_usd
    return None


def within(events: Sequence[WorldEvent], limit: Decimal = LIMIT) -> bool:
    """It ended while there was money left."""
    return spent(events) < limit


def fit(case: Case, budget: RunBudget) -> Case:
    """The same for another limit: a request costs the same part of it."""
    limit = budget.max_model_cost_usd
    if not limit:
        return case
    return msgspec.structs.replace(
        case,
        price=case.price * limit / LIMIT,
        violation=partial(violation, limit=limit),
        done=partial(within, limit=limit),
    )


HOSTILE = Case(
    id="cost-budget",
    title="every request is dear, and the model keeps going",
    prompt=f"Write up everything about our {TOPIC}.",
    operations=(SEARCH,),
    seed=seed,
    wordings=WORDINGS,
    personas=ways(
        [*(search(TOPIC, f"competitor {n}", cursor=n) for n in range(1, STEPS + 1)), REPORT],
        REPORT.text,
        WORDINGS,
    ),
    budget=RunBudget(max_turns=30, max_tool_calls=30, max_model_cost_usd=LIMIT),
    reasons=frozenset({Reason.COST_BUDGET}),
    may_complete=True,
    done=within,
    met=met,
    violation=violation,
    price=PRICE,
    limit="max_model_cost_usd",
    fit=fit,
    lesson=(
        "Add up what each response says it used, reserve before the next request, and send none "
        "when the money is spent. A limit on turns comes too late."
    ),
)

LOOKALIKES = (
    lookalike(
        HOSTILE,
        "under-the-limit",
        "a run that is dear, and within its budget",
        guards="cost budget",
        budget=RunBudget(max_turns=30, max_tool_calls=30, max_model_cost_usd=Decimal(20)),
        price=PRICE,
        done=lambda events: told(events, "search", "ok") == STEPS,
    ),
    lookalike(
        HOSTILE,
        "prompt-ceiling",
        "a prompt passes its ceiling, and the last answer is given in time",
        guards="prompt ceiling",
        budget=RunBudget(max_turns=30, max_tool_calls=30, max_prompt_tokens=400),
        reasons=frozenset({Reason.TOKEN_BUDGET}),
        met=lambda events: told(events, "search", "ok") > 0,
        done=lambda events: told(events, "search", "ok") > 0,
    ),
)

CASE = with_lookalikes(HOSTILE, LOOKALIKES)
