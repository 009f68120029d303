"""Streams that do not ask for their size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_tripwire.models.counters import Noted
from pytest_tripwire.models.diagnosis.diagnosis import Diagnosis, Kind
from pytest_tripwire.models.diagnosis.reading import of_script


def missing_usage(noted: Sequence[Noted]) -> Iterator[Diagnosis]:
    """Found where the agent's client is told of no tokens, because it has not asked."""
    for each, _ in of_script(noted):
        if not each.usage:
            yield Diagnosis(
                kind=Kind.MISSING_USAGE,
                request=each.number,
                message=(
                    "a stream does not ask for its usage, so a cost or token budget of the "
                    "agent's own counts nothing"
                ),
                # With their own provider's address alone, some clients ask by themselves.
                remedy=(
                    'send stream_options {"include_usage": true}, by the client\'s own setting; '
                    "some ask by themselves, but only at the provider's own address"
                ),
            )
