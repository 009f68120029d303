"""How many cases of the field corpus stay right under changes that should not matter.

Run `python tests/replay/score_perturbed.py` from the repository's root; with names of changes, only
these. Prints a table, no more: which case went wrong is said by `-v`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

import perturb
import ratchet

from pytest_tripwire.replay.drive import replay_trace
from pytest_tripwire.replay.summary import Summary
from pytest_tripwire.replay.trace import Trace

_ROW = "{:<24}{:>16}{:>14}{:>19}{:>17}\n"


def row(name: str, cases: Iterable[Trace]) -> tuple[str, list[str]]:
    """One line of the table, and a line for each case that went wrong."""
    cells, lines = [], []
    for way, hints in ratchet.WAYS.items():
        summary = Summary()
        for item in ratchet.replayed(cases, hints=hints, replay=replay_trace):
            summary.add(item)
            if item.judgement is not None and not item.judgement.right:
                lines.append(f"  {way}: {item.verdict.id}: {item.judgement.happened}")
        hostile = summary.hostile.values()
        right, total = sum(each.right for each in hostile), sum(each.total for each in hostile)
        cells += [f"{right}/{total}", f"{summary.legit.wrong}/{summary.legit.total}"]
    return _ROW.format(name, *cells), lines


def table(changes: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """The rows: as recorded, then for each change."""
    cases = ratchet.traces()
    yield row("as recorded", cases)
    for name in changes:
        yield row(name, [perturb.CHANGES[name](case) for case in cases])


def main(arguments: list[str]) -> int:
    """Print the table. Returns the exit status."""
    names = [each for each in arguments if each != "-v"] or list(perturb.CHANGES)
    head = ("change", "hints: right", "stopped", "no hints: right", "stopped")
    sys.stdout.write(_ROW.format(*head))
    for line, wrong in table(names):
        sys.stdout.write(line)
        if "-v" in arguments:
            sys.stdout.writelines(f"{each}\n" for each in wrong)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
