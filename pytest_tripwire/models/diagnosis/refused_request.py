"""Requests that the model server turned down."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_tripwire.models.diagnosis.diagnosis import Diagnosis, Kind


def refused_request(refusals: Sequence[str]) -> tuple[Diagnosis, ...]:
    """What is said of the latest of `ModelServer.refusals`; a request that could not be read has
    no number.
    """
    return tuple(
        Diagnosis(
            kind=Kind.REFUSED_REQUEST,
            message=f"the model server turned a request down: {each}",
            remedy="correct what the agent sends; a provider would turn it down too",
            times=len(refusals),
        )
        for each in refusals[-1:]
    )
