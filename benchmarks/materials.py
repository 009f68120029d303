"""Arguments of several sizes, and what encoding and hashing them costs by plain means."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from pytest_tripwire.timeline import DEFAULT_VOLATILE

NONCES = DEFAULT_VOLATILE

_NOTE = "called twice, no answer yet; asked for a callback in the morning"
_LINE = "The parcel was handed to the carrier, and nothing has been heard of it since then. "


def plain_hash(value: Any) -> str:
    """JSON with sorted keys, hashed: called J, and what the costs of fingerprints are told in."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def record(number: int) -> dict[str, Any]:
    """A record of about 200 bytes, all of its values simple."""
    return {
        "id": f"R-{number:06d}",
        "customer": f"customer number {number}",
        "city": "Amsterdam",
        "euros": number * 37,
        "paid": number % 3 == 0,
        "state": "waiting",
        "note": _NOTE,
        "lines": number % 7,
    }


def with_nonce(number: int) -> dict[str, Any]:
    """A record that carries a nonce of its own."""
    return {**record(number), "request_id": f"{number:032x}"}


def contents() -> dict[str, Any]:
    """What a tool is called with, by how it is called here."""
    return {
        "100 B": {"order": "A-1", "euros": 10, "currency": "EUR", "reason": _NOTE[:30]},
        "1 KB": [_read(record(number)) for number in range(5)],
        "20 KB in records": [_read(record(number)) for number in range(105)],
        "20 KB with nested nonces": [_read(with_nonce(number)) for number in range(82)],
        "20 KB in one text": _LINE * 245,
    }


def _read(value: Any) -> Any:
    """As it comes from a model: with texts that are nobody else's."""
    return json.loads(json.dumps(value))
