"""The model's side of a run: what a request may cost, and whether it may be sent at all."""

from __future__ import annotations

from decimal import Decimal

from pytest_tripwire.breaker.accounts import ANY
from pytest_tripwire.breaker.budget import Dimension, Usage
from pytest_tripwire.breaker.checks.budgets import spent
from pytest_tripwire.breaker.checks.stop_state import over
from pytest_tripwire.breaker.conversation import current
from pytest_tripwire.breaker.core import Core
from pytest_tripwire.breaker.finding import Finding, stop_for
from pytest_tripwire.breaker.modes import Modes
from pytest_tripwire.breaker.progress.bounded import Bounded
from pytest_tripwire.breaker.repetition import Repetition
from pytest_tripwire.timeline import Decision, Mode, Reason

#: Conversations whose last texts are remembered.
_CONVERSATIONS = 256
#: Turns in a row that bring nothing, after which a run past its usual length is stopped.
PATIENCE = 2

_UNKNOWN = (
    "The provider does not say what the last request used, and this run has a budget in that. "
    "Unknown is not zero: no further request is sent."
)
_UNUSUAL = "This run is longer than usual and gets nowhere. Finish with what you know."
_REPEATED = "The same was said again and again and nothing came of it, so the run was stopped."

_ENDED = "This run has come to its end. No request is sent in it any more: begin a new one."


class Turns:
    """Counts and pays a run's model requests. Used under the run's lock.

    Args:
        core: the run.
        modes: moves it.
        said: fingerprints of what an earlier part of the run has said.
    """

    def __init__(self, core: Core, modes: Modes, said: tuple[str, ...] = ()) -> None:
        self._core = core
        self._modes = modes
        self._promised: list[Decimal] = []
        self._talk = Repetition(digests=said)
        self._talks: Bounded[str, Repetition] = Bounded(_CONVERSATIONS)
        self._talked_since = self._got_to()
        #: Answers that are still under way of those that were when one came.
        self._siblings = 0

    @property
    def said_before(self) -> tuple[str, ...]:
        """Fingerprints of the last texts, oldest first."""
        return self._talk.digests

    def open(self, estimate_usd: Decimal | None) -> Finding | None:
        """Open a turn: reserve what its request is expected to cost, the lowest seen if nobody
        estimates. Returns why it must not be sent, if it must not.
        """
        if self._core.state.ended and self._core.shadow is None:
            return Finding(decision=Decision.REFUSE, reason=Reason.CANCELLED, message=_ENDED)
        stop = self._core.state.stop
        if stop is not None and self._core.state.mode is Mode.STOPPED:
            return over(stop)
        finding = self._unusual() or self._reserve(estimate_usd)
        if finding is not None:
            if self._core.shadow is None:
                self._modes.leave_open(finding)
                return finding
            self._watch(estimate_usd)
        self._core.state.turns += 1
        self._core.state.final = self._core.state.over_ceiling
        return None

    def pay(self, usage: Usage) -> None:
        """Pay for the request that was opened first and not paid yet."""
        promised = self._promised.pop(0) if self._promised else Decimal(0)
        cost = usage.cost_usd
        self._core.accounts.settle(
            Dimension.MODEL_COST, reserved=promised, spent=promised if cost is None else cost
        )
        self._core.accounts.settle(
            Dimension.TOKENS, reserved=Decimal(0), spent=Decimal(usage.tokens)
        )
        if cost is not None:
            self._core.state.lowest_cost = min(self._core.state.lowest_cost or cost, cost)
        if self._is_unknown(usage):
            self._modes.leave_open(stop_for(Reason.COST_UNKNOWN, _UNKNOWN))
        ceiling = self._core.budget.max_prompt_tokens
        if ceiling is not None and (usage.prompt_tokens or 0) > ceiling:
            self._core.state.over_ceiling = True

    def said(self, text: str) -> None:
        """Take what the model has said in the turn. Said again and again without getting anywhere,
        it stops the run; the same few words before each step of good work do not, or before each
        look at what is waited for, nor do those of agents that know nothing of each other: each
        conversation has its own.
        """
        got_to = self._got_to()
        if got_to != self._talked_since:
            self._talked_since = got_to
            self._talk.clear()
            self._talks.clear()
        talk = self._talk_here()
        if not self._is_sibling() or not talk.said_last(text):
            self._hear(talk, text)

    def _hear(self, talk: Repetition, text: str) -> None:
        if talk.add(text):
            self._modes.leave_open(stop_for(Reason.OUTPUT_REPETITION, _REPEATED))

    def _is_sibling(self) -> bool:
        """Whether an answer was under way when the last one came that was not: who asked for it
        knew nothing of that one.
        """
        sibling = self._siblings > 0
        self._siblings = self._siblings - 1 if sibling else len(self._promised)
        return sibling

    def _got_to(self) -> tuple[int, int]:
        """What grows as long as the run gets somewhere, or waits for something."""
        return self._core.state.progress_turn, self._core.state.looks

    def _talk_here(self) -> Repetition:
        name = self._core.state.conversations.name(current())
        return self._talks.of(name, Repetition) if name else self._talk

    def give_back(self) -> None:
        """Give back what was reserved for the request that was opened first."""
        promised = self._promised.pop(0) if self._promised else Decimal(0)
        self._core.accounts.settle(Dimension.MODEL_COST, reserved=promised, spent=Decimal(0))

    def _promise(self, estimate_usd: Decimal | None) -> Decimal:
        return self._core.state.lowest_cost if estimate_usd is None else estimate_usd

    def _reserve(self, estimate_usd: Decimal | None) -> Finding | None:
        promised = self._promise(estimate_usd)
        short = self._core.accounts.reserve(_needs(promised))
        if short is not None:
            return spent(short)
        self._core.accounts.settle(Dimension.TURNS, reserved=Decimal(1), spent=Decimal(1))
        self._promised.append(promised)
        return None

    def _watch(self, estimate_usd: Decimal | None) -> None:
        """Note all that stands against a request, which is sent all the same."""
        accounts = self._core.accounts
        needs = _needs(self._promise(estimate_usd))
        short = [each for each in needs if accounts.short_of({each: needs[each]}) is not None]
        unusual = self._unusual()
        for finding in [*([unusual] if unusual else []), *(spent(each) for each in short)]:
            self._modes.leave_open(finding)
        accounts.settle(Dimension.TURNS, reserved=Decimal(0), spent=Decimal(1))
        self._promised.append(Decimal(0))

    def _unusual(self) -> Finding | None:
        usual = self._core.budget.usual_turns
        if usual is None or self._core.state.turns < usual:
            return None
        stuck = self._core.state.turns - self._core.state.progress_turn >= PATIENCE
        return stop_for(Reason.TURN_BUDGET, _UNUSUAL) if stuck else None

    def _is_unknown(self, usage: Usage) -> bool:
        money = self._core.accounts.is_limited(Dimension.MODEL_COST) and usage.cost_usd is None
        tokens = self._core.accounts.is_limited(Dimension.TOKENS) and usage.prompt_tokens is None
        return money or tokens


def _needs(promised: Decimal) -> dict[Dimension, Decimal]:
    """What a request takes."""
    return {
        Dimension.MODEL_COST: promised or ANY,
        Dimension.TOKENS: ANY,
        Dimension.TURNS: Decimal(1),
    }
