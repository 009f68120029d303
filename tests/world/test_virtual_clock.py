"""Time moves only when all that is under way waits for it. No test here waits for real."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.world import VirtualClock

trio = pytest.importorskip("trio")
Program = Sequence[float]

#: Real seconds after which a test that hangs gives up.
CEILING = 20


def in_threads(clock: VirtualClock, programs: Sequence[Program]) -> list[list[float]]:
    """Each program in a thread, all announced before the first begins."""
    ends: list[list[float]] = [[] for _ in programs]

    def run(number: int) -> None:
        for seconds in programs[number]:
            clock.wait(seconds)
            ends[number].append(clock.now())
        clock.leave()

    for _ in programs:
        clock.enter()
    threads = [threading.Thread(target=run, args=(n,)) for n in range(len(programs))]
    for each in threads:
        each.start()
    for each in threads:
        each.join(CEILING)
    return ends


async def _task(clock: VirtualClock, program: Program, ends: list[float]) -> None:
    for seconds in program:
        await clock.park(seconds)
        ends.append(clock.now())
    clock.leave()


def in_asyncio(clock: VirtualClock, programs: Sequence[Program]) -> list[list[float]]:
    ends: list[list[float]] = [[] for _ in programs]

    async def main() -> None:
        for _ in programs:
            clock.enter()
        await asyncio.gather(*(_task(clock, *each) for each in zip(programs, ends, strict=True)))

    asyncio.run(main())
    return ends


def in_trio(clock: VirtualClock, programs: Sequence[Program]) -> list[list[float]]:
    ends: list[list[float]] = [[] for _ in programs]

    async def main() -> None:
        for _ in programs:
            clock.enter()
        async with trio.open_nursery() as nursery:
            for each in zip(programs, ends, strict=True):
                nursery.start_soon(_task, clock, *each)

    trio.run(main)
    return ends


WAYS: dict[str, Callable[..., list[list[float]]]] = {
    "threads": in_threads,
    "asyncio": in_asyncio,
    "trio": in_trio,
}
each_way = pytest.mark.parametrize("way", WAYS)


@each_way
def test_siblings_of_ten_and_thirty_end_at_ten_and_thirty(way: str) -> None:
    assert WAYS[way](VirtualClock(), [[10.0], [30.0]]) == [[10.0], [30.0]]


@each_way
def test_one_after_the_other_they_end_at_ten_and_forty(way: str) -> None:
    assert WAYS[way](VirtualClock(), [[10.0, 30.0]]) == [[10.0, 40.0]]


@each_way
def test_waits_of_the_same_length_end_together(way: str) -> None:
    assert WAYS[way](VirtualClock(), [[5.0]] * 4) == [[5.0]] * 4


@each_way
def test_no_time_passes_without_a_wait(way: str) -> None:
    clock = VirtualClock()

    assert WAYS[way](clock, [[0.0], [0.0, 0.0]]) == [[0.0], [0.0, 0.0]]
    assert clock.now() == 0.0


def due(programs: Sequence[Program]) -> list[list[float]]:
    """When the waits of programs that run side by side have to end."""
    ends = []
    for program in programs:
        total, own = 0.0, []
        for seconds in program:
            total += seconds
            own.append(total)
        ends.append(own)
    return ends


PROGRAMS = st.lists(st.lists(st.integers(0, 50).map(float), max_size=5), min_size=1, max_size=4)


@each_way
@settings(deadline=None, max_examples=40)
@given(programs=PROGRAMS)
def test_any_programs_end_at_the_right_times(way: str, programs: list[list[float]]) -> None:
    assert WAYS[way](VirtualClock(), programs) == due(programs)


@settings(deadline=None, max_examples=40)
@given(programs=PROGRAMS, marks=st.lists(st.integers(0, 120).map(float), max_size=6))
def test_time_never_goes_back_and_entries_fire_at_theirs(
    programs: list[list[float]], marks: list[float]
) -> None:
    clock = VirtualClock()
    fired: list[tuple[float, float]] = []
    for mark in marks:
        clock.at(mark, lambda mark=mark: fired.append((mark, clock.now())))  # type: ignore[misc]

    in_asyncio(clock, programs)

    assert all(mark == now for mark, now in fired)
    assert [now for _mark, now in fired] == sorted(now for _mark, now in fired)
    ended = clock.now()
    assert sorted(mark for mark, _now in fired) == sorted(m for m in marks if m <= ended and ended)


# -- entries


def test_deadline_fires_at_its_moment_exactly() -> None:
    clock, fired = VirtualClock(), []
    clock.at(60.0, lambda: fired.append(clock.now()))

    clock.sleep(90.0)

    assert (fired, clock.now()) == ([60.0], 90.0)


def test_deadline_fires_before_what_ends_at_the_same_moment() -> None:
    clock, order = VirtualClock(), []
    clock.at(60.0, lambda: order.append("deadline"))

    clock.sleep(60.0)
    order.append("work")

    assert order == ["deadline", "work"]


def test_entry_that_is_taken_back_does_not_fire() -> None:
    clock, fired = VirtualClock(), []
    clock.at(5.0, lambda: fired.append(1))()

    clock.sleep(10.0)

    assert fired == []


def test_entry_alone_moves_no_time() -> None:
    clock = VirtualClock()
    clock.at(5.0, lambda: None)

    with clock.live():
        pass

    assert clock.now() == 0.0


def test_negative_wait_is_an_error() -> None:
    with pytest.raises(ValueError, match="seconds are 0 or more"):
        VirtualClock().sleep(-1.0)


# -- cancelling


def in_loop(kind: str, main: Callable[[], Awaitable[Any]]) -> Any:
    if kind == "trio":
        return trio.run(main)
    return asyncio.run(main())  # type: ignore[arg-type]


loops = pytest.mark.parametrize("kind", ["asyncio", "trio"])


@loops
def test_cancelled_wait_gives_up_its_place(kind: str) -> None:
    clock = VirtualClock()

    async def main() -> float:
        with pytest.raises(TimeoutError):
            await clock.within(5.0, clock.asleep(50.0))
        await clock.asleep(1.0)
        return clock.now()

    assert in_loop(kind, main) == 6.0


@loops
def test_who_was_cancelled_and_goes_on_is_waited_for(kind: str) -> None:
    clock = VirtualClock()
    seen: list[float] = []

    async def goes_on() -> None:
        with pytest.raises(TimeoutError):
            await clock.within(5.0, clock.park(50.0))
        for _ in range(9):
            await (trio.lowlevel.checkpoint() if kind == "trio" else asyncio.sleep(0))
            seen.append(clock.now())
        clock.leave()

    async def main() -> None:
        clock.enter()
        clock.enter()
        if kind == "trio":
            async with trio.open_nursery() as nursery:
                nursery.start_soon(goes_on)
                nursery.start_soon(_task, clock, [20.0], seen)
        else:
            await asyncio.gather(goes_on(), _task(clock, [20.0], seen))

    in_loop(kind, main)

    assert seen == [5.0] * 9 + [20.0]


@loops
def test_what_ends_in_time_is_not_cancelled(kind: str) -> None:
    clock = VirtualClock()

    async def work() -> str:
        await clock.asleep(5.0)
        return "done"

    async def main() -> str:
        result: str = await clock.within(5.5, work())
        await clock.asleep(10.0)
        return result

    assert in_loop(kind, main) == "done"
    assert clock.now() == 15.0


@loops
def test_at_the_limit_exactly_the_limit_wins(kind: str) -> None:
    clock = VirtualClock()

    async def main() -> None:
        with pytest.raises(TimeoutError):
            await clock.within(5.0, clock.asleep(5.0))

    in_loop(kind, main)


@loops
def test_own_error_passes_through(kind: str) -> None:
    clock = VirtualClock()

    async def work() -> None:
        await clock.asleep(1.0)
        raise LookupError

    async def main() -> None:
        with pytest.raises(LookupError):
            await clock.within(5.0, work())

    in_loop(kind, main)


def test_end_just_before_a_siblings_limit_leaves_no_error_in_the_loop() -> None:
    clock = VirtualClock()
    complaints: list[Any] = []

    async def work(seconds: float) -> str:
        await clock.asleep(seconds)
        return "done"

    async def main() -> list[Any]:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, it: complaints.append(it))
        tasks = (clock.within(60.0, work(seconds)) for seconds in (10.0, 90.0))
        ends = await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)
        return ends

    first, second = asyncio.run(main())

    assert first == "done"
    assert isinstance(second, TimeoutError)
    assert complaints == []


# -- siblings that were announced


def test_first_of_two_announced_siblings_waits_for_the_second() -> None:
    clock = VirtualClock(grace=CEILING)
    clock.announce(2)
    ends: dict[str, float] = {}

    def work(name: str, seconds: float) -> None:
        with clock.live():
            clock.wait(seconds)
            ends[name] = clock.now()

    threads = [
        threading.Thread(target=work, args=each) for each in (("long", 30.0), ("short", 10.0))
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join(CEILING)

    assert ends == {"short": 10.0, "long": 30.0}


def test_announced_sibling_that_does_not_come_is_not_waited_for() -> None:
    clock = VirtualClock(grace=0.001)
    clock.announce(2)

    clock.sleep(10.0)
    clock.sleep(30.0)

    assert clock.now() == 40.0
