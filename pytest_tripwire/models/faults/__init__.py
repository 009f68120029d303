"""What goes wrong between an agent and its model: plans, one file each, all of one shape."""

from pytest_tripwire.models.faults.cut_stream import CutStream
from pytest_tripwire.models.faults.delay import Delay
from pytest_tripwire.models.faults.drop import Drop
from pytest_tripwire.models.faults.fault import Delivery, ModelFault
from pytest_tripwire.models.faults.malformed_arguments import MalformedArguments
from pytest_tripwire.models.faults.no_usage import NoUsage
from pytest_tripwire.models.faults.plan import Plan
from pytest_tripwire.models.faults.status import Status
from pytest_tripwire.models.faults.unknown_tool import UnknownTool

__all__ = [
    "CutStream",
    "Delay",
    "Delivery",
    "Drop",
    "MalformedArguments",
    "ModelFault",
    "NoUsage",
    "Plan",
    "Status",
    "UnknownTool",
]
