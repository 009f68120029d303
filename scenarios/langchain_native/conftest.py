"""Plugs the box office in: its agents, and what their tools do."""

from collections.abc import Iterator, Mapping

import pytest

from pytest_tripwire import AMOUNT, NONCE, RESOURCE, WORDING, Agent, Role
from pytest_tripwire.world import CURSOR, DETAIL, TARGET


@pytest.fixture
def tripwire_agent() -> Iterator[Agent]:
    from langchain_native.agent import BoxOffice
    from langsmith import tracing_context

    # Whatever the environment says, a scripted run is nobody's trace.
    with tracing_context(enabled=False):
        yield BoxOffice()


@pytest.fixture
def tripwire_tools() -> Mapping[str, Role]:
    from langchain_native import agent as house

    from pytest_tripwire.adapters.langchain import definition

    money = {"ticket": RESOURCE, "euros": AMOUNT, "why": WORDING, "stub": NONCE}
    played = {
        "search": (house.search_programme, {"show": RESOURCE, "words": WORDING, "sheet": CURSOR}),
        "read": (house.show_ticket, {"ticket": RESOURCE}),
        "status": (house.show_payment, {"ticket": RESOURCE}),
        "write": (house.pay_back, money),
        "sibling_write": (house.give_credit, money),
        "handoff": (
            house.transfer_from("foyer"),
            {"colleague": TARGET, "ticket": RESOURCE, "why": WORDING, "known": DETAIL},
        ),
    }
    return {part: Role(definition(tool), means) for part, (tool, means) in played.items()}
