"""Misbehaviour that can be laid over any tool, one file for each kind."""

from pytest_tripwire.world.faults.fault import Fault
from pytest_tripwire.world.faults.lost_answer import LostAnswer

__all__ = ["Fault", "LostAnswer"]
