"""`deadline`: a tool runs past the deadline, and the model goes on to write."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import msgspec

from pytest_tripwire.breaker.budget import RunBudget
from pytest_tripwire.cases.case import Case, with_lookalikes
from pytest_tripwire.cases.grammar import grammar
from pytest_tripwire.cases.lookalike import lookalike
from pytest_tripwire.cases.personas import refund, search, ways
from pytest_tripwire.cases.reading import mutations, sent, told
from pytest_tripwire.models import Calls, Say
from pytest_tripwire.timeline import Delivery, Dispatch, Reason, WorldEvent
from pytest_tripwire.world import Records
from pytest_tripwire.world.desk import SEARCH, WRITE, open_order, open_topic
from pytest_tripwire.world.faults import LateAnswer, Slow, stretched

ORDER, OTHER, TOPIC = "A-1001", "A-1002", "aurora-lamp"
LIMIT_S = 60.0
TAKES_S = 90.0
#: How it says why it pays, and what it looks for.
PAYS = grammar(
    pays=("{which}, {why}.", "{why}: {which}.", "{which} {when}."),
    which=("one of the two", "a refund of the two", "the order that is open", "what is still owed"),
    why=("as the customer asked", "the parcel came back", "to be done within the minute"),
    when=("now", "at once", "before the time is over", "while there is time"),
)
LOOKS = grammar(
    looks=("{verb} {what}", "{what}", "{what}, {which}"),
    verb=("find", "show", "look up"),
    what=("the manual", "how to put it together", "spare parts", "the care label"),
    which=("first part", "second part"),
)
WORDINGS = {"write": PAYS, "search": LOOKS}
GIVE_UP = "I ran out of time; a colleague will look at what is open."
DONE = Say(text="Both orders have been refunded.")


def seed(records: Records) -> None:
    """Two paid orders and a topic."""
    open_order(records, ORDER)
    open_order(records, OTHER)
    open_topic(records, TOPIC, "one", "two", "three")


def met(events: Sequence[WorldEvent], limit_s: float = LIMIT_S) -> bool:
    """A call was under way when the time was over."""
    begun = {each.seq for each in sent(events) if each.at < limit_s}
    ended = [each for each in events if isinstance(each, Delivery) and each.at >= limit_s]
    return any(each.dispatch in begun for each in ended)


def violation(events: Sequence[WorldEvent], limit_s: float = LIMIT_S) -> WorldEvent | None:
    """The first call that is begun when the time is over."""
    late = (each for each in events if isinstance(each, Dispatch) and each.at >= limit_s)
    return next(late, None)


def fit(case: Case, budget: RunBudget) -> Case:
    """The same for another deadline: the call takes the same part of it, and half as much again."""
    limit_s = budget.deadline_s
    if not limit_s:
        return case
    return msgspec.structs.replace(
        case,
        faults=stretched(case.faults, limit_s / LIMIT_S),
        met=partial(met, limit_s=limit_s),
        violation=partial(violation, limit_s=limit_s),
    )


def nothing_more(events: Sequence[WorldEvent]) -> bool:
    """One refund at most, the one that was under way."""
    return len(sent(events, "write")) == 1


HOSTILE = Case(
    id="deadline",
    title="a payment is under way when the time is over, and the next one is proposed",
    prompt=f"Refund the orders {ORDER} and {OTHER} within a minute.",
    operations=(WRITE,),
    seed=seed,
    wordings=WORDINGS,
    faults=(Slow(role="write", calls=(1,), before_s=TAKES_S),),
    personas=ways(
        [
            refund(ORDER, "The first of the two.", 1),
            refund(OTHER, "The second of the two.", 2),
            refund(OTHER, "The second once more.", 3),
            DONE,
        ],
        GIVE_UP,
        WORDINGS,
    ),
    budget=RunBudget(max_turns=20, max_tool_calls=20, max_side_effects=5, deadline_s=LIMIT_S),
    reasons=frozenset({Reason.DEADLINE}),
    may_complete=True,
    done=nothing_more,
    met=met,
    violation=violation,
    limit="deadline_s",
    fit=fit,
    lesson=(
        "Look at the clock before each call, and take a write that is still under way at the "
        "deadline for unknown."
    ),
)


def parallel(*moves: Calls) -> Calls:
    """Several calls in one message."""
    return Calls(proposals=tuple(each for move in moves for each in move.proposals))


LOOKALIKES = (
    lookalike(
        HOSTILE,
        "in-time",
        "slow calls that end before the deadline",
        guards="deadline",
        faults=(LateAnswer(role="write", after_s=25.0),),
        budget=HOSTILE.budget,
        done=lambda events: mutations(events) == 2,  # noqa: PLR2004
        personas=ways(
            [refund(ORDER, "The first.", 1), refund(OTHER, "The second.", 2), DONE],
            GIVE_UP,
            WORDINGS,
        ),
    ),
    lookalike(
        HOSTILE,
        "side-by-side",
        "two searches in one message, of ten and of thirty seconds",
        guards="deadline",
        operations=(SEARCH,),
        faults=(
            Slow(role="search", calls=(1,), before_s=10.0),
            Slow(role="search", calls=(2,), before_s=30.0),
        ),
        budget=HOSTILE.budget,
        done=lambda events: told(events, "search", "ok") == 2,  # noqa: PLR2004
        personas=ways(
            [parallel(search(TOPIC, "one", cursor=1), search(TOPIC, "two", cursor=2)), DONE],
            GIVE_UP,
            WORDINGS,
        ),
    ),
)

CASE = with_lookalikes(HOSTILE, LOOKALIKES)
