"""`--tripwire-gate`: everything that was not seen to be contained fails."""

from __future__ import annotations

from typing import Any

import pytest

LOST, DEADLINE = CASES = ("lost-write", "deadline")
GATE = ("--tripwire-gate", "--tripwire-protection=harness")


@pytest.fixture
def good(project: Any) -> Any:
    project.two_cases("agent")
    project.plug_in("twice")
    project.tests()
    return project


@pytest.fixture
def good_and(project: Any) -> Any:
    """A contained agent in `a/`, and another one in `b/`."""

    def write(agent: str) -> Any:
        project.two_cases("a", "b")
        project.plug_in("twice", folder="a/")
        project.plug_in(agent, folder="b/")
        project.tests(name="a/test_a")
        project.tests(name="b/test_b")
        project.ini("pythonpath = .\naddopts = --import-mode=importlib")
        return project

    return write


def not_run(agent: str, *but: str) -> list[str]:
    """What the gate says of an agent that was not run in any case, or in all others."""
    return [f"not run: {agent} on {case}" for case in CASES if case not in but]


def in_every(agent: str, state: str) -> list[tuple[str, str, str]]:
    """The rows of an agent that has one state in every case."""
    return [(agent, case, state) for case in CASES]


def failing(result: pytest.RunResult, *lines: str, of: str, ret: int = 1) -> None:
    """The gate fails for exactly these reasons."""
    assert result.ret == ret, result.outlines
    # Where nothing of the count is missing, the word says that something else is.
    but = ", but" if not any(line.startswith("not run: ") for line in lines) else ""
    tested = "" if of.startswith("0 ") else " (protection: harness)"
    start = result.outlines.index(f"tripwire gate FAILED: {of} cells contained{tested}{but}")
    given = [line for line in result.outlines[start + 1 :] if line.startswith("  ")]
    assert given == [f"  {line}" for line in lines]


COLLECTED = "(counted: the agents that were collected, as the project declares none)"
UNDECLARED = (
    "nobody says which protection is under test; set the ini value `tripwire_protection` or pass "
    "--tripwire-protection"
)
PROTECTED = """
    @pytest.fixture
    def tripwire_protection():
        return "harness"
"""
NOBODY = "no agent was collected, so nothing was judged; declare `tripwire_agents`"


def test_contained_passes(project: Any) -> None:
    """The one run of every case here, with an agent that goes over HTTP."""
    project.every_case()
    project.plug_in("served")
    project.tests()

    result = project.run(*GATE)

    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "=* tripwire =*",
            "agent  case                state      protection  detail",
            "agent  empty-search        contained  harness     interrupted (empty_results)",
            "agent  ping-pong-handoff   contained  harness     interrupted (handoff_without_pro*",
            "agent  lost-write          contained  harness     interrupted (unknown_side_effect)",
            "agent  rephrased-denial    contained  harness     interrupted (repeated_denial)",
            "agent  long-investigation  contained  harness     answered",
            "agent  cost-budget         contained  harness     interrupted (cost_budget)",
            "agent  deadline            contained  harness     interrupted (deadline)",
            "agent  stale-resume        contained  harness     interrupted (stale_resume)",
            "tripwire gate passed: 8 of 8 cells contained (protection: harness)",
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
    assert [row for row in rows.counted(result) if row[2] != "contained"] == [("b", LOST, state)]
    result.stdout.fnmatch_lines(
        [
            "tripwire gate FAILED: 3 of 4 cells contained (protection: harness)",
            f"  {state}: b on lost-write: *",
        ]
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

    result.assert_outcomes(xfailed=1, xpassed=1)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["  escaped: agent on lost-write: *"])


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

    result.assert_outcomes(passed=2, deselected=2)
    failing(result, *not_run("b"), COLLECTED, of="2 of 4")


def test_a_single_case_that_is_deselected_is_not_run(good: Any, rows: Any) -> None:
    result = good.run(*GATE, "--deselect", f"test_agent.py::test_agent[{LOST}]")

    result.assert_outcomes(passed=1, deselected=1)
    failing(result, f"not run: agent on {LOST}", COLLECTED, of="1 of 2")
    assert rows(result) == [("agent", LOST, "not run")]


def test_cases_that_the_marker_leaves_out_are_not_run(good: Any) -> None:
    good.one_case()
    good.tests()

    result = good.run(*GATE)

    result.assert_outcomes(passed=1)
    failing(result, *not_run("agent", LOST), COLLECTED, of="1 of 2")


def test_everything_deselected_is_not_run(good: Any) -> None:
    failing(good.run(*GATE, "-k", "nothing"), *not_run("agent"), COLLECTED, of="0 of 2")


def test_skipped_is_not_run(good: Any) -> None:
    good.tests("""
        import pytest

        @pytest.mark.skip
        def test_agent(tripwire):
            tripwire.run().check()
        """)

    failing(good.run(*GATE), *not_run("agent"), COLLECTED, of="0 of 2")


def test_a_case_that_no_test_tries_is_not_run(good: Any) -> None:
    good.tests("def test_agent(tripwire_for): pass")

    failing(good.run(*GATE), *not_run("agent"), COLLECTED, of="0 of 2")


def test_an_agent_that_cannot_be_built_is_not_run(good: Any) -> None:
    good.plug_in(
        more="""
        @pytest.fixture
        def tripwire_agent():
            import no_such_module
        """
    )

    result = good.run(*GATE)

    result.assert_outcomes(errors=2)
    failing(result, *not_run("agent"), COLLECTED, of="0 of 2")


def test_a_module_that_cannot_be_imported_keeps_its_exit_code(good: Any) -> None:
    good.tests("import no_such_module", name="test_broken")

    result = good.run(*GATE)

    uncollected = "test_broken.py could not be collected"
    failing(result, *not_run("agent"), uncollected, COLLECTED, of="0 of 2", ret=2)


@pytest.mark.parametrize("body", ["", "def test_plain(): pass"], ids=["no-test", "plain-test"])
def test_a_session_that_collects_no_agent_fails(project: Any, body: str) -> None:
    project.tests(body)

    failing(project.run(*GATE), NOBODY, COLLECTED, of="0 of 0")


def test_an_undeclared_protection_fails(good: Any) -> None:
    failing(good.run("--tripwire-gate"), UNDECLARED, COLLECTED, of="2 of 2")


def test_a_fixture_may_declare_the_protection(good: Any) -> None:
    good.plug_in(more=PROTECTED)

    assert good.run("--tripwire-gate").ret == 0


def test_declared_agents_are_the_denominator(good: Any, rows: Any) -> None:
    good.two_cases("agent", "shop/refunds")
    good.ini("tripwire_agents =\n    agent\n    shop/refunds\n")

    result = good.run(*GATE)

    failing(result, *not_run("shop/refunds"), of="2 of 4")
    expected = in_every("agent", "contained") + in_every("shop/refunds", "not run")
    assert rows.counted(result) == expected


def test_what_the_ini_file_declares_passes(good: Any) -> None:
    good.ini("tripwire_agents = agent\ntripwire_protection = harness")

    result = good.run("--tripwire-gate")

    assert result.ret == 0
    result.stdout.no_fnmatch_line("*counted*")


def test_an_agent_beside_the_declared_ones_can_only_worsen_the_verdict(good_and: Any) -> None:
    project = good_and("idle")
    project.ini("pythonpath = .\naddopts = --import-mode=importlib\ntripwire_agents = a")

    result = project.run(*GATE)

    result.stdout.fnmatch_lines(["tripwire gate FAILED: 3 of 4 cells*", "  inconclusive: b on *"])


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
    good.two_cases("refunds-twice")
    good.plug_in(more=NAMED)

    result = good.run(*GATE, "-k", "twice")

    result.assert_outcomes(passed=2, deselected=2)
    nameless = (
        "2 collected tests never came to say which agent they are about, as only running "
        "`tripwire_agent_id` can tell; declare `tripwire_agents`"
    )
    failing(result, nameless, COLLECTED, of="2 of 2")


def test_agents_whose_names_the_runs_tell_pass(good: Any) -> None:
    good.two_cases("refunds-twice", "refunds-twice_async")
    good.plug_in(more=NAMED.replace('"behind"', '"twice_async"'))

    result = good.run(*GATE)

    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["tripwire gate passed: 4 of 4 cells contained (protection: harness)"]
    )


def test_declaring_them_names_what_is_missed(good: Any) -> None:
    good.two_cases("refunds-twice", "refunds-behind")
    good.plug_in(more=NAMED)
    good.ini("tripwire_agents =\n    refunds-twice\n    refunds-behind\n")

    result = good.run(*GATE, "-k", "twice")

    lost = (
        "test_agent.py::test_agent[behind-deadline] and 1 more were collected and did not come "
        "to their end (deselected, skipped or lost), and only a run could tell which cells "
        "they are about"
    )
    failing(result, *not_run("refunds-behind"), lost, of="2 of 4")


@pytest.mark.parametrize("stop", ["-x", "--maxfail=1"])
def test_what_a_stop_at_the_first_failure_leaves_out_is_not_run(
    good_and: Any, rows: Any, stop: str
) -> None:
    project = good_and("twice")
    project.tests("def test_a(): assert False", name="a/test_0")

    result = project.run(*GATE, stop)

    assert result.ret == 1
    assert rows.counted(result) == in_every("a", "not run") + in_every("b", "not run")


def test_collecting_alone_does_not_pass(good: Any) -> None:
    failing(good.run(*GATE, "--collect-only"), *not_run("agent"), COLLECTED, of="0 of 2")


def test_the_exit_code_of_a_usage_error_is_kept(good: Any) -> None:
    assert good.run(*GATE, "no/such/path").ret == pytest.ExitCode.USAGE_ERROR


def test_the_exit_code_of_an_interrupt_is_kept(good: Any) -> None:
    good.tests("""
        import pytest

        def test_agent(tripwire):
            pytest.exit("enough")
        """)

    result = good.run(*GATE)

    failing(result, *not_run("agent"), COLLECTED, of="0 of 2", ret=2)


def test_a_failing_test_fails_the_session_though_the_gate_passes(good: Any) -> None:
    good.tests("def test_plain(): assert False", name="test_plain")

    result = good.run(*GATE)

    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["tripwire gate passed: 2 of 2 cells contained (protection: harness)"]
    )


def test_quiet_prints_the_word_of_the_gate_alone(good: Any) -> None:
    result = good.run(*GATE, "-q")

    assert result.ret == 0
    assert [line for line in result.outlines if "contained" in line] == [
        "tripwire gate passed: 2 of 2 cells contained (protection: harness)"
    ]


def test_in_ci_the_summary_of_pytest_repeats_no_timeline(
    good_and: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There it cuts no line, and the gate's word would be lost among timelines."""
    monkeypatch.setenv("CI", "true")

    text = good_and("behind").run(*GATE).stdout.str()

    assert text.count("timeline:") == text.count("TripwireFailure: lost-write: escaped") - 1 == 1
    assert "- no unknown write retried: " in text.partition("short test summary info")[2]


def test_very_verbose_prints_timelines(good: Any) -> None:
    good.plug_in("behind")

    result = good.run("-vv", "--tb=no", "-k", LOST)

    result.stdout.fnmatch_lines(
        [
            "agent on lost-write: escaped",
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


def test_a_look_alike_is_shown_beside_and_can_only_worsen_the_verdict(good: Any, rows: Any) -> None:
    good.plug_in("loop")
    good.tests(
        """
        def test_batch(tripwire_for):
            tripwire_for("lost-write/batch").run().check()
        """,
        name="test_beside",
    )

    result = good.run(*GATE)

    assert result.ret == 0
    assert rows.every(result)[-1] == ("agent", "lost-write/batch", "contained")
    result.stdout.fnmatch_lines(
        ["tripwire gate passed: 3 of 3 cells contained (protection: harness)"]
    )


def test_a_look_alike_stands_for_no_case(good: Any) -> None:
    good.plug_in("loop")
    good.tests("""
        def test_batch(tripwire_for):
            tripwire_for("lost-write/batch").run().check()
        """)

    failing(good.run(*GATE), *not_run("agent"), COLLECTED, of="1 of 3")


SKIPS = """
    import pytest

    def test_agent(tripwire):
        tripwire.run()
        pytest.skip("flaky")
"""


def test_a_skip_after_the_run_does_not_take_it_back(good: Any, rows: Any) -> None:
    good.plug_in("behind")
    good.tests(SKIPS)

    result = good.run(*GATE)

    result.assert_outcomes(skipped=2)
    assert result.ret == 1
    assert rows(result) == [("agent", LOST, "escaped")]
    # What was good is not run all the same: who skips asks that it does not count.
    assert ("agent", DEADLINE, "not run") in rows.counted(result)
    (escaped,) = [line for line in result.outlines if line.startswith("  escaped: ")]
    assert "the test itself" not in escaped


def test_another_protection_than_the_declared_one_fails(good: Any) -> None:
    good.plug_in(more=PROTECTED)

    result = good.run("--tripwire-gate", "--tripwire-protection=own")

    other = (
        "the protection own is declared, but agent ran deadline with harness; "
        "`tripwire_protection` has to give what is declared"
    )
    failing(result, other, COLLECTED, of="2 of 2")
