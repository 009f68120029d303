"""The recorded runs as a ratchet: which are known to go wrong, so that no other one does.

`python tests/replay/ratchet.py` writes the list anew, from the repository's root. It only gets
shorter: a case that was right and is wrong now has to be put right, or its id is written by hand
and the change says why.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pytest_tripwire.replay.drive import replay_trace
from pytest_tripwire.replay.problem import Problem
from pytest_tripwire.replay.reading import read, sources
from pytest_tripwire.replay.run import Replay, Replayed, run
from pytest_tripwire.replay.settings import Settings
from pytest_tripwire.replay.trace import Trace

DATA = Path(__file__).parents[1] / "data"
CORPUS = DATA / "corpus"
RATCHET = DATA / "corpus-ratchet.toml"
#: Runs re-created later, from other reports, by people who had not seen the rules.
FURTHER = DATA / "further-runs.jsonl"
FURTHER_RATCHET = DATA / "further-ratchet.toml"
SETS = {"corpus": (CORPUS, RATCHET), "further": (FURTHER, FURTHER_RATCHET)}

#: Table of the list, and whether the cases are replayed with their hints.
WAYS = {"with_hints": True, "without_hints": False}

_HEAD = """\
# Recorded runs that are known to go another way than is expected. Written by
# `python tests/replay/ratchet.py`; see there.
"""


def traces(folder: Path = CORPUS) -> list[Trace]:
    """All cases. Raises ValueError for one that cannot be read."""
    found = list(read(sources([str(folder)]), stdin=sys.stdin.buffer))
    problems = [item for item in found if isinstance(item, Problem)]
    if problems:
        raise ValueError("; ".join(f"{each.where}: {each.reason}" for each in problems))
    return [item for item in found if isinstance(item, Trace)]


def replayed(cases: Iterable[Trace], *, hints: bool, replay: Replay) -> Iterator[Replayed]:
    """Each case and what came of it. Raises ValueError for one that cannot be replayed."""
    for item in run(cases, settings=Settings(hints=hints), replay=replay):
        if isinstance(item, Problem):
            raise ValueError(f"{item.where}: {item.reason}")  # noqa: TRY004 - it is no type error
        yield item


def wrong(cases: Iterable[Trace], *, hints: bool, replay: Replay) -> dict[str, str]:
    """The cases that go another way, and how."""
    return {
        item.verdict.id: f"expected {item.judgement.expected}; {item.judgement.happened}"
        for item in replayed(cases, hints=hints, replay=replay)
        if item.judgement is not None and not item.judgement.right
    }


def known(path: Path = RATCHET) -> dict[str, frozenset[str]]:
    """The cases that are known to go wrong, for each way."""
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    return {way: frozenset(content[way]["wrong"]) for way in WAYS}


def difference(before: frozenset[str], now: dict[str, str]) -> list[str]:
    """What has changed, a line for each case."""
    worse = [f"{case} goes wrong now: {how}" for case, how in now.items() if case not in before]
    better = [
        f"{case} is right now: tighten the ratchet with `python tests/replay/ratchet.py`"
        for case in sorted(before - set(now))
    ]
    return [*worse, *better]


def as_toml(lists: dict[str, Iterable[str]]) -> str:
    """The file."""
    parts = [_HEAD]
    for way, cases in lists.items():
        lines = "".join(f'    "{case}",\n' for case in sorted(cases))
        parts.append(f"\n[{way}]\nwrong = [\n{lines}]\n" if lines else f"\n[{way}]\nwrong = []\n")
    return "".join(parts)


def main(arguments: list[str]) -> int:
    """Write the lists; with `--allow`, also where they get longer. Returns the exit status."""
    return max(_write(*each, allow="--allow" in arguments) for each in SETS.values())


def _write(data: Path, ratchet: Path, *, allow: bool) -> int:
    cases = traces(data)
    now = {way: wrong(cases, hints=hints, replay=replay_trace) for way, hints in WAYS.items()}
    before = known(ratchet) if ratchet.exists() else None
    for way, found in now.items():
        worse = (
            {} if before is None else {c: how for c, how in found.items() if c not in before[way]}
        )
        for case, how in worse.items():
            _say(f"{way}: {case} goes wrong now: {how}")
        if worse and not allow:
            _say("nothing is written; put these right, or pass --allow and say why")
            return 1
    ratchet.write_text(as_toml({way: list(found) for way, found in now.items()}), "utf-8")
    _say(f"{ratchet.name}: " + ", ".join(f"{len(found)} {way}" for way, found in now.items()))
    return 0


def _say(line: Any) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
