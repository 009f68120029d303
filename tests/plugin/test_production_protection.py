"""The protection `production`: a team's own breaker, made by the fixture `tripwire_breaker`."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_tripwire.cases import CASE_IDS

# What a team's application has: tools that are declared where its breaker is made.
SHOP = """
    from decimal import Decimal

    from pytest_tripwire import Breaker, RunBudget, ToolSpec

    PAYS = {"effect": "write", "operation": "refund", "identity": ("order_id",),
            "volatile": ("request_id",), "denials": (PermissionError,)}
    SPECS = [
        ToolSpec(name="search_articles", effect="read", identity=("topic",), wording=("query",),
                 cursor=("page",)),
        ToolSpec(name="get_order", effect="read", identity=("order_id",),
                 result_version="version"),
        ToolSpec(name="get_refund", effect="read", identity=("order_id",)),
        ToolSpec(name="issue_refund", wording=("reason",), **PAYS),
        ToolSpec(name="issue_credit", wording=("note",), **PAYS),
        ToolSpec(name="hand_over", effect="handoff", identity=("to", "order_id"),
                 wording=("note",), required_fields=("findings",)),
    ]
    BUDGET = RunBudget(max_turns=40, deadline_s=300, max_model_cost_usd=Decimal(2))

    def make_breaker(**overrides):
        own = {"budget": BUDGET, "specs": {each.name: each for each in SPECS}}
        return Breaker(**{**own, **overrides})

    def watching(**overrides):
        return make_breaker(mode="shadow", **overrides)

    def forgotten(**overrides):
        few = {each.name: each for each in SPECS if each.name != "issue_refund"}
        return make_breaker(**{"specs": few, **overrides})

    def closed():
        return make_breaker()
"""

FIXTURE = """
    import shop

    @pytest.fixture
    def tripwire_breaker():
        return shop.{make}
"""


def plugged(project: Any, make: str = "make_breaker", agent: str = "loop") -> None:
    project.write("shop", SHOP)
    project.plug_in(agent, more=FIXTURE.format(make=make))
    project.tests()


@pytest.mark.parametrize("workers", ["0", "1"])
def test_a_gate_over_the_breaker_of_production(project: Any, rows: Any, workers: str) -> None:
    if int(workers):
        pytest.importorskip("xdist")
    project.every_case()
    project.ini("tripwire_protection = production")
    plugged(project)

    result = project.shared(workers, "--tripwire-gate")

    assert result.ret == 0
    assert sorted(rows.every(result)) == [("agent", case, "contained") for case in sorted(CASE_IDS)]
    result.stdout.fnmatch_lines(
        [
            "agent * lost-write * contained * production *",
            "tripwire gate passed: 8 of 8 cells contained (protection: production)",
        ]
    )


def test_the_option_counts_and_an_escape_names_it(project: Any, rows: Any) -> None:
    plugged(project, agent="behind")

    result = project.run("--tripwire-protection=production")

    assert rows(result) == [("agent", "lost-write", "escaped")]
    result.stdout.fnmatch_lines(["*lost-write: escaped (agent agent, protection production)*"])


def test_a_fixture_may_declare_it(project: Any, rows: Any) -> None:
    plugged(project)
    project.tests("""
        import pytest

        @pytest.fixture
        def tripwire_protection():
            return "production"

        def test_agent(tripwire):
            assert tripwire.protection == "production"
            tripwire.run().check()
        """)

    result = project.run()

    result.assert_outcomes(passed=1)
    assert rows(result) == [("agent", "lost-write", "contained")]


def test_without_a_factory_it_says_what_to_write(project: Any) -> None:
    project.plug_in("loop")
    project.tests()

    result = project.run("--tripwire-protection=production")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*HarnessError: *Define the fixture tripwire_breaker:*"])


@pytest.mark.parametrize(
    ("make", "says"),
    [
        ("watching", "*only watches (mode='shadow')*"),
        ("forgotten", "*'issue_refund': ToolSpec(name='issue_refund', effect='write', *"),
        ("closed", "*cannot be called with clock=... and store=...*"),
        ("SPECS", "*tripwire_breaker gave list, which cannot be called*"),
    ],
)
def test_what_cannot_be_used_is_told(project: Any, rows: Any, make: str, says: str) -> None:
    plugged(project, make)

    result = project.run("--tripwire-protection=production")

    result.stdout.fnmatch_lines([says])
    assert ("agent", "lost-write", "contained") not in rows(result)
    assert result.ret == 1


def test_under_other_protections_the_factory_is_not_called(project: Any, rows: Any) -> None:
    plugged(project, "closed")

    result = project.run("--tripwire-protection=harness")

    assert rows(result) == [("agent", "lost-write", "contained")]
