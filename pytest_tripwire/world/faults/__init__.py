"""Misbehaviour that can be laid over any tool, one file for each kind."""

from pytest_tripwire.world.faults.denial import Denial, PolicyDeniedError
from pytest_tripwire.world.faults.empty import Empty
from pytest_tripwire.world.faults.error_after import ErrorAfter
from pytest_tripwire.world.faults.error_before import ErrorBefore, NotAcceptedError
from pytest_tripwire.world.faults.late_answer import LateAnswer
from pytest_tripwire.world.faults.lost_answer import LostAnswer
from pytest_tripwire.world.faults.partial_failure import PartialFailure
from pytest_tripwire.world.faults.plan import Fault, On, Plan
from pytest_tripwire.world.faults.rate_limit import RateLimit, RateLimitedError
from pytest_tripwire.world.faults.slow import Slow
from pytest_tripwire.world.faults.stale_read import StaleRead
from pytest_tripwire.world.faults.stretch import stretched

__all__ = [
    "Denial",
    "Empty",
    "ErrorAfter",
    "ErrorBefore",
    "Fault",
    "LateAnswer",
    "LostAnswer",
    "NotAcceptedError",
    "On",
    "PartialFailure",
    "Plan",
    "PolicyDeniedError",
    "RateLimit",
    "RateLimitedError",
    "Slow",
    "StaleRead",
    "stretched",
]
