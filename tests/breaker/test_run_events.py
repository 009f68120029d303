"""Who is told of what a run does: callbacks, one line in the log, metrics, and numbers."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from decimal import Decimal
from types import ModuleType
from typing import Any

import pytest

from pytest_tripwire.breaker import (
    Breaker,
    BreakerEvent,
    Decision,
    Effect,
    Mode,
    Outcome,
    Reason,
    RunBudget,
    Status,
    ToolCall,
    ToolSpec,
    Usage,
)
from pytest_tripwire.breaker.telling import Post
from pytest_tripwire.guard.observers import metrics_api
from pytest_tripwire.timeline import BudgetAlert, Decided, ModeChange, Settled, Timeline

SPECS = {
    "look": ToolSpec(name="look", effect=Effect.READ),
    "pay": ToolSpec(name="pay", effect=Effect.WRITE, identity=("order",)),
}
LOGGER = "pytest_tripwire.breaker"


def call(number: int, tool: str = "look", **arguments: Any) -> ToolCall:
    about = arguments or {"order": f"{number}"}
    return ToolCall(call_id=f"c{number}", tool=tool, arguments=about)


def looks(run: Any, number: int) -> bool:
    """Look once; whether it was let through."""
    proposed = call(number)
    if not run.decide(proposed).allowed:
        return False
    run.settle(proposed, Outcome(status=Status.OK, result={"n": number}))
    return True


# -- callbacks


def test_a_callback_is_told_of_every_event_in_order() -> None:
    told: list[BreakerEvent] = []
    timeline = Timeline(lambda: 0.0)
    run = Breaker(specs=SPECS, on_event=told.append).run(timeline=timeline)
    looks(run, 1)
    run.close()

    assert [type(each).__name__ for each in told] == ["Decided", "Settled", "Finished"]
    assert tuple(told) == timeline.of(BreakerEvent)
    assert {each.run_id for each in told} == {run.run_id}


def test_events_are_numbered_where_no_timeline_keeps_them() -> None:
    told: list[BreakerEvent] = []
    run = Breaker(specs=SPECS, on_event=[told.append]).run()
    for number in range(3):
        looks(run, number)

    assert [each.seq for each in told] == [1, 2, 3, 4, 5, 6]


def test_several_callbacks_are_told_of_all_runs() -> None:
    one: list[BreakerEvent] = []
    other: list[BreakerEvent] = []
    breaker = Breaker(specs=SPECS, on_event=(one.append, other.append))
    runs = [breaker.run(), breaker.run()]
    for run in runs:
        looks(run, 1)

    assert one == other
    assert [each.run_id for each in one if isinstance(each, Decided)] == [
        each.run_id for each in runs
    ]


def test_a_callback_may_use_the_run() -> None:
    seen: list[Any] = []

    def stops(event: BreakerEvent) -> None:
        seen.append((type(event).__name__, run.mode))
        if isinstance(event, Settled):
            run.interrupt("enough")
            run.stats()

    run = Breaker(specs=SPECS, on_event=stops).run()

    assert looks(run, 1)
    assert not looks(run, 2)
    assert seen[:3] == [
        ("Decided", Mode.OPEN),
        ("Settled", Mode.OPEN),
        ("ModeChange", Mode.STOPPED),
    ]


def test_a_callback_is_called_without_the_runs_lock() -> None:
    """Another thread can use the run while a callback takes its time."""
    inside, go_on = threading.Event(), threading.Event()
    in_time: list[bool] = []

    def slow(event: BreakerEvent) -> None:
        if isinstance(event, Decided) and event.call_id == "c1":
            inside.set()
            in_time.append(go_on.wait(5))

    run = Breaker(specs=SPECS, on_event=slow).run()
    thread = threading.Thread(target=looks, args=(run, 1))
    thread.start()
    assert inside.wait(10)

    assert looks(run, 2)
    go_on.set()
    thread.join(10)
    assert in_time == [True]
    assert run.stats().calls == 2


def test_an_event_that_comes_just_as_the_last_was_told_is_told_too() -> None:
    """Whoever brings it finds somebody at work, and goes away."""
    told: list[BreakerEvent] = []
    post = Post([told.append])
    events = [
        Decided(call_id=f"{n}", tool="look", decision=Decision.ALLOW, reason=None, mode=Mode.OPEN)
        for n in range(2)
    ]

    class Busy:
        """Lets go of the work as late as it can be."""

        def __init__(self) -> None:
            self.lock = threading.Lock()

        def acquire(self, *, blocking: bool) -> bool:
            return self.lock.acquire(blocking=blocking)

        def release(self) -> None:
            if len(told) == 1:
                post.put(events[1])
                post.deliver()
            self.lock.release()

    post._busy = Busy()  # type: ignore[assignment]  # noqa: SLF001 - no public moment is there
    post.put(events[0])
    post.deliver()

    assert told == events


def test_a_callback_that_wants_some_events_is_told_of_no_others() -> None:
    class Stops:
        wants = (ModeChange,)

        def __init__(self) -> None:
            self.told: list[BreakerEvent] = []

        def __call__(self, event: BreakerEvent) -> None:
            self.told.append(event)

    every: list[BreakerEvent] = []
    stops = Stops()
    run = Breaker(specs=SPECS, on_event=[stops, every.append]).run()
    looks(run, 1)
    run.interrupt("enough")

    assert [type(each) for each in stops.told] == [ModeChange]
    assert len(every) == 3


def test_what_a_callback_raises_is_logged_once_and_harms_nobody(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told: list[BreakerEvent] = []

    def fails(event: BreakerEvent) -> None:
        raise LookupError(event)

    run = Breaker(specs=SPECS, on_event=[fails, told.append]).run()
    with caplog.at_level(logging.ERROR, LOGGER):
        for number in range(3):
            assert looks(run, number)

    assert len(told) == 6
    (line,) = caplog.records
    assert "failed; the run goes on, and this is told once" in line.getMessage()
    assert line.exc_info is not None


def test_an_alert_is_told_once_for_each_budget() -> None:
    told: list[BreakerEvent] = []
    budget = RunBudget(max_tool_calls=10, max_turns=2, alert_share=0.5)
    run = Breaker(specs=SPECS, budget=budget, on_event=told.append).run()
    run.before_model()
    for number in range(8):
        looks(run, number)

    alerts = [(each.name, each.spent) for each in told if isinstance(each, BudgetAlert)]
    assert alerts == [("max_turns", 1.0), ("max_tool_calls", 5.0)]


@pytest.mark.parametrize("given", [3, ["text"], [print, 3]])
def test_what_cannot_be_called_is_refused_at_once(given: Any) -> None:
    with pytest.raises(TypeError):
        Breaker(on_event=given)


def test_an_async_callback_is_refused_with_what_to_do() -> None:
    async def told(event: BreakerEvent) -> None:
        del event

    class Told:
        async def __call__(self, event: BreakerEvent) -> None:
            del event

    for each in (told, Told()):
        with pytest.raises(TypeError, match=r"is async.*a queue of yours"):
            Breaker(on_event=each)


def test_events_of_threads_arrive_in_their_order_and_one_at_a_time(
    threads_switch_often: None,
) -> None:
    del threads_switch_often
    told: list[int] = []
    busy = threading.Lock()

    def listens(event: BreakerEvent) -> None:
        assert busy.acquire(blocking=False)
        told.append(event.seq)
        busy.release()

    run = Breaker(specs=SPECS, on_event=listens).run()

    def work(number: int) -> None:
        for step in range(25):
            looks(run, 1000 * number + step)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert told == list(range(1, 2 * 8 * 25 + 1))


# -- the log


def test_a_trip_is_one_line(caplog: pytest.LogCaptureFixture) -> None:
    run = Breaker(specs=SPECS).run()
    with caplog.at_level(logging.DEBUG, LOGGER):
        for _ in range(3):
            proposed = call(1)
            run.decide(proposed)
            run.settle(proposed, Outcome(status=Status.OK, result="the same"))
        run.decide(call(2, "pay", order="A"))
        run.close()

    assert [(each.levelname, each.getMessage()) for each in caplog.records] == [
        (
            "WARNING",
            f"run {run.run_id}: read_only for repeated_intent_same_outcome (events 2, 4, 7)",
        )
    ]


def test_no_payload_and_no_message_of_a_tool_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    secret = "sk-" + "x" * 30
    run = Breaker(specs=SPECS, budget=RunBudget(max_tool_calls=1)).run(tenant=secret)
    with caplog.at_level(logging.DEBUG, LOGGER):
        for number in range(3):
            run.decide(call(number, "look", order=secret))

    assert caplog.records
    assert secret not in caplog.text


# -- metrics


class Counter:
    """Takes what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[int, dict[str, Any]]] = []

    def add(self, amount: int, attributes: dict[str, Any]) -> None:
        self.told.append((amount, attributes))


class Api(ModuleType):
    """What the breaker uses of the metrics API."""

    def __init__(self) -> None:
        super().__init__("opentelemetry.metrics")
        self.counters: dict[str, Counter] = {}
        self.meters: list[str] = []

    def get_meter(self, name: str) -> Api:
        self.meters.append(name)
        return self

    def create_counter(self, name: str, *, unit: str, description: str) -> Counter:
        assert unit
        assert description
        assert name not in self.counters
        self.counters[name] = Counter()
        return self.counters[name]


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Api:
    made = Api()
    monkeypatch.setitem(sys.modules, "opentelemetry.metrics", made)
    return made


def test_decisions_and_trips_are_counted(api: Api) -> None:
    breaker = Breaker(specs=SPECS, budget=RunBudget(max_tool_calls=1))
    for _ in range(2):
        run = breaker.run(tenant="acme")
        for number in range(3):
            looks(run, number)

    decisions = [attributes for _, attributes in api.counters["tripwire.decisions"].told]
    assert decisions == 2 * [
        {"tripwire.decision": "ALLOW", "tripwire.reason": "", "tripwire.shadow": False},
        *2
        * [
            {
                "tripwire.decision": "INTERRUPT",
                "tripwire.reason": "tool_call_budget",
                "tripwire.shadow": False,
            }
        ],
    ]
    assert api.counters["tripwire.trips"].told == 2 * [
        (
            1,
            {
                "tripwire.trip": "stopped",
                "tripwire.reason": "tool_call_budget",
                "tripwire.shadow": False,
            },
        )
    ]
    assert api.meters == ["pytest_tripwire"]


def test_an_api_that_is_imported_later_is_found_by_the_next_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "opentelemetry.metrics", raising=False)
    breaker = Breaker(specs=SPECS)
    looks(breaker.run(), 1)
    api = Api()
    monkeypatch.setitem(sys.modules, "opentelemetry.metrics", api)
    looks(breaker.run(), 1)

    assert len(api.counters["tripwire.decisions"].told) == 1


def test_an_api_that_is_half_imported_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.metrics", ModuleType("half"))

    assert looks(Breaker(specs=SPECS).run(), 1)


def test_an_api_that_nobody_has_imported_is_not_imported() -> None:
    assert metrics_api({}) is None
    # A process of its own: others in this one may have imported it.
    code = (
        "import sys; from pytest_tripwire import Breaker; Breaker().run(); "
        "sys.exit('opentelemetry' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_metrics_that_fail_harm_nobody(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    def fails(*_: Any) -> None:
        raise RuntimeError

    run = Breaker(specs=SPECS).run()
    api.counters["tripwire.decisions"].add = fails  # type: ignore[method-assign]
    with caplog.at_level(logging.ERROR, LOGGER):
        assert looks(run, 1)
        assert looks(run, 2)

    assert len(caplog.records) == 1


# -- the run in numbers


def test_a_run_in_numbers() -> None:
    class Clock:
        seconds = 0.0

        def now(self) -> float:
            return self.seconds

    clock = Clock()
    budget = RunBudget(max_tool_calls=4, max_side_effects=1)
    run = Breaker(specs=SPECS, budget=budget, clock=clock).run()  # type: ignore[arg-type]
    clock.seconds = 5
    run.before_model()
    run.after_model(Usage(prompt_tokens=10, completion_tokens=2, cost_usd=Decimal("0.25")))
    looks(run, 1)
    run.decide(call(2, "pay", order="A"))
    run.decide(call(3, "pay", order="A"))
    run.decide(call(4, "made up"))
    run.decide(call(5, "pay", order="B"))

    stats = run.stats()

    assert stats.decisions == {
        Decision.ALLOW: 2,
        Decision.REFUSE: 2,
        Decision.INTERRUPT: 1,
    }
    assert stats.reasons == {
        Reason.DUPLICATE_WRITE: 1,
        Reason.INVALID_ARGUMENTS: 1,
        Reason.SIDE_EFFECT_BUDGET: 1,
    }
    assert stats.tools == {
        "look": {Decision.ALLOW: 1},
        "pay": {Decision.ALLOW: 1, Decision.REFUSE: 1, Decision.INTERRUPT: 1},
        "(undeclared)": {Decision.REFUSE: 1},
    }
    assert (stats.turns, stats.calls, stats.in_flight, stats.not_run) == (1, 2, 1, 3)
    assert (stats.side_effects, stats.tokens, stats.cost_usd) == (1, 12, Decimal("0.25"))
    assert (stats.run_id, stats.mode, stats.last_reason) == (
        run.run_id,
        Mode.STOPPED,
        Reason.SIDE_EFFECT_BUDGET,
    )
    assert (stats.elapsed_s, stats.shadow) == (5.0, False)
    assert [each.remaining for each in stats.budgets] == [2, 0]


def test_the_numbers_are_those_of_a_moment() -> None:
    run = Breaker(specs=SPECS).run()
    before = run.stats()
    looks(run, 1)

    assert before.calls == 0
    assert before.decisions == {}
    with pytest.raises(AttributeError):
        before.calls = 7  # type: ignore[misc]


def test_names_that_a_model_makes_up_take_no_memory() -> None:
    run = Breaker(specs=SPECS).run()
    for number in range(500):
        run.decide(call(number, f"tool-{number}"))

    assert list(run.stats().tools) == ["(undeclared)"]


def test_a_call_that_is_taken_back_was_none() -> None:
    run = Breaker(specs=SPECS).run()
    proposed = call(1)
    run.decide(proposed)
    run.withdraw(proposed)

    assert (run.stats().calls, run.stats().in_flight) == (0, 0)
    with pytest.raises(KeyError):
        run.withdraw(proposed)


def test_a_change_of_mode_says_what_it_was_before() -> None:
    told: list[BreakerEvent] = []
    run = Breaker(specs=SPECS, on_event=told.append).run()
    lost = call(1, "pay", order="A")
    run.decide(lost)
    run.settle(lost, Outcome(status=Status.UNKNOWN))
    run.decide(call(2, "pay", order="A"))
    run.decide(call(3, "pay", order="B"))

    changes = [(each.was, each.mode) for each in told if isinstance(each, ModeChange)]
    assert changes == [(Mode.OPEN, Mode.READ_ONLY), (Mode.READ_ONLY, Mode.STOPPED)]
