"""Runs one agent on one case, and says what came of it."""

from pytest_tripwire.harness.assertions import (
    assert_interrupted,
    assert_no_mutation_after_interrupt,
)
from pytest_tripwire.harness.failures import HarnessError, TripwireFailure, explain, failure
from pytest_tripwire.harness.harness import EXAMPLE, Harness, checked
from pytest_tripwire.harness.options import Options, Protection
from pytest_tripwire.harness.run import Run
from pytest_tripwire.harness.task import Agent, Model, Resumed, Task, Tools

__all__ = [
    "EXAMPLE",
    "Agent",
    "Harness",
    "HarnessError",
    "Model",
    "Options",
    "Protection",
    "Resumed",
    "Run",
    "Task",
    "Tools",
    "TripwireFailure",
    "assert_interrupted",
    "assert_no_mutation_after_interrupt",
    "checked",
    "explain",
    "failure",
]
