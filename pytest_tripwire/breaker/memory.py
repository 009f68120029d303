"""What a run carries to another process: its counters and fingerprints of what it has seen.

Writes and interruptions are not carried, they live in the store: a checkpoint that is taken up
twice cannot roll them back. Nothing in a state is a payload.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, TypeAlias

import msgspec

from pytest_tripwire.breaker.circuit import CircuitsMemory
from pytest_tripwire.breaker.progress_memory import ProgressMemory
from pytest_tripwire.timeline import Decision, DenialNote, Mode, Reason, SeenVersion

#: Bytes of a state, at most.
MOST_BYTES = 64 * 1024
FORMAT = "pytest_tripwire.run"
VERSION = 1


Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]
Seconds: TypeAlias = Annotated[float, msgspec.Meta(ge=0)]


class StateError(ValueError):
    """A state cannot be taken up, or not be made. Nothing has changed; the message says why."""


class StopMemory(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why a run left `open`."""

    decision: Decision
    reason: Reason
    message: str
    any_read: bool = False


class PolicyDenial(msgspec.Struct, frozen=True, array_like=True):
    """How often a rule of the policy was told about one thing."""

    kind: str
    resource: str
    rule: str
    times: Count


class RunMemory(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A run as it can be carried.

    Args:
        run_id: the run, which goes on under its id.
        tenant: on whose behalf.
        workflow: workflow and version.
        request_id: the piece of work.
        format: tells a state from other JSON.
        version: of this form.
        messages: how often the user had spoken.
        elapsed_s: seconds of its own time.
        mode: what it may still do.
        stop: why it left `open`.
        ended: whether it has come to its end.
        spent: what is used of each dimension, limited or not.
        turns: model requests.
        batches: messages whose calls were told of together.
        round: the last number that siblings have shared.
        progress_turn: the turn that last brought anything.
        over_ceiling: whether a last answer is asked for.
        final: whether the turn under way is that answer.
        diagnosed: whether the one read that tells why was made.
        lowest_cost: of a model request.
        tool_costs: the lowest that each tool has cost.
        executed: dispatches by intent.
        attempts: tries by task.
        calls_ago: seconds since each call of the last minute, longest first.
        circuits: tools that are taken for down.
        texts: fingerprints of the last texts.
        denials: what tools have denied.
        policy_denials: what the policy has denied.
        versions: records that were read, and their versions.
        changed: records that others have changed and that were not read again, and their version
            before.
        kin: ids of the family, as far as they have written anything.
        begun: children that were begun.
        doubtful: keys of writes that are among what is spent and may turn out not to have happened.
        progress: the run's history.
    """

    run_id: str
    tenant: str
    workflow: str
    request_id: str
    format: str = FORMAT
    version: int = VERSION
    messages: Count = 0
    elapsed_s: Seconds = 0.0
    mode: Mode = Mode.OPEN
    stop: StopMemory | None = None
    ended: bool = False
    spent: dict[str, Decimal] = msgspec.field(default_factory=dict)
    turns: Count = 0
    batches: Count = 0
    round: Count = 0
    progress_turn: Count = 0
    over_ceiling: bool = False
    final: bool = False
    diagnosed: bool = False
    lowest_cost: Decimal = Decimal(0)
    tool_costs: dict[str, Decimal] = msgspec.field(default_factory=dict)
    executed: dict[str, Count] = msgspec.field(default_factory=dict)
    attempts: dict[str, Count] = msgspec.field(default_factory=dict)
    calls_ago: tuple[Seconds, ...] = ()
    circuits: CircuitsMemory = CircuitsMemory()
    texts: tuple[str, ...] = ()
    denials: tuple[DenialNote, ...] = ()
    policy_denials: tuple[PolicyDenial, ...] = ()
    versions: tuple[SeenVersion, ...] = ()
    changed: tuple[tuple[str, str], ...] = ()
    kin: tuple[str, ...] = ()
    begun: Count = 0
    doubtful: tuple[str, ...] = ()
    progress: ProgressMemory = ProgressMemory()


class _Head(msgspec.Struct, frozen=True, kw_only=True):
    """What every version of a state begins with."""

    format: str = ""
    version: int = 0


_encoder = msgspec.json.Encoder()

#: What is left out where a state would be too large, the oldest first: what the rules about
#: progress remember, then what only saves a question, then what counts.
_LEFT_OUT: tuple[tuple[str, ...], ...] = (
    ("progress.seen", "progress.said", "progress.repeats", "progress.stubborn"),
    ("versions", "tool_costs", "policy_denials", "kin", "doubtful"),
    ("executed", "attempts", "denials", "changed"),
)


def encode(memory: RunMemory) -> bytes:
    """The state as JSON of at most `MOST_BYTES`; what is oldest is left out where there is too
    much. Raises StateError where even so it is too large.
    """
    # Format and version are written though they are defaults: whoever reads it looks for them.
    data = _encoded(memory)
    for names in _LEFT_OUT:
        while len(data) > MOST_BYTES and any(len(_of(memory, name)) for name in names):
            memory = _halved(memory, _largest(memory, names))
            data = _encoded(memory)
    if len(data) > MOST_BYTES:
        raise StateError(
            f"snapshot() of run {memory.run_id[:80]}: {len(data)} bytes, and a state has "
            f"{MOST_BYTES} at most. Are its ids, its tenant or the names of its tools that long?"
        )
    return data


def decode(state: Any) -> RunMemory:
    """The state that `encode` has made. Raises StateError with what is wrong."""
    if not isinstance(state, bytes | bytearray | memoryview):
        raise StateError(
            "run(state=...): a state is bytes, as snapshot() gives them, not "
            f"{type(state).__name__}"
        )
    data = bytes(state)
    if len(data) > MOST_BYTES:
        raise StateError(
            f"run(state=...): {len(data)} bytes, and a state has {MOST_BYTES} at most. It is none "
            "that snapshot() has made"
        )
    _check_head(data)
    try:
        memory = msgspec.json.decode(data, type=RunMemory)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise StateError(f"run(state=...): the state is damaged: {error}") from None
    amounts = {**memory.spent, **memory.tool_costs, "lowest_cost": memory.lowest_cost}
    for name, amount in amounts.items():
        if not amount.is_finite() or amount < 0:
            raise StateError(f"run(state=...): the state is damaged: {name[:80]} is {amount}")
    return memory


def _check_head(data: bytes) -> None:
    try:
        head = msgspec.json.decode(data, type=_Head)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise StateError(
            f"run(state=...): this is no state of a run ({error}). Hand in what snapshot() gave, "
            "unchanged"
        ) from None
    if head.format != FORMAT:
        raise StateError(
            f"run(state=...): this is no state of a run: its format is {head.format[:80]!r} and "
            f"not {FORMAT!r}"
        )
    if head.version > VERSION:
        raise StateError(
            f"run(state=...): the state has version {head.version}, and this release of "
            f"pytest-agent-tripwire reads versions up to {VERSION}. Install the release that made "
            "it, or a later one"
        )
    if head.version < 1:
        raise StateError(f"run(state=...): there is no version {head.version} of a state")


def _encoded(memory: RunMemory) -> bytes:
    body = {
        "format": memory.format,
        "version": memory.version,
        **msgspec.to_builtins(memory, str_keys=True),
    }
    return _encodable_json(body)


def _encodable_json(value: Any) -> bytes:
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:
        return _encoder.encode(_encodable(msgspec.to_builtins(value)))


def _encodable(value: Any) -> Any:
    """`value` with `?` for lone surrogates, which a model can put into what a tool calls a rule."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_encodable(name): _encodable(part) for name, part in value.items()}
    return [_encodable(part) for part in value] if isinstance(value, list | tuple) else value


def _of(memory: RunMemory, name: str) -> Any:
    outer, _, inner = name.partition(".")
    value = getattr(memory, outer)
    return getattr(value, inner) if inner else value


def _largest(memory: RunMemory, names: tuple[str, ...]) -> str:
    sizes = {name: len(_encodable_json(_of(memory, name))) for name in names if _of(memory, name)}
    return max(sizes, key=lambda name: sizes[name])


def _halved(memory: RunMemory, name: str) -> RunMemory:
    outer, _, inner = name.partition(".")
    value = _of(memory, name)
    kept = _newer(value)
    if not inner:
        return msgspec.structs.replace(memory, **{outer: kept})
    part = msgspec.structs.replace(getattr(memory, outer), **{inner: kept})
    return msgspec.structs.replace(memory, **{outer: part})


def _newer(value: Any) -> Any:
    start = (len(value) + 1) // 2
    if isinstance(value, dict):
        return dict(list(value.items())[start:])
    return value[start:]
