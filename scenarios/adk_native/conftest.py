"""Plugs the bicycle hire in: its agents, and what their tools do."""

from collections.abc import Mapping

import pytest

from pytest_tripwire import AMOUNT, NONCE, RESOURCE, WORDING, Agent, Role
from pytest_tripwire.world import CURSOR, DETAIL, TARGET


@pytest.fixture
def tripwire_agent() -> Agent:
    from adk_native.agent import Hire

    return Hire()


@pytest.fixture
def tripwire_tools() -> Mapping[str, Role]:
    from adk_native import agent as hire

    money = {"booking": RESOURCE, "euros": AMOUNT, "because": WORDING, "slip": NONCE}
    passed_on = {"colleague": TARGET, "booking": RESOURCE, "because": WORDING, "known": DETAIL}
    return {
        "search": Role(
            hire.search_handbook, {"subject": RESOURCE, "words": WORDING, "leaf": CURSOR}
        ),
        "read": Role(hire.look_up_booking, {"booking": RESOURCE}),
        "status": Role(hire.look_up_payment, {"booking": RESOURCE}),
        "write": Role(hire.pay_back, money),
        "sibling_write": Role(hire.give_voucher, money),
        "handoff": Role(hire.pass_on, passed_on),
    }
