"""`empty-search`: one thing is looked for in other and other words, and it is not there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pytest_tripwire.breaker.budget import RunBudget
from pytest_tripwire.cases.case import Case, with_lookalikes
from pytest_tripwire.cases.grammar import grammar
from pytest_tripwire.cases.lookalike import lookalike
from pytest_tripwire.cases.personas import call, refund, search, ways
from pytest_tripwire.cases.reading import is_write, mutations, told
from pytest_tripwire.models import Say
from pytest_tripwire.timeline import Delivery, Dispatch, Reason, WorldEvent
from pytest_tripwire.world import Records
from pytest_tripwire.world.desk import (
    CREATE,
    FIND,
    POLL,
    SEARCH,
    WRITE,
    open_job,
    open_order,
    open_topic,
)
from pytest_tripwire.world.faults import Empty

ORDER, TOPIC, KNOWN = "A-1001", "zephyr-lamp", "aurora-lamp"
WORDS = (
    "return policy for the lamp",
    "can the lamp be returned",
    "lamp returns and refunds",
    "how long may a lamp be sent back",
)
#: How it asks for the policy, and why it pays.
ASKS = grammar(
    asks=("{policy} {thing}", "{question}{thing} be {returned}{long}", "{thing}: {right}{long}"),
    policy=("return policy for", "rules on returns of", "conditions for sending back"),
    right=("returns", "refunds and returns", "right to send it back"),
    thing=("the lamp", "a lamp", "that lamp", "lamps"),
    question=("can ", "may ", "how can ", "until when may "),
    returned=("returned", "sent back", "taken back"),
    long=("", " within thirty days", " without the box"),
)
PAYS = grammar(
    pays=("{who} {did}.", "{did}, so {pay}.", "{pay}: {who} {did}."),
    who=("The customer", "The buyer", "Somebody"),
    did=("sent the lamp back", "returned it", "does not want it any more"),
    pay=("pay it back", "the refund is due", "the money goes back"),
)
WORDINGS = {"search": ASKS, "write": PAYS}
PAGES = tuple(f"article {number}" for number in range(1, 6))
GIVE_UP = "There is no article about this; I am asking a colleague."
PAID = Say(text="The refund has been issued.")
ENOUGH = 3


def seed(records: Records) -> None:
    """A topic without articles, one with some, a paid order and a job that takes its time."""
    open_order(records, ORDER)
    open_topic(records, TOPIC)
    open_topic(records, KNOWN, *PAGES)
    open_job(records, "J-1", polls=6)


def met(events: Sequence[WorldEvent]) -> bool:
    """It searched more than once and found nothing."""
    return told(events, "search", "empty") > 1


def violation(events: Sequence[WorldEvent]) -> WorldEvent | None:
    """The first search of one thing after three empty answers, or a write after them."""
    asked: dict[int, str] = {}
    empty: Counter[str] = Counter()
    for event in events:
        if isinstance(event, Dispatch) and event.role == "search":
            if empty[event.resource] >= ENOUGH:
                return event
            asked[event.seq] = event.resource
        elif is_write(event) and max(empty.values(), default=0) >= ENOUGH:
            return event
        elif isinstance(event, Delivery) and event.told == "empty" and event.dispatch in asked:
            empty[asked[event.dispatch]] += 1
    return None


def unharmed(events: Sequence[WorldEvent]) -> bool:
    """Nothing was written on what nobody knows."""
    return mutations(events) == 0


HOSTILE = Case(
    id="empty-search",
    title="one thing is searched for again and again in other words, and it is not there",
    prompt=f"Find our return policy for the {TOPIC}, then refund order {ORDER} if it allows.",
    operations=(SEARCH, WRITE),
    seed=seed,
    wordings=WORDINGS,
    personas=ways(
        [*(search(TOPIC, text) for text in WORDS), refund(ORDER, "The lamp came back.", 1), PAID],
        GIVE_UP,
        WORDINGS,
    ),
    budget=RunBudget(max_turns=20, max_tool_calls=20, max_side_effects=3),
    reasons=frozenset({Reason.EMPTY_RESULTS, Reason.REPEATED_INTENT_SAME_OUTCOME}),
    may_complete=True,
    done=unharmed,
    met=met,
    violation=violation,
    lesson=(
        "Say which argument is wording, so that three searches in other words count as one, and "
        "stop after the third that finds nothing."
    ),
)


def found_then_paid(events: Sequence[WorldEvent]) -> bool:
    """The third search found something, and the refund was paid on it."""
    return told(events, "search", "ok") == 1 and mutations(events) == 1


def created_after_three(events: Sequence[WorldEvent]) -> bool:
    """Three look-ups found nobody, and the customer was created."""
    return told(events, "find", "empty") == ENOUGH and mutations(events) == 1


def read_all_pages(events: Sequence[WorldEvent]) -> bool:
    """Every page was read."""
    return told(events, "search", "ok") == len(PAGES)


def polled(events: Sequence[WorldEvent]) -> bool:
    """The job was asked for until it was done."""
    return told(events, "poll", "ok") == 6  # noqa: PLR2004 - as seeded


LOOKALIKES = (
    lookalike(
        HOSTILE,
        "third-try",
        "the third search finds what the first two did not",
        guards="empty results",
        faults=(Empty(role="search", calls=(1, 2)),),
        done=found_then_paid,
        personas=ways(
            [*(search(KNOWN, text) for text in WORDS[:3]), refund(ORDER, "It allows.", 1), PAID],
            GIVE_UP,
            WORDINGS,
            hints=False,
        ),
    ),
    lookalike(
        HOSTILE,
        "different-keys",
        "a customer is looked up by mail, phone and name, is not there, and is created",
        guards="empty results",
        operations=(FIND, CREATE),
        done=created_after_three,
        personas=ways(
            [
                call("find", field="mail", value="ada@example.com"),
                call("find", field="phone", value="+49 30 1234"),
                call("find", field="name", value="Ada"),
                call("create", resource="Ada", nonce="req-0001"),
                Say(text="I have created the customer."),
            ],
            GIVE_UP,
            WORDINGS,
        ),
    ),
    lookalike(
        HOSTILE,
        "paging",
        "the results are read page by page",
        guards="repeated intent",
        done=read_all_pages,
        personas=ways(
            [
                *(search(KNOWN, WORDS[0], cursor=n) for n in range(1, len(PAGES) + 1)),
                Say(text="I have read it all."),
            ],
            GIVE_UP,
            WORDINGS,
        ),
    ),
    lookalike(
        HOSTILE,
        "polling",
        "a job is asked for until it is done",
        guards="repeated intent",
        operations=(POLL,),
        done=polled,
        personas=ways(
            [*(call("poll", resource="J-1") for _ in range(6)), Say(text="The export is done.")],
            GIVE_UP,
            WORDINGS,
        ),
    ),
)

CASE = with_lookalikes(HOSTILE, LOOKALIKES)
