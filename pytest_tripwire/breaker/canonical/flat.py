"""A few simple values in a mapping, a list or a tuple, as most tools are called with: the shortest
road. MessagePack writes text as it is, where JSON looks at each character.
"""

from __future__ import annotations

from math import isfinite
from typing import Any, Final
from unicodedata import is_normalized

import msgspec

#: As many as MessagePack counts in its first byte. No JSON begins with that byte, so that nothing
#: written here equals what is written there.
MOST: Final = 15
#: Put before a tuple. MessagePack itself has no use for this byte.
_TUPLE: Final = b"\xc1"

_SAID_AS_THEY_ARE: Final = frozenset({int, bool, type(None)})
_encode = msgspec.msgpack.Encoder(order="deterministic").encode


# Nearly every digest comes this way, and a call of a helper would cost as much as what it does.
def flat(value: Any, *, whole_numbers: bool = False) -> bytes | None:  # noqa: C901, PLR0911 - so
    """`value` as MessagePack; None if it is nothing of this kind.

    Args:
        value: anything.
        whole_numbers: whether a float without a fraction is the same as the integer.
    """
    kind = type(value)
    if not (kind is dict or kind is list or kind is tuple) or len(value) > MOST:
        return None
    parts = value
    try:
        if kind is dict:
            parts = value.values()
            for name in value:
                if type(name) is not str or not (name.isascii() or is_normalized("NFC", name)):
                    return None
        for part in parts:
            kind_of_part = type(part)
            if kind_of_part is str:
                if not (part.isascii() or is_normalized("NFC", part)):
                    return None
            elif kind_of_part is float:
                if not isfinite(part) or (whole_numbers and part.is_integer()):
                    return None
            elif kind_of_part not in _SAID_AS_THEY_ARE:
                return None
        raw = _encode(value)
    except (OverflowError, UnicodeEncodeError):  # past 64 bits, or half a surrogate pair
        return None
    except RuntimeError:  # somebody changes it at this moment
        return None
    return _TUPLE + raw if kind is tuple else raw
