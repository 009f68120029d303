"""Every message says what is wrong, where, and what to do."""

from __future__ import annotations

from typing import Any

import pytest


def test_no_agent(project: Any, rows: Any) -> None:
    project.tests()

    result = project.run()

    result.assert_outcomes(errors=1)
    assert rows(result) == [("(no agent)", "lost-write", "not run")]
    result.stdout.fnmatch_lines(
        [
            (
                "no tripwire_agent: the plugin does not know your agent yet. Define this "
                "fixture in "
                "your conftest.py:"
            ),
            "",
            "    # conftest.py",
            "    import pytest",
            "",
            "    @pytest.fixture",
            "    def tripwire_agent():",
            "        def agent(task):          # or: async def agent(task)",
            "            return MyAgent(",
            "                tools=list(task.tools.values()),",
            '                base_url=task.model.base_url("openai"),',
            "                api_key=task.model.api_key,",
            "            ).run(task.prompt)",
            "        return agent",
        ],
        consecutive=True,
    )


def test_an_agent_that_cannot_be_called(project: Any) -> None:
    project.plug_in(
        more="""
        @pytest.fixture
        def tripwire_agent():
            return {"model": "big"}
        """
    )
    project.tests()

    result = project.run()

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            (
                "*HarnessError: tripwire_agent gave dict, which cannot be called. Return a "
                "function that "
                "takes a task and runs your agent:"
            ),
            "* def tripwire_agent():",
        ]
    )


def test_a_case_that_does_not_exist(project: Any) -> None:
    project.plug_in()
    project.tests("def test_agent(tripwire_for): tripwire_for('lost-wrote')")

    result = project.run()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            (
                "*HarnessError: tripwire_for: there is no case 'lost-wrote'. Did you mean "
                "'lost-write'? "
                "There are: empty-search, ping-pong-handoff, lost-write, rephrased-denial, "
                "long-investigation, cost-budget, deadline, stale-resume"
            )
        ]
    )


def test_a_look_alike_that_does_not_exist(project: Any) -> None:
    project.plug_in()
    project.tests("def test_agent(tripwire_for): tripwire_for('lost-write/bach')")

    result = project.run()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            (
                "*HarnessError: tripwire_for: there is no case 'lost-write/bach'. Did you mean "
                "'lost-write/batch'? There are: lost-write/reconciled, *"
            )
        ]
    )


@pytest.mark.parametrize(
    ("marker", "message"),
    [
        (
            "cases=['lost-wrote']",
            "there is no case 'lost-wrote'. Did you mean 'lost-write'? There are: *, lost-write, *",
        ),
        ("cases='zzz'", "there is no case 'zzz'. There are: *, lost-write, *"),
        ("'lost-write'", 'the marker is written @pytest.mark.tripwire(cases=[[]"..."[]])'),
        ("case='lost-write'", 'the marker is written @pytest.mark.tripwire(cases=[[]"..."[]])'),
    ],
    ids=["near", "far", "positional", "misspelt"],
)
def test_a_marker_that_means_nothing(project: Any, marker: str, message: str) -> None:
    project.plug_in()
    project.tests(f"""
        import pytest

        @pytest.mark.tripwire({marker})
        def test_agent(tripwire):
            tripwire.run().check()
        """)

    result = project.run()

    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines([f"*test_agent.py::test_agent: {message}"])
    assert "_hookexec" not in result.stdout.str()  # pytest would show its own insides


@pytest.mark.parametrize(
    ("fixture", "beside"), [("tripwire", ""), ("tripwire_for", ""), ("tripwire", ", tripwire_for")]
)
def test_a_handle_requested_while_the_test_runs(project: Any, fixture: str, beside: str) -> None:
    project.plug_in()
    project.tests(f"def test_agent(request{beside}): request.getfixturevalue('{fixture}')")

    result = project.run()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            (
                "tripwire and tripwire_for cannot be requested while a test runs: the gate "
                "counts what was "
                "collected before. Name the fixture in the signature of the test, or of a "
                "fixture of it"
            )
        ]
    )


def test_several_workers_without_xdist(project: Any) -> None:
    # A process of its own: what an inner run blocks early on is decided when pytest starts.
    result = project.spawn("-p", "no:xdist", "-n", "2")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            (
                "ERROR: -n asks for several workers, which needs pytest-xdist, and that is not "
                "loaded. "
                "Install it: pip install 'pytest-agent-tripwire[[]xdist[]]'"
            )
        ]
    )


@pytest.mark.parametrize("option", ["-n2", "--numprocesses=2"])
def test_several_workers_without_xdist_in_other_spellings(project: Any, option: str) -> None:
    result = project.run("-p", "no:xdist", option)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {option} asks for several workers*"])


def test_options_that_only_look_like_workers_are_left_to_pytest(project: Any) -> None:
    result = project.run("-p", "no:xdist", "--no-such-option")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.no_fnmatch_line("*several workers*")


SETTING = """
    @pytest.fixture
    def {fixture}():
        return {value}
"""


@pytest.mark.parametrize(
    ("fixture", "value", "message"),
    [
        (
            "tripwire_agent_id",
            "7",
            "tripwire_agent_id gave 7: give the agent's name in reports, a text that is not empty",
        ),
        ("tripwire_agent_id", "None", "tripwire_agent_id gave None: give the agent's name in *"),
        ("tripwire_agent_id", "' '", "tripwire_agent_id gave ' ': give the agent's name in *"),
        (
            "tripwire_stops",
            "(ValueError, Exception)",
            (
                "tripwire_stops has Exception in it, so every crash would count as a stop of your "
                "agent's own: name the exceptions that it stops by"
            ),
        ),
        ("tripwire_stops", "(BaseException,)", "tripwire_stops has BaseException in it, so *"),
        (
            "tripwire_stops",
            "ValueError",
            (
                "tripwire_stops gave ValueError: give a tuple of exception types, such as "
                "(TooManySteps,)"
            ),
        ),
        ("tripwire_stops", "('ValueError',)", "tripwire_stops gave a tuple: give a tuple of *"),
        (
            "tripwire_budget",
            "{'max_turns': 3}",
            (
                "tripwire_budget gave a dict: give a RunBudget, such as RunBudget(max_turns=20), "
                "or None for the limits of the case"
            ),
        ),
        (
            "tripwire_tools",
            "['write']",
            'tripwire_tools gave a list: give a mapping, such as {"write": Role(pay_back, {...})}',
        ),
        ("tripwire_specs", "['x']", "tripwire_specs gave a list: give a mapping, such as *"),
        (
            "tripwire_persona",
            "'polite'",
            (
                "tripwire_persona gave 'polite': choose from stubborn, compliant, forgetful, or "
                "None for the first"
            ),
        ),
        (
            "tripwire_seed",
            "True",
            (
                "tripwire_seed gave True: give a whole number such as 7, or 0 for the words that "
                "the cases are written in"
            ),
        ),
        ("tripwire_seed", "-1", "tripwire_seed gave -1: give a whole number such as 7, or 0 *"),
        ("tripwire_seed", "'7'", "tripwire_seed gave '7': give a whole number such as 7, or 0 *"),
        ("tripwire_seed", "7.0", "tripwire_seed gave 7.0: give a whole number such as 7, or 0 *"),
        ("tripwire_model_faults", "['drop']", "tripwire_model_faults gave a list: give a tuple *"),
        (
            "tripwire_model_faults",
            "(503,)",
            "tripwire_model_faults gave a tuple with a int in it: give a tuple of faults of *",
        ),
        (
            "tripwire_model_faults",
            "(ValueError,)",
            "tripwire_model_faults gave a tuple with the class ValueError in it: give a tuple *",
        ),
    ],
)
def test_a_setting_of_the_wrong_kind_is_told_at_setup(
    project: Any, rows: Any, fixture: str, value: str, message: str
) -> None:
    project.plug_in(more=SETTING.format(fixture=fixture, value=value))
    project.tests()

    result = project.run()

    result.assert_outcomes(errors=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    literal = message.replace("[", "[[]")
    result.stdout.fnmatch_lines([f"*HarnessError: {literal}"])
    # The message is what counts, not the code that raised it.
    assert "def open_desk" not in result.stdout.str()
    assert len(result.outlines) < 30
    assert [state for _, _, state in rows(result)] in ([], ["not run"])


def test_a_case_that_the_marker_names_twice_is_tried_once(project: Any) -> None:
    project.plug_in()
    project.tests("""
        import pytest

        @pytest.mark.tripwire(cases=["lost-write", "lost-write"])
        def test_agent(tripwire):
            tripwire.run().check()
        """)

    result = project.run("-v")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*::test_agent[[]lost-write[]] PASSED*"])


@pytest.mark.parametrize(
    "blocked",
    [
        ("tripwire",),
        ("tripwire-reporter",),
        # As without any plugin that is found by itself.
        ("tripwire-reporter", "tripwire_clash"),
    ],
)
def test_a_gate_that_is_blocked_does_not_pass_in_silence(
    project: Any, blocked: tuple[str, ...]
) -> None:
    project.write("test_other", "def test_other(): pass")

    without = [word for name in blocked for word in ("-p", f"no:{name}")]
    result = project.run("-p", "tripwire", *without, "--tripwire-gate")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--tripwire-gate, and its plugin is blocked: *-p no:tripwire*"])
