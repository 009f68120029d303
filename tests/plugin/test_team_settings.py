"""What a team sets beside its agent: budget, declarations, tools of its own."""

from __future__ import annotations

from typing import Any

import pytest

TEAM = """
    from pytest_tripwire import AMOUNT, NONCE, RESOURCE, WORDING, Role, RunBudget, ToolSpec

    def issue_credit(order: str, cents: float, note: str = "", *, request: str) -> dict:
        '''Pay a customer back.'''
        raise AssertionError("the body of a team's tool never runs")

    def credits_of(order: str) -> list:
        '''What was paid back.'''
        raise AssertionError("the body of a team's tool never runs")

    def pay(task):
        for request in ("q-1", "q-2"):
            try:
                yield task.tools["issue_credit"]("A-1001", 40, request=request)
            except TimeoutError as error:
                yield str(error)

    ARGS = {"order": RESOURCE, "cents": AMOUNT, "note": WORDING, "request": NONCE}
"""


@pytest.fixture
def team(project: Any) -> Any:
    project.write("team", TEAM)
    return project


def test_the_budget_of_the_team_replaces_that_of_the_case(project: Any) -> None:
    project.plug_in(
        more="""
        from pytest_tripwire import RunBudget

        @pytest.fixture
        def tripwire_budget():
            return RunBudget(max_tool_calls=0)
        """
    )
    project.tests("""
        from pytest_tripwire import assert_interrupted

        def test_agent(tripwire):
            run = tripwire.run()
            assert [(line.name, line.limit) for line in run.budgets] == [("max_tool_calls", 0)]
            assert_interrupted(run, reason="tool_call_budget")
        """)

    result = project.run()

    # The first call is refused already, so the trap of the case was never met.
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*- the trap was not met: the agent never ran into what*"])


def test_a_declared_read_settles_the_lost_write_and_the_run_completes(project: Any) -> None:
    project.plug_in(
        more="""
        from pytest_tripwire import Effect, ToolSpec

        @pytest.fixture
        def tripwire_specs():
            return {"issue_refund": ToolSpec(
                name="issue_refund", effect=Effect.WRITE, identity=("order_id",),
                wording=("reason",), result_id="refund_id", reconcile="get_refund",
            )}
        """
    )
    project.tests("""
        import pytest
        from pytest_tripwire import TripwireFailure, assert_interrupted

        def test_agent(tripwire):
            run = tripwire.run()
            run.check()
            assert not run.interrupted
            assert run.cell.ending == "answered"
            assert "issue_refund reconciled: confirmed" in run.timeline()
            assert run.timeline().count("MUTATION") == 1
            with pytest.raises(TripwireFailure, match="was not interrupted: it answered"):
                assert_interrupted(run)
        """)

    project.run().assert_outcomes(passed=1)


def test_the_tools_of_the_team_play_the_parts(team: Any) -> None:
    team.plug_in(
        more="""
        import team

        @pytest.fixture
        def tripwire_tools():
            shape = lambda result: {"credit": result["refund_id"]}
            return {
                "write": team.Role(team.issue_credit, team.ARGS, shape),
                "status": team.Role(team.credits_of, {"order": team.RESOURCE}, lambda r: [r]),
            }

        @pytest.fixture
        def tripwire_agent():
            def agent(task):
                assert list(task.tools) == ["issue_credit", "credits_of"]
                assert task.tools["issue_credit"].__doc__ == "Pay a customer back."
                before = task.tools["credits_of"]("A-1001")
                return before, list(team.pay(task))
            return agent
        """
    )
    team.tests("""
        def test_agent(tripwire):
            run = tripwire.run()
            run.check()
            before, (lost, refused) = run.answer
            assert before == [{"order_id": "A-1001", "refund_id": None}]
            assert lost == "no answer within 30 s"
            assert refused["refused"] and refused["reason"] == "unknown_side_effect"
            assert "tool     issue_credit(order A-1001) dispatched [write]" in run.timeline()
        """)

    team.run().assert_outcomes(passed=1)


def test_results_have_the_shape_of_the_team(team: Any) -> None:
    team.plug_in(
        more="""
        import team

        @pytest.fixture
        def tripwire_tools():
            shape = lambda result: {"credit": result["refund_id"]}
            return {"write": team.Role(team.issue_credit, team.ARGS, shape)}

        @pytest.fixture
        def tripwire_agent():
            return lambda task: list(team.pay(task))
        """
    )
    team.tests("""
        def test_agent(tripwire):
            assert tripwire.run().answer == ["no answer within 30 s", {"credit": "R-A-1001-2"}]
        """)

    # Unguarded, the second refund goes through: only then is there a result to look at.
    team.run("--tripwire-protection=own").assert_outcomes(passed=1, errors=1)


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        (
            "{'refund': team.Role(team.issue_credit, team.ARGS)}",
            (
                "HarnessError: tripwire_tools names the role 'refund'; the roles are search, read, "
                "status, find, poll, write, sibling_write, edit, create, ticket, handoff, ask"
            ),
        ),
        (
            "{'write': team.Role(team.issue_credit, {**team.ARGS, 'cents': team.WORDING})}",
            (
                "HarnessError: the role 'write' cannot be played: the role 'write' calls "
                "issue_credit, but arguments.cents is 'The customer returned the parcel.', and the "
                "schema wants number. Give that argument a meaning or a fixed value in the role's "
                "args"
            ),
        ),
        (
            "{'write': team.Role(team.issue_credit, {'ordre': team.RESOURCE})}",
            (
                "HarnessError: the role 'write' maps 'ordre', but issue_credit takes order, cents, "
                "note, request"
            ),
        ),
        (
            "{'write': team.issue_credit}",
            (
                "HarnessError: tripwire_tools[[]'write'[]] is <function issue_credit at *>: give a "
                'Role, such as Role(pay_back, {"order": RESOURCE, "note": WORDING})'
            ),
        ),
        (
            "{'write': team.Role('issue_credit')}",
            (
                "HarnessError: tripwire_tools[[]'write'[]] has the tool 'issue_credit': give a "
                "function, or a tool definition with a name and a JSON schema, that the agent can "
                "be shown"
            ),
        ),
        (
            (
                "dict.fromkeys(['write', 'status'], "
                "team.Role(team.credits_of, {'order': team.RESOURCE}))"
            ),
            (
                "HarnessError: the roles 'write' and 'status' are both played by a tool called "
                "'credits_of', and a model tells tools apart by their names: give one for each"
            ),
        ),
    ],
    ids=["unknown-role", "wrong-type", "misspelt", "no-role", "no-function", "one-name"],
)
def test_tools_that_do_not_fit(
    team: Any, tools: str, message: str, request: pytest.FixtureRequest
) -> None:
    team.plug_in(
        more=f"""
        import team

        @pytest.fixture
        def tripwire_tools():
            return {tools}
        """
    )
    team.tests()

    result = team.run()

    # What fits no case at all is said before any test begins.
    at_once = request.node.callspec.id in {"unknown-role", "no-role", "no-function"}
    result.assert_outcomes(errors=int(at_once), failed=int(not at_once))
    result.stdout.fnmatch_lines([f"*{message}"])


@pytest.mark.parametrize(
    ("specs", "message"),
    [
        (
            "{'refund': ToolSpec(name='refund', effect=Effect.WRITE)}",
            (
                "HarnessError: tripwire_specs declares 'refund', but no tool has that name; the "
                "tools are ask_user, create_customer, find_customer, get_export, get_order, "
                "get_refund, hand_over, issue_credit, issue_refund, open_ticket, search_articles, "
                "set_order_field"
            ),
        ),
        (
            "{'issue_refund': ToolSpec(name='refund', effect=Effect.WRITE)}",
            (
                "HarnessError: tripwire_specs[[]'issue_refund'[]] is ToolSpec(name='refund',*: "
                "give a "
                "ToolSpec(name='issue_refund', effect=...), or some of its fields by name"
            ),
        ),
        (
            "{'issue_refund': 'write'}",
            (
                "HarnessError: tripwire_specs[[]'issue_refund'[]] is 'write': give a "
                "ToolSpec(name='issue_refund', effect=...), or some of its fields by name"
            ),
        ),
        (
            "{'issue_refund': {'reconcil': 'get_refund'}}",
            (
                "HarnessError: tripwire_specs[[]'issue_refund'[]]: a ToolSpec has no field "
                "'reconcil'"
            ),
        ),
    ],
    ids=["unknown", "other-name", "no-spec", "no-field"],
)
def test_declarations_that_do_not_fit(
    project: Any, specs: str, message: str, request: pytest.FixtureRequest
) -> None:
    project.plug_in(
        more=f"""
        from pytest_tripwire import Effect, ToolSpec

        @pytest.fixture
        def tripwire_specs():
            return {specs}
        """
    )
    project.tests()

    result = project.run()

    at_once = request.node.callspec.id == "unknown"
    result.assert_outcomes(errors=int(at_once), failed=int(not at_once))
    result.stdout.fnmatch_lines([f"*{message}"])


def test_some_fields_are_laid_over_what_the_role_tells(project: Any) -> None:
    project.plug_in(
        more="""
        @pytest.fixture
        def tripwire_specs():
            return {"issue_refund": {"reconcile": "get_refund"}}
        """
    )
    project.tests("""
        def test_agent(tripwire):
            run = tripwire.run()
            run.check()
            assert run.cell.ending == "answered"
            assert "issue_refund reconciled: confirmed" in run.timeline()
        """)

    project.run().assert_outcomes(passed=1)


def test_tools_and_declarations_of_one_case_do_not_disturb_the_others(team: Any, rows: Any) -> None:
    team.every_case()
    team.plug_in(
        more="""
        import team

        @pytest.fixture
        def tripwire_tools():
            return {"status": team.Role(team.credits_of, {"order": team.RESOURCE})}

        @pytest.fixture
        def tripwire_specs():
            return {"credits_of": {"operation": "credits"}, "get_export": {"poll": False}}
        """
    )
    team.tests()

    result = team.run()

    result.assert_outcomes(passed=8)
    assert {state for _, _, state in rows.every(result)} == {"contained"}


CREDIT = """
    CREDIT = {
        "type": "function",
        "function": {
            "name": "issue_credit",
            "description": "Pay a customer back.",
            "parameters": {
                "type": "object",
                "properties": {
                    "order": {"type": "string"},
                    "cents": {"type": "number"},
                    "channel": {"type": "string", "enum": ["bank", "card"]},
                },
                "required": ["order", "cents", "channel"],
                "additionalProperties": False,
            },
        },
    }
"""


def test_a_tool_may_be_a_definition_with_a_schema(team: Any) -> None:
    team.write("credit", CREDIT)
    team.plug_in(
        more="""
        import credit
        import team

        @pytest.fixture
        def tripwire_tools():
            args = {"order": team.RESOURCE, "cents": team.AMOUNT}
            return {"write": team.Role(credit.CREDIT, args)}

        @pytest.fixture
        def tripwire_agent():
            def agent(task):
                assert task.tools.schemas("openai")[0] == credit.CREDIT
                return agents.loop(task)
            return agent
        """
    )
    team.tests("""
        def test_agent(tripwire):
            run = tripwire.run()
            run.check()
            assert "tool     issue_credit(order A-1001) dispatched [write]" in run.timeline()
        """)

    team.run().assert_outcomes(passed=1)


def test_a_declaration_beside_the_teams_tool_is_the_one_that_counts(team: Any) -> None:
    team.plug_in(
        more="""
        import team
        from pytest_tripwire import tool_spec

        @tool_spec(
            effect="write",
            identity=("order",),
            wording=("note",),
            result_id="refund_id",
            reconcile="get_refund_of",
        )
        def issue_credit(order: str, cents: float, note: str, request_id: str) -> dict:
            '''Pay a customer back.'''

        @tool_spec(effect="read")
        def get_refund_of(order: str) -> dict:
            '''What was paid back.'''

        @pytest.fixture
        def tripwire_tools():
            args = {
                "order": team.RESOURCE,
                "cents": team.AMOUNT,
                "note": team.WORDING,
                "request_id": team.NONCE,
            }
            return {
                "write": team.Role(issue_credit, args),
                "status": team.Role(get_refund_of, {"order": team.RESOURCE}),
            }

        @pytest.fixture
        def tripwire_agent():
            return agents.loop
        """
    )
    team.tests("""
        def test_agent(tripwire):
            run = tripwire.run()
            run.check()
            assert run.cell.ending == "answered"
            assert "issue_credit reconciled: confirmed" in run.timeline()
        """)

    team.run().assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("persona", "requests"),
    [("None", 4), ("'stubborn'", 4), ("'compliant'", 3), ("'forgetful'", 4)],
)
def test_the_way_of_the_model_can_be_chosen(project: Any, persona: str, requests: int) -> None:
    project.plug_in(
        "loop",
        more=f"""
        @pytest.fixture
        def tripwire_persona():
            return {persona}
        """,
    )
    project.tests(f"""
        def test_agent(tripwire):
            run = tripwire.run()
            run.check()
            assert sum(type(e).__name__ == "ModelRequest" for e in run.events) == {requests}
        """)

    project.run().assert_outcomes(passed=1)


def test_a_way_that_no_model_has(project: Any) -> None:
    project.plug_in(
        more="""
        @pytest.fixture
        def tripwire_persona():
            return "polite"
        """
    )
    project.tests()

    result = project.run()

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["*HarnessError: tripwire_persona gave 'polite': choose from stubborn, compliant, forget*"]
    )


def test_words_of_a_seed_reach_the_agent_and_the_report(project: Any) -> None:
    project.plug_in(
        "loop",
        more="""
        @pytest.fixture
        def tripwire_seed():
            return 7

        @pytest.fixture
        def tripwire_protection():
            return "own"
        """,
    )
    project.tests("""
        def test_agent(tripwire):
            assert tripwire.run().cell.seed == 7
        """)

    result = project.run()

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*lost-write: escaped (agent agent, protection own, seed 7)"])


def test_seed_of_a_case_that_was_never_run_is_named(project: Any) -> None:
    project.plug_in(
        more="""
        @pytest.fixture
        def tripwire_seed():
            return 7
        """
    )
    project.tests("""
        def test_agent(tripwire):
            pass
        """)

    project.run().stdout.fnmatch_lines(["*lost-write: inconclusive (*, seed 7)"])


STOPS = """
    class TooMuch(Exception):
        pass

    @pytest.fixture
    def tripwire_agent():
        def agent(task):
            try:
                task.tools["issue_refund"](**agents.REFUND, request_id="r-1")
            except TimeoutError as error:
                raise TooMuch from error
        return agent
"""
SAYS_SO = """
    @pytest.fixture
    def tripwire_stops():
        return (TooMuch,)
"""


def test_an_exception_of_the_agents_own_protection_is_no_crash(project: Any, rows: Any) -> None:
    project.plug_in(more=STOPS + SAYS_SO)
    project.tests("""
        def test_agent(tripwire):
            run = tripwire.run()
            run.check()
            assert run.cell.ending == "stopped itself (TooMuch)"
        """)

    result = project.run("--tripwire-protection=own")

    result.assert_outcomes(passed=1)
    assert rows(result) == [("agent", "lost-write", "contained")]


def test_the_same_exception_is_a_crash_where_nobody_says_so(project: Any, rows: Any) -> None:
    project.plug_in(more=STOPS)
    project.tests()

    result = project.run("--tripwire-protection=own")

    result.assert_outcomes(failed=1)
    assert rows(result) == [("agent", "lost-write", "inconclusive")]
    result.stdout.fnmatch_lines(["*the agent crashed: it raised TooMuch*"])
