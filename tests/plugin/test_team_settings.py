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
    result.stdout.fnmatch_lines(["*- the trap was met: the agent never ran into what*"])


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
                "BindingError: tripwire_tools names the role 'refund', which the case does not "
                "have; "
                "its roles are write, status"
            ),
        ),
        (
            "{'write': team.Role(team.issue_credit, {'order': team.RESOURCE})}",
            (
                "BindingError: issue_credit requires 'cents', and the role 'write' does not "
                "say what "
                "it means: add 'cents' to its args, with a Slot or a fixed value"
            ),
        ),
        (
            "{'write': team.Role(team.issue_credit, {'ordre': team.RESOURCE})}",
            (
                "BindingError: the role 'write' maps 'ordre', but issue_credit takes order, cents, "
                "note, request"
            ),
        ),
        (
            "{'write': team.issue_credit}",
            (
                "BindingError: tripwire_tools[[]'write'[]] is <function issue_credit at *>: give a "
                'Role, such as Role(issue_credit, {"order": RESOURCE, "note": WORDING})'
            ),
        ),
        (
            "{'write': team.Role('issue_credit')}",
            (
                "BindingError: tripwire_tools[[]'write'[]] has the tool 'issue_credit': give a "
                "function, whose name and signature the agent can be shown"
            ),
        ),
        (
            "dict.fromkeys(['write', 'status'], team.Role(team.credits_of, {'order': 1}))",
            (
                "BindingError: the roles 'write' and 'status' are both played by a tool called "
                "'credits_of', and a model tells tools apart by their names: give one for each"
            ),
        ),
    ],
    ids=["unknown-role", "unmapped", "misspelt", "no-role", "no-function", "one-name"],
)
def test_tools_that_do_not_fit(team: Any, tools: str, message: str) -> None:
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

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"E *{message}"])


@pytest.mark.parametrize(
    ("specs", "message"),
    [
        (
            "{'refund': ToolSpec(name='refund', effect=Effect.WRITE)}",
            (
                "HarnessError: tripwire_specs declares 'refund', but no tool of this case has that "
                "name; its tools are get_refund, issue_refund"
            ),
        ),
        (
            "{'issue_refund': ToolSpec(name='refund', effect=Effect.WRITE)}",
            (
                "HarnessError: tripwire_specs[[]'issue_refund'[]] is ToolSpec(name='refund',*: "
                "give a "
                "ToolSpec(name='issue_refund', effect=...)"
            ),
        ),
        (
            "{'issue_refund': 'write'}",
            (
                "HarnessError: tripwire_specs[[]'issue_refund'[]] is 'write': give a "
                "ToolSpec(name='issue_refund', effect=...)"
            ),
        ),
    ],
    ids=["unknown", "other-name", "no-spec"],
)
def test_declarations_that_do_not_fit(project: Any, specs: str, message: str) -> None:
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

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([f"E *{message}"])
