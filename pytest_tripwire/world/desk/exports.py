"""A job that takes its time, and is asked for until it is done."""

# ruff: noqa: ARG001 - an agent is shown these signatures; the bodies never run
from __future__ import annotations

from typing import Any

from pytest_tripwire.timeline import Effect
from pytest_tripwire.world.operation import Done, Operation, Slots
from pytest_tripwire.world.records import Records
from pytest_tripwire.world.roles import RESOURCE, Role


def get_export(job_id: str) -> dict[str, Any]:
    """Ask whether an export is ready.

    Args:
        job_id: the job.
    """
    return {}


def job_name(slots: Slots) -> str:
    """The business's own name of the job that is meant."""
    return f"job {slots.get(RESOURCE)}"


def open_job(records: Records, job_id: str, polls: int) -> None:
    """A job that is ready after so many polls."""
    records.put(f"job {job_id}", left=polls)


def poll(records: Records, slots: Slots) -> Done:
    """Say that it is running, or done."""
    job = records.need(job_name(slots))
    left = job.fields["left"] - 1
    records.put(job.name, left=left)
    return Done(result={"status": "running" if left > 0 else "done"}, shown=job)


POLL = Operation(
    role="poll",
    effect=Effect.READ,
    kind="export",
    act=poll,
    about=job_name,
    needs=(RESOURCE,),
    poll=True,
    default=Role(get_export, {"job_id": RESOURCE}),
)
