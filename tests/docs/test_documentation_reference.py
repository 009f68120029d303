"""The reference names all that there is, so that nothing is added without a word about it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import pytest_tripwire
from pytest_tripwire import plugin
from pytest_tripwire.breaker import (
    Breaker,
    BreakerRun,
    Decision,
    Mode,
    RunBudget,
    Terminal,
    ToolSpec,
    Usage,
)
from pytest_tripwire.breaker.budget import REASONS
from pytest_tripwire.breaker.checks import ORDER
from pytest_tripwire.breaker.progress import RULES
from pytest_tripwire.cases import CASE_IDS, load_case
from pytest_tripwire.cases.variants import VARIANTS
from pytest_tripwire.gate import Standing
from pytest_tripwire.guard import Resume
from pytest_tripwire.guard import State as Ending
from pytest_tripwire.harness import Model, Options, Resumed, Run, Task, Tools
from pytest_tripwire.plugin import options
from pytest_tripwire.timeline import DEFAULT_VOLATILE, InterruptionRecord, Reason
from pytest_tripwire.world import Slot, tool_names
from pytest_tripwire.world.desk import OPERATIONS, ROLES

ROOT = Path(__file__).parents[2]
CODE = re.compile(r"`[^`\n]+`")
WORD = re.compile(r"[\w-]+")

OF_THE_PLUGIN_ITSELF = {"tripwire_desk"}  # nobody requests or overrides it
OF_THE_RUN_ITSELF = {"limit"}  # a resumed run begins with it
NO_LIMITS = RunBudget()


def text_of(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def named(text: str) -> set[str]:
    """Every word that stands in code in a page."""
    return {word for code in CODE.findall(text) for word in WORD.findall(code)}


def missing(names: Iterable[str], page: str) -> list[str]:
    return sorted(set(names) - named(text_of(page)))


def section(page: str, heading: str) -> str:
    """What stands under a heading, up to the next one."""
    _, _, rest = text_of(page).partition(f"\n## {heading}\n")
    return rest.partition("\n## ")[0]


def first_column(text: str) -> list[str]:
    """The names in the first column of a section's tables, without their headings."""
    return re.findall(r"^\| (?:\d+ \| )?`([\w-]+)` \|", text, re.MULTILINE)


def public(kind: type) -> set[str]:
    return {name for name in vars(kind) if not name.startswith("_")}


class Parser:
    """Notes the names of options and ini values as the plugin declares them."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def getgroup(self, *_args: Any) -> Parser:
        return self

    def addoption(self, name: str, **_kwargs: Any) -> None:
        self.names.add(name)

    def addini(self, name: str, *_args: Any, **_kwargs: Any) -> None:
        self.names.add(name)


def test_plugin_page_names_fixtures_options_and_ini_values() -> None:
    parser: Any = Parser()
    options.add(parser)
    fixtures = set(plugin.__all__) - OF_THE_PLUGIN_ITSELF

    assert {"--tripwire-gate", "tripwire_agents"} <= parser.names
    assert missing(fixtures | parser.names, "reference/plugin.md") == []


def test_plugin_page_names_all_that_can_be_imported() -> None:
    assert missing(pytest_tripwire.__all__, "reference/plugin.md") == []


@pytest.mark.parametrize("kind", [Run, Options, Task, Resumed])
def test_plugin_page_names_fields_of(kind: Any) -> None:
    assert missing(kind.__struct_fields__, "reference/plugin.md") == []


@pytest.mark.parametrize("kind", [pytest_tripwire.Tripwire, Task, Tools, Model, Run])
def test_plugin_page_names_members_of(kind: type) -> None:
    assert missing(public(kind), "reference/plugin.md") == []


def test_breaker_page_has_exactly_the_fields_of_a_spec() -> None:
    page = section("reference/breaker.md", "ToolSpec")

    assert first_column(page) == list(ToolSpec.__struct_fields__)
    assert named(page) >= DEFAULT_VOLATILE


def test_breaker_page_has_exactly_the_budgets() -> None:
    page = section("reference/breaker.md", "RunBudget")

    assert first_column(page) == list(RunBudget.__struct_fields__)


def test_breaker_page_has_exactly_the_decisions_and_modes() -> None:
    decisions = first_column(section("reference/breaker.md", "Decisions"))
    modes = first_column(section("reference/breaker.md", "Modes"))

    assert sorted(decisions) == sorted(Decision)
    assert modes == list(Mode)


def test_breaker_page_has_the_checks_in_their_order() -> None:
    checks = first_column(section("reference/breaker.md", "Order of the checks"))

    assert checks == [check.__name__ for check in ORDER]


def test_breaker_page_has_exactly_the_reasons_that_occur() -> None:
    homes = [ROOT / "pytest_tripwire" / part for part in ("breaker", "guard")]
    sources = [source for home in homes for source in home.rglob("*.py")]
    given = {
        Reason[name]
        for source in sources
        for name in re.findall(r"\bReason\.([A-Z_]+)\b", source.read_text(encoding="utf-8"))
    }
    rows = re.findall(
        r"^\| `(\w+)` \| `(\w+)` \|", section("reference/breaker.md", "Reasons"), re.MULTILINE
    )

    assert given >= set(REASONS.values())
    assert dict(rows) == {str(reason): str(reason.family) for reason in given}


def test_breaker_page_names_the_arguments_of_a_breaker() -> None:
    arguments = set(Breaker.__init__.__kwdefaults__ or {}) - {"self"}

    assert arguments >= {"budget", "policy", "store"}
    assert missing(arguments, "reference/breaker.md") == []


def test_production_page_names_the_fields_of_a_record() -> None:
    assert missing(InterruptionRecord.__struct_fields__, "how-to/production.md") == []


@pytest.mark.parametrize("case_id", CASE_IDS)
def test_cases_page_describes(case_id: str) -> None:
    case = load_case(case_id)
    text = section("reference/cases.md", case_id)

    assert text
    wanted = {*case.roles, *case.personas, *map(str, case.reasons)}
    assert sorted(wanted - named(text)) == []
    for name in case.budget.__struct_fields__:
        limit = getattr(case.budget, name)
        assert limit == getattr(NO_LIMITS, name) or f"`{name}={limit}`" in text


@pytest.mark.parametrize("case_id", CASE_IDS)
def test_cases_page_has_exactly_the_look_alikes(case_id: str) -> None:
    _, _, rest = section("reference/cases.md", case_id).partition("\n### Look-alikes\n")
    rows = re.findall(r"^\| `([\w-]+)` \|", rest.partition("\n### ")[0], re.MULTILINE)

    assert [f"{case_id}/{name}" for name in rows] == [
        each.id for each in load_case(case_id).lookalikes
    ]


def test_cases_page_begins_with_the_whole_catalogue() -> None:
    before, _, _ = text_of("reference/cases.md").partition("\n## ")

    rows = re.findall(r"^\| \[`([\w-]+)`\]\(#([\w-]+)\) \|", before, re.MULTILINE)
    assert rows == [(case_id, case_id) for case_id in CASE_IDS]


def test_cases_page_has_exactly_the_parts_that_tools_play() -> None:
    page = section("reference/cases.md", "The desk")

    assert first_column(page) == list(ROLES)
    for each in OPERATIONS:
        slots = {slot.name for slot in each.default.args.values()}
        row = next(line for line in page.splitlines() if line.startswith(f"| `{each.role}` |"))
        assert named(row) >= {tool_names({}, (each,)).pop(), *slots}


def test_cases_page_has_exactly_the_variants() -> None:
    assert first_column(section("reference/cases.md", "Variants")) == list(VARIANTS)


def test_own_tools_page_has_exactly_the_slots() -> None:
    page = section("how-to/own-tools.md", "What an argument means")

    assert first_column(page) == [slot.name for slot in Slot]


def test_breaker_page_has_exactly_the_progress_rules() -> None:
    rules = first_column(section("reference/breaker.md", "Progress rules"))

    assert rules == [rule.__name__ for rule in RULES]


def test_breaker_page_has_exactly_the_terminal_states() -> None:
    page = section("reference/breaker.md", "Terminal states")

    assert sorted(first_column(page)) == sorted(Ending)
    assert named(page) >= set(Terminal.__struct_fields__)


def test_breaker_page_names_all_about_resuming() -> None:
    page = section("reference/breaker.md", "Resume")

    assert named(page) >= set(Resume.__struct_fields__)
    assert named(page) >= {"authorise", "reload", "ResumeRefusedError"}


@pytest.mark.parametrize("kind", [BreakerRun, Usage])
def test_breaker_page_names_members_of(kind: Any) -> None:
    names = getattr(kind, "__struct_fields__", None) or public(kind) - OF_THE_RUN_ITSELF

    assert missing(names, "reference/breaker.md") == []


def test_gate_page_has_exactly_the_states() -> None:
    rows = re.findall(r"^\| `([\w ]+)` \|", section("how-to/gate.md", "States"), re.MULTILINE)

    assert sorted(rows) == sorted(Standing)
