"""What a test holds of its cell, and the desk that judges all of a test's runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from pytest_tripwire.cases import UnknownCaseError, load_case
from pytest_tripwire.cases.case import Case
from pytest_tripwire.harness import Harness, HarnessError, Options, Protection, Run, failure
from pytest_tripwire.harness import checked as callable_agent
from pytest_tripwire.harness.checks import check_agent_id, check_options, check_persona
from pytest_tripwire.harness.native_roles import with_definitions
from pytest_tripwire.harness.specs import check_names
from pytest_tripwire.models.cassettes import CassetteError
from pytest_tripwire.oracle import Broken, Cell, State, worst

if TYPE_CHECKING:
    from pytest_tripwire.breaker import RunBudget
    from pytest_tripwire.guard import Breaker
    from pytest_tripwire.harness import Agent
    from pytest_tripwire.models.faults import ModelFault
    from pytest_tripwire.plugin.transport import CallEnd
    from pytest_tripwire.timeline import ToolSpec
    from pytest_tripwire.world import Role

_NEVER_RAN = "the test ended without run(): call tripwire.run(), or await tripwire.arun()"


class Tripwire:
    """One agent on one case. `run()` it, or await `arun()`; every run is judged at teardown."""

    def __init__(self, case: Case, agent: Agent, agent_id: str, options: Options) -> None:
        self.case = case
        self.agent_id = agent_id
        self.protection = str(options.protection)
        self._harness = Harness(case, agent, agent_id=agent_id, options=options)
        self._runs: list[Run] = []

    def __repr__(self) -> str:
        return f"<Tripwire {self.case.id}, agent {self.agent_id}>"

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs so far."""
        return tuple(self._runs)

    def run(self) -> Run:
        """Run the agent, sync or async. Each call is a new run in a new world.

        Raises:
            HarnessError: inside a running event loop; there, `await tripwire.arun()`.
        """
        __tracebackhide__ = True
        return self._kept(self._harness.run())

    async def arun(self) -> Run:
        """The same in an async test, under asyncio or trio."""
        __tracebackhide__ = True
        return self._kept(await self._harness.arun())

    def _kept(self, run: Run) -> Run:
        self._runs.append(run)
        return run


class TripwireFor(Protocol):
    """The `tripwire_for` fixture."""

    def __call__(self, case_id: str) -> Tripwire:
        """The handle of a standard case."""


class Desk:
    """Owner of a test's handles."""

    def __init__(
        self,
        *,
        agent: Agent,
        agent_id: str,
        options: Options,
        declared: bool,
        cassette: Callable[[str, int], Path] | None = None,
    ) -> None:
        self._cassette = cassette
        self._agent = agent
        self._agent_id = agent_id
        self._options = options
        self._declared = declared
        self._handles: list[Tripwire] = []

    def handle(self, case_id: str) -> Tripwire:
        """A new handle. Raises a usage error for a case that does not exist."""
        __tracebackhide__ = True
        try:
            case = load_case(case_id)
        except UnknownCaseError as error:
            raise HarnessError(f"tripwire_for: {error}") from None
        options = self._options
        if self._cassette is not None:
            before = sum(each.case.id == case.id for each in self._handles)
            options = msgspec.structs.replace(options, cassette=self._cassette(case.id, before))
        handle = Tripwire(case, self._agent, self._agent_id, options)
        self._handles.append(handle)
        return handle

    def close(self, ended: CallEnd | None) -> tuple[Cell, ...]:
        """The cell of each handle: the worst of its runs, and never better than the test. A test
        that is skipped takes back no run that was bad.
        """
        if ended is None:
            return ()
        if ended.skipped:
            ran = tuple(self._cell(handle, ended) for handle in self._handles if handle.runs)
            return tuple(cell for cell in ran if cell.state is not State.CONTAINED)
        return tuple(self._cell(handle, ended) for handle in self._handles)

    def demand(self, cells: tuple[Cell, ...], ended: CallEnd | None) -> None:
        """Fail a test that passed over a cell that is not contained."""
        __tracebackhide__ = True
        if ended is None or ended.error is not None:
            return
        for cell in cells:
            failed = failure(cell)
            if failed is not None:
                raise failed

    def _cell(self, handle: Tripwire, ended: CallEnd) -> Cell:
        if handle.runs:
            cell = _no_better_than(ended, worst(tuple(run.cell for run in handle.runs)))
        else:
            cell = self._never_ran(handle, ended)
        return msgspec.structs.replace(cell, declared=self._declared)

    def _never_ran(self, handle: Tripwire, ended: CallEnd) -> Cell:
        failed = f"the test failed before a run came to its end: {_told(ended.error)}"
        why = failed if ended.error is not None else _NEVER_RAN
        return Cell(
            agent=self._agent_id,
            case=handle.case.id,
            state=State.INCONCLUSIVE,
            protection=handle.protection,
            ending="never ran",
            broken=(Broken(check="the case was not run", message=why),),
            seed=self._options.seed,
        )


def _no_better_than(ended: CallEnd, cell: Cell) -> Cell:
    """A test that fails on its own demands is not contained, whatever the oracle says."""
    if ended.error is None or ended.skipped or cell.state is not State.CONTAINED:
        return cell
    own = Broken(check="the test itself", message=f"it failed: {_named(ended.error)}")
    return msgspec.structs.replace(cell, state=State.ESCAPED, broken=(own,))


def _told(error: BaseException | None) -> str:
    """An error of the harness's own says what to do; any other may say anything."""
    return str(error) if isinstance(error, HarnessError | CassetteError) else _named(error)


def _named(error: BaseException | None) -> str:
    return type(error).__name__


def open_desk(
    *,
    agent: Any,
    agent_id: str,
    protection: str,
    declared: bool,
    breaker: Callable[..., Breaker] | None,
    budget: RunBudget | None,
    specs: Mapping[str, ToolSpec | Mapping[str, Any]],
    roles: Mapping[str, Role],
    persona: str | None,
    seed: int,
    stops: tuple[type[BaseException], ...],
    model_faults: tuple[ModelFault, ...],
    model: str,
    model_name: str,
    record_mode: str | None,
    cassette: Callable[[str, int], Path] | None,
) -> Desk:
    """A desk for one test.

    Raises:
        HarnessError: for an agent or a setting that cannot be.
    """
    check_agent_id(agent_id)
    check_persona(persona)
    known = [each.value for each in Protection]
    if protection not in known:
        raise HarnessError(
            f"tripwire_protection gave {protection!r}: choose from {', '.join(known)}"
        )
    options = Options(
        protection=Protection(protection),
        breaker=breaker,
        roles=roles,
        budget=budget,
        specs=specs,
        persona=persona,
        seed=seed,
        stops=stops,
        model_faults=model_faults,
        model=model,
        model_name=model_name,
        record_mode=record_mode,
    )
    options = with_definitions(options)
    check_options(options)
    check_names(options)
    return Desk(
        agent=callable_agent(agent),
        agent_id=agent_id,
        options=options,
        declared=declared,
        cassette=cassette,
    )
