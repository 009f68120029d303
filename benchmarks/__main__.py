"""`python -m benchmarks [--quick] [--only NAME] [--json]`, from the root of the repository."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence

from benchmarks import (
    cycle_detection,
    durable_write,
    fingerprint,
    guarded_async,
    guarded_call,
    large_arguments,
    memory,
    model_server,
    reports,
    threads,
    unrelated,
)
from benchmarks.line import Line, as_json, table
from benchmarks.plan import Plan

#: In the order of the table. A new one is a module with `NAME` and `run`, and its place here.
BENCHMARKS: Mapping[str, Callable[[Plan], Iterator[Line]]] = {
    module.NAME: module.run
    for module in (
        guarded_call,
        guarded_async,
        large_arguments,
        fingerprint,
        cycle_detection,
        threads,
        memory,
        model_server,
        reports,
        unrelated,
        durable_write,
    )
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for and print the table. A goal that is not met is no failure."""
    asked = _parser().parse_args(arguments)
    plan = Plan(quick=asked.quick)
    lines: list[Line] = []
    for name in asked.only or BENCHMARKS:
        sys.stderr.write(f"{name} ...\n")
        lines.extend(BENCHMARKS[name](plan))
    sys.stdout.write((as_json(lines) if asked.json else table(lines)) + "\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="What breaker, model server and plugin cost, as ratios within this one run.",
    )
    parser.add_argument("--quick", action="store_true", help="see only that it runs")
    parser.add_argument(
        "--only",
        metavar="NAME",
        action="append",
        choices=list(BENCHMARKS),
        help=f"one benchmark, may be repeated: {', '.join(BENCHMARKS)}",
    )
    parser.add_argument("--json", action="store_true", help="for a program to read")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
