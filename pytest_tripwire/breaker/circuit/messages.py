"""What a model is told whose call a circuit refuses."""

from __future__ import annotations

from pytest_tripwire.timeline import Reason


def tool_open(tool: str, errors: int) -> str:
    """The tool is down."""
    return (
        f"{tool} has failed {errors} times in a row, so it is not called for now. Do what does not "
        f"need it, or say that {tool} does not answer."
    )


def run_open(tool: str, cause: Reason) -> str:
    """The circuit of the run is open."""
    return (
        f"No tool runs for now ({cause}), so {tool} was not called. Finish with what you know, or "
        "say what you would need."
    )


def identical(tool: str, times: int) -> str:
    """The very same proposal again."""
    return (
        f"{tool} was proposed {times} times in a row with the same arguments, so it was not called "
        "again. Go on from the answer that you have, or do something else."
    )


def turns(tool: str, limit: int) -> str:
    """The turns are used up."""
    return (
        f"This run has had its {limit} turns, so {tool} was not called. Finish with what you know."
    )
