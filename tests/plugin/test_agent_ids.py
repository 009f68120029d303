"""How an agent is called in reports: by where it is plugged in, and what it is built from."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_tripwire.plugin import cells

BUILT = """
    import pytest
    import agents

    @pytest.fixture(params=["small", "large"], ids={ids})
    def size(request):
        return request.param

    @pytest.fixture
    def client(size):
        return size

    @pytest.fixture(params=[1, 2])
    def unrelated(request):
        return request.param

    @pytest.fixture
    def tripwire_agent(client):
        return agents.twice
"""


def agents_of(rows: Any, result: pytest.RunResult) -> list[str]:
    return [agent for agent, _, _ in rows(result)]


def test_an_agent_is_called_after_the_folder_of_its_conftest(project: Any, rows: Any) -> None:
    project.ini("pythonpath = .")
    project.plug_in(folder="shop/refunds/")
    project.plug_in(folder="desk/")
    project.tests(name="shop/refunds/test_shop")
    project.tests(name="desk/deep/test_desk")

    assert agents_of(rows, project.run("--import-mode=importlib")) == ["desk", "shop/refunds"]


def test_at_the_root_it_is_the_word_agent(project: Any, rows: Any) -> None:
    project.plug_in()
    project.tests()

    assert agents_of(rows, project.run()) == ["agent"]


def test_a_nearer_fixture_is_another_agent(project: Any, rows: Any) -> None:
    project.plug_in()
    project.tests()
    project.tests(
        """
        import pytest
        import agents

        @pytest.fixture
        def tripwire_agent():
            return agents.twice

        class TestClass:
            @pytest.fixture
            def tripwire_agent(self):
                return agents.twice

            def test_class(self, tripwire):
                tripwire.run().check()

        def test_module(tripwire):
            tripwire.run().check()
        """,
        name="test_own",
    )

    found = agents_of(rows, project.run("-p", "no:randomly"))

    assert sorted(found) == ["agent", "test_own.py", "test_own.py::TestClass"]


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ("None", ["agent[small]", "agent[large]"]),
        ("['S', None]", ["agent[S]", "agent[large]"]),
        ("lambda value: value[0]", ["agent[s]", "agent[l]"]),
        ("lambda value: None", ["agent[small]", "agent[large]"]),
    ],
    ids=["none", "list", "callable", "callable-none"],
)
def test_parameters_of_what_the_agent_is_built_from(
    project: Any, rows: Any, ids: str, expected: list[str]
) -> None:
    project.write("conftest", BUILT.format(ids=ids))
    project.tests("""
        import pytest

        @pytest.mark.parametrize("mine", ["x", "y"])
        def test_agent(tripwire, unrelated, mine):
            tripwire.run().check()
        """)

    assert agents_of(rows, project.run()) == expected


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("pytest.param(agents.twice, id='good')", "good"),
        ("agents.twice", "twice"),
        ("functools.partial(agents.twice)", "tripwire_agent0"),
    ],
    ids=["param", "named", "nameless"],
)
def test_parameters_of_the_agent_itself(project: Any, rows: Any, value: str, name: str) -> None:
    project.write(
        "conftest",
        f"""
        import functools
        import pytest
        import agents

        @pytest.fixture(params=[{value}])
        def tripwire_agent(request):
            return request.param
        """,
    )
    project.tests()

    result = project.run("-v")

    assert agents_of(rows, result) == [f"agent[{name}]"]
    result.stdout.fnmatch_lines([f"*::test_agent[[]{name}-lost-write[]] PASSED*"])


@pytest.mark.parametrize(
    ("indirect", "place"),
    [("False", "test_agent.py"), ("True", "agent")],
    ids=["direct", "indirect"],
)
def test_an_agent_that_the_test_itself_parametrises(
    project: Any, rows: Any, indirect: str, place: str
) -> None:
    project.write(
        "conftest",
        """
        import pytest

        @pytest.fixture
        def tripwire_agent(request):
            return request.param
        """,
    )
    project.tests(f"""
        import pytest
        import agents

        @pytest.mark.parametrize("colour, tripwire_agent", [
            pytest.param("red", agents.twice, id="good"),
            pytest.param("red", agents.idle, id="bad"),
        ], indirect={indirect} and ["tripwire_agent"])
        def test_agent(tripwire, colour):
            tripwire.run().check()
        """)

    assert rows(project.run()) == [
        (f"{place}[good]", "lost-write", "contained"),
        (f"{place}[bad]", "lost-write", "inconclusive"),
    ]


def test_a_parametrised_fixture_below_an_override(project: Any, rows: Any) -> None:
    project.ini("pythonpath = .")
    project.write("conftest", BUILT.format(ids="['S', 'L']"))
    project.tests(
        """
        import pytest

        @pytest.fixture
        def size(size):
            return size

        def test_agent(tripwire):
            tripwire.run().check()
        """
    )

    assert agents_of(rows, project.run()) == ["agent[S]", "agent[L]"]


def test_tripwire_agent_id_has_the_last_word(project: Any, rows: Any) -> None:
    project.plug_in(
        more="""
        @pytest.fixture(params=["a", "b"])
        def tripwire_agent_id(request):
            return f"refunds-{request.param}"
        """
    )
    project.tests()

    assert agents_of(rows, project.run()) == ["refunds-a", "refunds-b"]


CONTRACT = """
def test_private_road(request, parametrised):
    info = getattr(request.node, "_fixtureinfo", None)
    moved = "pytest moved what plugin/cells.py reads; agent ids would all be (no agent): "
    assert info is not None, moved + "item._fixtureinfo is gone"
    table = getattr(info, "name2fixturedefs", None)
    assert table is not None, moved + "_fixtureinfo.name2fixturedefs is gone"
    plugins_own, projects_own = table["tripwire_agent"]
    assert plugins_own.func.__module__ == "pytest_tripwire.plugin.fixtures", moved + "func"
    assert projects_own.func.__module__ != plugins_own.func.__module__, moved + "func"
    assert projects_own.baseid.removesuffix("/conftest.py") == "deep", moved + "baseid"
    assert tuple(projects_own.argnames) == ("parametrised",), moved + "argnames"
    (definition,) = table["parametrised"]
    assert list(definition.params) == ["x"] and list(definition.ids) == ["X"], moved + "params, ids"
    callspec = getattr(request.node, "callspec", None)
    assert callspec is not None, moved + "item.callspec is gone"
    assert callspec.params["parametrised"] == "x", moved + "callspec.params"
    assert callspec.indices["parametrised"] == 0, moved + "callspec.indices"
"""


def test_pytest_still_has_what_agent_ids_are_read_from(project: Any) -> None:
    project.write(
        "deep/conftest.py",
        """
        import pytest

        @pytest.fixture(params=["x"], ids=["X"])
        def parametrised(request):
            return request.param

        @pytest.fixture
        def tripwire_agent(parametrised):
            return print
        """,
    )
    # The table holds what a test's closure holds, so the agent has to be in it.
    project.tests(CONTRACT.replace("(request,", "(request, tripwire_agent,"), "deep/test_contract")

    project.run("-q").assert_outcomes(passed=1)


def test_without_the_private_road_every_agent_is_nameless() -> None:
    class Moved:
        fixturenames = ("tripwire_desk",)
        nodeid = "test_x.py::test_x"

    assert cells.planned(Moved()) == [cells.NO_AGENT, "", "test_x.py::test_x"]  # type: ignore[arg-type]
