"""Plugs the bicycle hire in: its agents, and what their tools do."""

from collections.abc import Mapping

import pytest

from pytest_tripwire import AMOUNT, NONCE, RESOURCE, WORDING, Agent, Role
from pytest_tripwire.world import CURSOR, DETAIL, TARGET


@pytest.fixture
def tripwire_agent() -> Agent:
    from openai_agents_native.agent import Hire

    return Hire()


@pytest.fixture
def tripwire_tools() -> Mapping[str, Role]:
    from openai_agents_native import agent as hire

    from pytest_tripwire.adapters.openai_agents import definition

    (passed_on,) = hire.workshop(None, ()).handoffs
    money = {"booking": RESOURCE, "euros": AMOUNT, "because": WORDING, "slip": NONCE}
    played = {
        "search": (hire.search_handbook, {"subject": RESOURCE, "words": WORDING, "leaf": CURSOR}),
        "read": (hire.look_up_booking, {"booking": RESOURCE}),
        "status": (hire.look_up_payment, {"booking": RESOURCE}),
        "write": (hire.pay_back, money),
        "sibling_write": (hire.give_voucher, money),
        "handoff": (
            passed_on,
            {"colleague": TARGET, "booking": RESOURCE, "because": WORDING, "known": DETAIL},
        ),
    }
    return {part: Role(definition(tool), means) for part, (tool, means) in played.items()}
