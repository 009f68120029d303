"""The steps of a run by the model's requests that proposed them."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from pytest_tripwire.replay.trace import MODEL_REQUEST, TraceStep


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """What one request proposed: steps, each with how often; `times` such requests in a row."""

    steps: tuple[tuple[TraceStep, int], ...]
    times: int = 1

    @property
    def tokens(self) -> int | None:
        """What the request has used; None if nobody says."""
        if all(step.prompt_tokens is None for step, _ in self.steps):
            return None
        return sum(
            ((step.prompt_tokens or 0) + (step.completion_tokens or 0)) * often
            for step, often in self.steps
        )


def turns_of(steps: tuple[TraceStep, ...]) -> Iterator[Turn]:
    """The model's requests in order. A step that names no turn is one of its own."""
    together: list[TraceStep] = []
    for step in steps:
        if step.is_event and step.tool != MODEL_REQUEST:
            continue
        if together and (step.turn is None or step.turn != together[-1].turn):
            yield Turn(steps=tuple((each, each.repeat) for each in together))
            together = []
        if step.turn is None:
            yield Turn(steps=((step, 1),), times=step.repeat)
        else:
            together.append(step)
    if together:
        yield Turn(steps=tuple((each, each.repeat) for each in together))
