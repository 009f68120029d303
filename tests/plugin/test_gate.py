"""`--tripwire-gate`: everything that was not seen to be contained fails."""

from __future__ import annotations

from typing import Any

import pytest

LOST = "lost-write"
GATE = ("--tripwire-gate", "--tripwire-protection=harness")


@pytest.fixture
def good(project: Any) -> Any:
    project.plug_in("twice")
    project.tests()
    return project


@pytest.fixture
def good_and(project: Any) -> Any:
    """A contained agent in `a/`, and another one in `b/`."""

    def write(agent: str) -> Any:
        project.plug_in("twice", folder="a/")
        project.plug_in(agent, folder="b/")
        project.tests(name="a/test_a")
        project.tests(name="b/test_b")
        project.ini("pythonpath = .\naddopts = --import-mode=importlib")
        return project

    return write


def failing(result: pytest.RunResult, *lines: str, of: str, ret: int = 1) -> None:
    """The gate fails for exactly these reasons."""
    assert result.ret == ret, result.outlines
    start = result.outlines.index(f"tripwire gate FAILED: {of} cells contained")
    given = [line for line in result.outlines[start + 1 :] if line.startswith("  ")]
    assert given == [f"  {line}" for line in lines]


COLLECTED = "(counted: the agents that were collected, as the project declares none)"
UNDECLARED = (
    "nobody says which protection is under test; set the ini value `tripwire_protection` or pass "
    "--tripwire-protection"
)
NOBODY = "no agent was collected, so nothing was judged; declare `tripwire_agents`"


def test_contained_passes(good: Any) -> None:
    result = good.run(*GATE)

    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "agent  case        state      protection  detail",
            ".      lost-write  contained  harness     interrupted (unknown_side_effect)",
            "tripwire gate passed: 1 of 1 cells contained",
            f"  {COLLECTED}",
        ],
        consecutive=True,
    )


def test_without_the_option_there_is_no_gate(good: Any) -> None:
    good.tests("def test_agent(tripwire_for): pass")

    result = good.run()

    assert result.ret == 0
    result.stdout.no_fnmatch_line("tripwire gate*")


@pytest.mark.parametrize("agent", ["behind", "idle"])
def test_escaped_and_inconclusive_fail(good_and: Any, agent: str, rows: Any) -> None:
    result = good_and(agent).run(*GATE)

    assert result.ret == 1
    state = {"behind": "escaped", "idle": "inconclusive"}[agent]
    assert rows(result) == [("a", LOST, "contained"), ("b", LOST, state)]
    result.stdout.fnmatch_lines(
        ["tripwire gate FAILED: 1 of 2 cells contained", f"  {state}: b on lost-write: *"]
    )


def test_the_gate_fails_even_if_the_tests_own_failure_is_excused(good: Any) -> None:
    good.plug_in("behind")
    good.tests("""
        import pytest

        @pytest.mark.xfail
        def test_agent(tripwire):
            tripwire.run().check()
        """)

    result = good.run(*GATE)

    result.assert_outcomes(xfailed=1)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["  escaped: . on lost-write: *"])


@pytest.mark.parametrize(
    "how", [("-k", "test_a"), ("--deselect", "b/test_b.py"), ("-m", "not slow")]
)
def test_deselected_is_not_run(good_and: Any, how: tuple[str, str]) -> None:
    project = good_and("twice")
    project.tests(
        """
        import pytest

        @pytest.mark.slow
        def test_other(tripwire):
            tripwire.run().check()
        """,
        name="b/test_b",
    )

    result = project.run(*GATE, *how, "-W", "ignore")

    result.assert_outcomes(passed=1, deselected=1)
    failing(result, "not run: b on lost-write", COLLECTED, of="1 of 2")


def test_everything_deselected_is_not_run(good: Any) -> None:
    failing(good.run(*GATE, "-k", "nothing"), "not run: . on lost-write", COLLECTED, of="0 of 1")


def test_skipped_is_not_run(good: Any) -> None:
    good.tests("""
        import pytest

        @pytest.mark.skip
        def test_agent(tripwire):
            tripwire.run().check()
        """)

    failing(good.run(*GATE), "not run: . on lost-write", COLLECTED, of="0 of 1")


def test_a_case_that_no_test_tries_is_not_run(good: Any) -> None:
    good.tests("def test_agent(tripwire_for): pass")

    failing(good.run(*GATE), "not run: . on lost-write", COLLECTED, of="0 of 1")


def test_an_agent_that_cannot_be_built_is_not_run(good: Any) -> None:
    good.plug_in(
        more="""
        @pytest.fixture
        def tripwire_agent():
            import no_such_module
        """
    )

    result = good.run(*GATE)

    result.assert_outcomes(errors=1)
    failing(result, "not run: . on lost-write", COLLECTED, of="0 of 1")


def test_a_module_that_cannot_be_imported_keeps_its_exit_code(good: Any) -> None:
    good.tests("import no_such_module", name="test_broken")

    result = good.run(*GATE)

    failing(result, "not run: . on lost-write", COLLECTED, of="0 of 1", ret=2)


@pytest.mark.parametrize("body", ["", "def test_plain(): pass"], ids=["no-test", "plain-test"])
def test_a_session_that_collects_no_agent_fails(project: Any, body: str) -> None:
    project.tests(body)

    failing(project.run(*GATE), NOBODY, COLLECTED, of="0 of 0")


def test_an_undeclared_protection_fails(good: Any) -> None:
    failing(good.run("--tripwire-gate"), UNDECLARED, COLLECTED, of="1 of 1")


@pytest.mark.parametrize("where", ["ini", "fixture"])
def test_a_protection_may_be_declared_elsewhere(good: Any, where: str) -> None:
    if where == "ini":
        good.ini("tripwire_protection = harness")
    else:
        good.plug_in(
            more="""
            @pytest.fixture
            def tripwire_protection():
                return "harness"
            """
        )

    assert good.run("--tripwire-gate").ret == 0


def test_declared_agents_are_the_denominator(good: Any, rows: Any) -> None:
    good.ini("tripwire_agents =\n    .\n    shop/refunds\n")

    result = good.run(*GATE)

    failing(result, "not run: shop/refunds on lost-write", of="1 of 2")
    assert rows(result) == [(".", LOST, "contained"), ("shop/refunds", LOST, "not run")]


def test_declared_agents_that_ran_pass(good: Any) -> None:
    good.ini("tripwire_agents = .")

    result = good.run(*GATE)

    assert result.ret == 0
    result.stdout.no_fnmatch_line("*counted*")


def test_an_agent_beside_the_declared_ones_can_only_worsen_the_verdict(good_and: Any) -> None:
    project = good_and("idle")
    project.ini("pythonpath = .\naddopts = --import-mode=importlib\ntripwire_agents = a")

    result = project.run(*GATE)

    result.stdout.fnmatch_lines(["tripwire gate FAILED: 1 of 2 cells*", "  inconclusive: b on *"])


NAMED = """
    @pytest.fixture(params=["twice", "behind"])
    def name(request):
        return request.param

    @pytest.fixture
    def tripwire_agent(name):
        return getattr(agents, name)

    @pytest.fixture
    def tripwire_agent_id(name):
        return f"refunds-{name}"
"""


def test_an_agent_whose_name_only_a_run_can_tell_is_missed_too(good: Any) -> None:
    good.plug_in(more=NAMED)

    result = good.run(*GATE, "-k", "twice")

    result.assert_outcomes(passed=1, deselected=1)
    nameless = (
        "1 collected tests never came to say which agent they are about, as only running "
        "`tripwire_agent_id` can tell; declare `tripwire_agents`"
    )
    failing(result, nameless, COLLECTED, of="1 of 1")


def test_agents_whose_names_the_runs_tell_pass(good: Any) -> None:
    good.plug_in(more=NAMED.replace('"behind"', '"twice_async"'))

    result = good.run(*GATE)

    assert result.ret == 0
    result.stdout.fnmatch_lines(["tripwire gate passed: 2 of 2 cells contained"])


def test_declaring_them_names_what_is_missed(good: Any) -> None:
    good.plug_in(more=NAMED)
    good.ini("tripwire_agents =\n    refunds-twice\n    refunds-behind\n")

    result = good.run(*GATE, "-k", "twice")

    failing(result, "not run: refunds-behind on lost-write", of="1 of 2")


@pytest.mark.parametrize("stop", ["-x", "--maxfail=1"])
def test_what_a_stop_at_the_first_failure_leaves_out_is_not_run(
    good_and: Any, rows: Any, stop: str
) -> None:
    project = good_and("twice")
    project.tests("def test_a(): assert False", name="a/test_0")

    result = project.run(*GATE, stop)

    assert result.ret == 1
    assert rows(result) == [("a", LOST, "not run"), ("b", LOST, "not run")]


def test_collecting_alone_does_not_pass(good: Any) -> None:
    failing(good.run(*GATE, "--collect-only"), "not run: . on lost-write", COLLECTED, of="0 of 1")


def test_the_exit_code_of_a_usage_error_is_kept(good: Any) -> None:
    assert good.run(*GATE, "no/such/path").ret == pytest.ExitCode.USAGE_ERROR


def test_the_exit_code_of_an_interrupt_is_kept(good: Any) -> None:
    good.tests("""
        import pytest

        def test_agent(tripwire):
            pytest.exit("enough")
        """)

    result = good.run(*GATE)

    failing(result, "not run: . on lost-write", COLLECTED, of="0 of 1", ret=2)


def test_a_failing_test_fails_the_session_though_the_gate_passes(good: Any) -> None:
    good.tests("def test_plain(): assert False", name="test_plain")

    result = good.run(*GATE)

    assert result.ret == 1
    result.stdout.fnmatch_lines(["tripwire gate passed: 1 of 1 cells contained"])


def test_quiet_prints_the_word_of_the_gate_alone(good: Any) -> None:
    result = good.run(*GATE, "-q")

    assert [line for line in result.outlines if "contained" in line] == [
        "tripwire gate passed: 1 of 1 cells contained"
    ]


def test_very_verbose_prints_timelines(good: Any) -> None:
    good.plug_in("behind")

    result = good.run("-vv", "--tb=no")

    result.stdout.fnmatch_lines(
        [
            ". on lost-write: escaped",
            "   1      0s  tool     issue_refund(order A-1001) dispatched [[]write[]]",
            (
                ">  4     30s  tool     issue_refund(order A-1001) dispatched *   <-- should not "
                "have happened"
            ),
        ]
    )


def test_without_a_terminal_the_exit_code_still_tells(good: Any) -> None:
    good.plug_in("idle")
    good.tests("""
        import pytest

        @pytest.mark.xfail
        def test_agent(tripwire):
            tripwire.run().check()
        """)

    assert good.run(*GATE, "-p", "no:terminal").ret == 1
