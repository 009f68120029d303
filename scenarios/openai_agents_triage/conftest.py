"""Plugs the repair shop in: its agents, and what their tools do."""

from collections.abc import Mapping

import pytest

from pytest_tripwire import AMOUNT, NONCE, RESOURCE, WORDING, Agent, Role
from pytest_tripwire.world import CURSOR


@pytest.fixture
def tripwire_agent() -> Agent:
    from openai_agents_triage.agent import Shop

    return Shop()


@pytest.fixture
def tripwire_tools() -> Mapping[str, Role]:
    from openai_agents_triage import agent as repairs

    triage, billing, shipping = repairs.shop(None)
    money = {"order": RESOURCE, "euros": AMOUNT, "because": WORDING, "slip": NONCE}
    return {
        "search": Role(
            repairs.search_guide, {"subject": RESOURCE, "words": WORDING, "leaf": CURSOR}
        ),
        "read": Role(repairs.look_up_order, {"order": RESOURCE}),
        "status": Role(repairs.look_up_payment, {"order": RESOURCE}),
        "write": Role(repairs.pay_back, money),
        "sibling_write": Role(repairs.give_voucher, money),
        # An agent stands for the hand-off that the SDK makes of it.
        "handoff": Role((billing, shipping, triage)),
    }
